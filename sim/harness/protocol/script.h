// SPDX-License-Identifier: BSD-2-Clause
// The protocol of README.md: one JSON command per line in, one reply per line out.
#pragma once

#include <chrono>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>

#include "simulation.h"

class Script {
public:
    using Json = nlohmann::ordered_json;

    explicit Script(Simulation& simulation);
    // Runs commands until `quit` or the end. Replies go to standard output.
    void run(std::istream& commands);

private:
    using Handler = void (Script::*)(const Json& command, Json& reply);
    static const std::map<std::string, Handler> kHandlers;

    Simulation& simulation_;
    bool quit_ = false;
    // For the progress lines of the command in progress.
    std::string name_;
    uint64_t first_cycle_ = 0, of_ = 0;
    std::chrono::steady_clock::time_point shown_;
    bool streaming_ = false;
    std::string printed_;  // output of the guest that is not reported yet
    // For the traffic in progress: whether it is over, and its report.
    struct {
        uint64_t quiet = 0, limit = 0;
        std::function<Json()> progress;
        std::function<Json(bool quiet)> report;
    } under_way_;

    Json execute(const std::string& line);
    void progress(uint64_t cycle);
    void stream(const Json& command);
    std::string take_printed();
    uint64_t limit(const Json& command, uint64_t otherwise);
    void refuse_beside_traffic() const;
    // Only one traffic can be in progress.
    template <class Kind, class Plan>
    Kind& begin(const Json& command, Plan (*parse)(const Json&), Json (*progress)(const Kind&),
                Json (*report)(const Simulation&, const Kind&, bool));

    void do_run(const Json& command, Json& reply);
    void do_send(const Json& command, Json& reply);
    void do_expect(const Json& command, Json& reply);
    void do_console(const Json& command, Json& reply);
    void do_mailbox(const Json& command, Json& reply);
    void do_link(const Json& command, Json& reply);
    void do_trial(const Json& command, Json& reply);
    void do_offer(const Json& command, Json& reply);
    void do_collect(const Json& command, Json& reply);
    void do_status(const Json& command, Json& reply);
    void do_replay(const Json& command, Json& reply);
    void do_counters(const Json& command, Json& reply);
    void do_profile(const Json& command, Json& reply);
    void do_wave(const Json& command, Json& reply);
    void do_save(const Json& command, Json& reply);
    void do_restore(const Json& command, Json& reply);
    void do_talk(const Json& command, Json& reply);
    void do_live(const Json& command, Json& reply);
    void do_quit(const Json& command, Json& reply);
};
