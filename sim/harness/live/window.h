// SPDX-License-Identifier: BSD-2-Clause
// The page's connection to a live session: streams events to a server process, and executes the page's requests. README.md
// describes the messages. Without an open page it costs nothing. Only load and keys affect cycles; both are recorded.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "history.h"
#include "latency.h"
#include "live.h"
#include "simulation.h"
#include "stacks.h"

class Window final : public Watcher {
public:
    using Seconds = std::chrono::duration<double>;

    // A replay waits until the page resumes it.
    Window(int socket, Simulation& simulation, Live& live);
    ~Window() override;
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    // Executes the requests since the last call.
    void serve();
    // Sends the current state, if a page is open and has not received one recently.
    void show();
    // Waits for a request, or until the time is over.
    void wait(Seconds seconds) const;
    bool paused() const { return paused_; }
    // Whether a page may go back.
    bool looked_at_replay() const { return open_ && history_; }
    // The cycle before which the session must stop by itself.
    uint64_t stop() const { return stop_; }
    // Called at a reached cycle: pauses if the page wanted that.
    void reached(uint64_t cycle);
    // Simulated seconds per second, if the page has set a slower pace.
    std::optional<double> ratio() const { return ratio_; }

    void passed(unsigned port, PcapngWriter::Direction direction, uint64_t cycle, const Octets& frame) override;
    void switched(uint64_t cycle, unsigned source, bool up) override;
    void happened(uint64_t cycle, unsigned port, unsigned event) override;

private:
    using Json = nlohmann::ordered_json;
    enum class Step { kNone, kFrame, kInterrupt };
    struct Moment {
        char kind;
        uint64_t cycle;
        unsigned what, more;
        std::optional<uint64_t> latency;  // of a frame that leaves
    };
    static constexpr size_t kMostMoments = 256;  // per state, or up to twice as many: the latest
    static constexpr size_t kMostPrinted = 1 << 14;  // octets per state
    static constexpr size_t kMostKept = 20000;  // octets; the page keeps as many
    static constexpr size_t kLongestLine = 100;  // octets of a line that can name a strategy
    static constexpr Seconds kInterval{0.04};

    int socket_;
    Simulation& simulation_;
    Live& live_;
    std::function<void(uint8_t)> echo_;  // the console's previous one
    bool open_ = false, paused_;
    Step step_ = Step::kNone;
    uint64_t stop_ = kNever;
    std::optional<double> ratio_;
    std::vector<Moment> moments_;
    uint64_t left_out_ = 0;
    std::string printed_;
    std::string kept_;  // the latest output, for pages that are opened later
    std::string line_;  // the last line of the output
    std::optional<std::string> strategy_;  // the last chosen one; "": unknown, after going back
    std::optional<History> history_;  // of a replay
    uint64_t furthest_ = 0;  // cycle that it had reached before it went back
    Latencies latencies_;  // of frames since the page was opened
    std::optional<Stacks> stacks_;  // of a profile that runs for the page
    std::chrono::steady_clock::time_point shown_;

    void obey(const Json& control);
    void keep(char octet);
    void require_session() const;
    void open(bool on);
    void pause(bool on);
    void go_to(uint64_t cycle);
    void back(uint64_t cycle);
    void forget();
    void follow(bool on);
    void note(Moment moment, Step step);
    Json about() const;
    Json state();
    bool tell(const Json& message) const;
    void say_goodbye() noexcept;
};
