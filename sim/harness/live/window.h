// SPDX-License-Identifier: BSD-2-Clause
// A window onto a live session: streams events to a process, for a page, and does what that asks for. README.md has its
// messages. While no page is open it costs nothing; nothing of it changes a cycle but load and keys, which are recorded.
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

    // A replay waits until the page lets it run.
    Window(int socket, Simulation& simulation, Live& live);
    ~Window() override;
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    // Does what was asked for meanwhile.
    void serve();
    // Shows the present state, if a page is open and did not see one lately.
    void show();
    // Until something is asked for, or the time is over.
    void wait(Seconds seconds) const;
    bool paused() const { return paused_; }
    // Whether somebody may want to go back.
    bool looked_at_replay() const { return open_ && history_; }
    // The cycle before which the session is not to go on by itself.
    uint64_t stop() const { return stop_; }
    // The cycle reached: whether to pause there.
    void reached(uint64_t cycle);
    // Simulated seconds in one, if the page wants it slower than it is.
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
        std::optional<uint64_t> latency;  // of a frame that left
    };
    static constexpr size_t kMostMoments = 256;  // of a state, or up to twice that: the latest
    static constexpr size_t kMostPrinted = 1 << 14;  // of a state, too: octets
    static constexpr size_t kMostKept = 20000;  // octets, as the page keeps them
    static constexpr size_t kLongestLine = 100;  // octets that can name a strategy
    static constexpr Seconds kInterval{0.04};

    int socket_;
    Simulation& simulation_;
    Live& live_;
    std::function<void(uint8_t)> echo_;  // that was there before
    bool open_ = false, paused_;
    Step step_ = Step::kNone;
    uint64_t stop_ = kNever;
    std::optional<double> ratio_;
    std::vector<Moment> moments_;
    uint64_t left_out_ = 0;
    std::string printed_;
    std::string kept_;  // of what was printed, for a page that is opened later: the latest
    std::string line_;  // the last one that was printed
    std::optional<std::string> strategy_;  // that was chosen last; "": not known, after the way back
    std::optional<History> history_;  // of a replay
    uint64_t furthest_ = 0;  // cycle that it had reached when it went back
    Latencies latencies_;  // of frames since the page was opened
    std::optional<Stacks> stacks_;  // of a profile that was begun for the page
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
