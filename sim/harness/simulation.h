// SPDX-License-Identifier: BSD-2-Clause
// The clock: advances the model, and calls console and tester in the cycles in which they have work.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "console/console.h"
#include "counters.h"
#include "model.h"
#include "profiler/profiler.h"
#include "tester/tester.h"
#include "tester/traffic.h"
#include "wave.h"

class Simulation {
public:
    uint64_t cycle() const { return cycle_; }
    Console& console() { return console_; }
    const Profiler& profiler() const { return profiler_; }
    const Counters& counters() const { return counters_; }
    const Tester& tester() const { return tester_; }
    uint64_t slept() const { return slept_; }  // skipped by this process

    void ungate() { model_.ungate(); }
    void echo_udp() { tester_.echo_udp(); }
    void load(uint32_t address, const std::string& path);
    size_t mailbox(uint32_t address, const std::string& path);  // returns the file's size

    // Called regularly while the clock runs, with the current cycle; may throw, or stop(), to stop it.
    std::function<void(uint64_t)> progress;
    void stop() { stopped_ = true; }
    bool stopped() const { return stopped_; }  // by stop(), in the latest run
    // Stops it at the end of the current cycle.
    void halt() {
        stop();
        limit_ = cycle_;
    }
    // State of the device at this moment.
    uint32_t lines() { return model_.pads().line; }  // of interrupts: source 1 in bit 0
    uint32_t waiting() const { return model_.wfi(); }  // a bit per hart
    Fill fill(unsigned port) const { return model_.fill(port); }

    // The first cycle in which a word can leave, if no unknown word arrives.
    uint64_t next_output();

    // Each advances the clock, up to `limit`; when the guest powers off or asks for a reset, one of them throws Ended.
    void run(uint64_t limit);
    bool expect(const std::string& text, uint64_t limit);
    void type(const std::string& text);
    // Until the traffic is finished, and for `quiet` cycles no line was busy and no event happened. False: limit reached.
    bool run_until_quiet(uint64_t quiet, uint64_t limit);

    void set_link(unsigned mbps);

    // Profiles from the next cycle on (only the traffic's windows if `windowed`); ends the profile and writes its files.
    struct Costs {
        std::array<CallTree::Cost, kHarts> harts;
        Model::Uses memory;
    };
    void start_profile(const Profiler::Files& files, bool windowed);
    Costs stop_profile(const std::string& path);
    // A profile for a session's page; it has no files, and does not meter the memory port.
    void follow(const std::string& symbols) { profiler_.start({symbols, {}, {}, {}}, false, cycle_); }
    void unfollow() { profiler_.stop({}); }

    // Records the cycles of a wave when they come; one wave at a time. Only in a model with tracing.
    void begin_wave(const WavePlan& plan);
    uint64_t end_wave();  // the number of recorded cycles

    // Begins traffic from its plan: a Trial, a Replay, a Talk, a Live; one at a time.
    template <class Kind, class Plan> Kind& begin(Plan plan) {
        traffic_ = std::make_unique<Kind>(std::move(plan), tester_.free_at(cycle_ + 1), tester_.rate());
        at_start_ = snapshot();
        tester_.attach(traffic_.get(), cycle_);
        return static_cast<Kind&>(*traffic_);
    }
    const Traffic* traffic() const { return traffic_.get(); }  // the traffic in progress, or null
    std::unique_ptr<Traffic> end();

    // Counters of the whole device, and departures of each port, at moments of the traffic in progress.
    struct Snapshot {
        Counters counters;
        std::array<Egress, kPorts> egress;
    };
    Snapshot snapshot() const;
    const Snapshot& at_start() const { return at_start_; }
    // For the part of the traffic's window that has passed.
    Counters window() const;

    size_t save(const std::string& path);  // returns the file's size
    void restore(const std::string& path);
    // Device and tester, without traffic in progress. After loading, restored() must be called.
    template <class Archive> void state(Archive& archive) {
        archive(cycle_, active_, counters_, console_, tester_);
        model_.state(archive);
    }
    void restored();

private:
    Model model_;
    Console console_;
    Tester tester_;
    Counters counters_;
    Profiler profiler_;
    std::unique_ptr<Traffic> traffic_;
    Snapshot at_start_;
    Counters at_window_begin_, at_window_end_;
    Model::Uses at_profile_start_{};
    std::unique_ptr<Wave> wave_;
    uint64_t wave_due_ = kNever;  // the next cycle to show
    uint64_t shown_ = 0;  // cycles of the latest wave

    uint64_t cycle_ = 0;
    uint64_t end_ = 0;  // the clock stops before this cycle,
    uint64_t limit_ = 0;  // and calls progress() after this one
    uint64_t due_ = 0;  // next cycle with something to drive
    uint64_t active_ = 0;  // last cycle with a word on a line, or an event
    bool found_ = false;  // the expected text has been printed
    bool stopped_ = false;  // by stop()
    bool ended_ = false;  // the guest powered off, or asked for a reset;
    const char* ending_ = nullptr;  // which of these, until it is reported
    uint64_t look_ = 0;  // cycle from which on a check for sleep is worthwhile
    bool circling_ = false;  // comparing: after one period, the state is compared with the state
    uint64_t circle_ = kNever;  // at this cycle; kNever: something happened meanwhile
    uint64_t still_ = 0;  // up to this cycle only time passes, unless an input is driven
    uint64_t slept_ = 0;
    uint64_t patience_ = kLeastPatience;  // cycles until the next check, after a failed one

    static constexpr uint64_t kCircle = 840;  // cycles after which state with a period of 1 to 8 repeats
    static constexpr uint64_t kLeastPatience = 16, kMostPatience = 4096;

    template <bool profiled> void loop();
    template <bool profiled> void look();
    template <bool profiled> void sleep();
    void advance(uint64_t limit);
    void drive();
    void charge(bool on);
    void show_wave();
    void begin_window();
    void end_window();
    void advance_traffic();
    void refuse_while_attached(const std::string& path, const char* what) const;
    void wake();
    void observe(uint64_t attention);
    void plan();
};
