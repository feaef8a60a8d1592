// SPDX-License-Identifier: BSD-2-Clause
// The clock: advances the model, and calls console and tester in the cycles that concern them.
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
    uint64_t slept() const { return slept_; }  // cycles that this process passed over

    void ungate() { model_.ungate(); }
    void echo_udp() { tester_.echo_udp(); }
    void load(uint32_t address, const std::string& path);
    size_t mailbox(uint32_t address, const std::string& path);  // returns the file's size

    // Called now and then while the clock runs, with the cycle reached; may throw, or stop(), to stop it.
    std::function<void(uint64_t)> progress;
    void stop() { stopped_ = true; }
    bool stopped() const { return stopped_; }  // by that, in the latest run
    // Stops it at the end of the current cycle.
    void halt() {
        stop();
        limit_ = cycle_;
    }
    // State of the device at this moment.
    uint32_t lines() { return model_.pads().line; }  // of interrupts: source 1 in bit 0
    uint32_t waiting() const { return model_.wfi(); }  // a bit per hart
    Fill fill(unsigned port) const { return model_.fill(port); }

    // The first cycle in which a word can leave, if none arrives that is not known yet.
    uint64_t next_output();

    // Each advances the clock, until `limit` at most; when the guest powers off or asks for a reset, once, it throws Ended.
    void run(uint64_t limit);
    bool expect(const std::string& text, uint64_t limit);
    void type(const std::string& text);
    // Until the traffic is finished, no line was busy and no event happened for `quiet` cycles. False: the limit came first.
    bool run_until_quiet(uint64_t quiet, uint64_t limit);

    void set_link(unsigned mbps);

    // Profiles from the next cycle on, only the windows of traffic if `windowed`; ends it and writes its files.
    struct Costs {
        std::array<CallTree::Cost, kHarts> harts;
        Model::Uses memory;
    };
    void start_profile(const Profiler::Files& files, bool windowed);
    Costs stop_profile(const std::string& path);
    // A profile for the live window; it has no files, and the memory port is not metered.
    void follow(const std::string& symbols) { profiler_.start({symbols, {}, {}, {}}, false, cycle_); }
    void unfollow() { profiler_.stop({}); }

    // Shows the cycles of a wave when they come; one at a time. Only in a model that was made for it.
    void begin_wave(const WavePlan& plan);
    uint64_t end_wave();  // the number of cycles that it shows

    // Begins traffic of a kind, from its plan: a Trial, a Replay, a Talk, a Live; one at a time.
    template <class Kind, class Plan> Kind& begin(Plan plan) {
        traffic_ = std::make_unique<Kind>(std::move(plan), tester_.free_at(cycle_ + 1), tester_.rate());
        at_start_ = snapshot();
        tester_.attach(traffic_.get(), cycle_);
        return static_cast<Kind&>(*traffic_);
    }
    const Traffic* traffic() const { return traffic_.get(); }  // the traffic in progress, or null
    std::unique_ptr<Traffic> end();

    // Counters of the whole device, and what left each port, at moments of the traffic in progress.
    struct Snapshot {
        Counters counters;
        std::array<Egress, kPorts> egress;
    };
    Snapshot snapshot() const;
    const Snapshot& at_start() const { return at_start_; }
    // Of the traffic's window, as far as it has passed.
    Counters window() const;

    size_t save(const std::string& path);  // returns the file's size
    void restore(const std::string& path);
    // The device and what is around it, without traffic in progress. After loading, restored() has to be called.
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
    uint64_t wave_due_ = kNever;  // the first cycle to show; passed: one is being shown
    uint64_t shown_ = 0;  // cycles of the latest wave

    uint64_t cycle_ = 0;
    uint64_t end_ = 0;  // the clock stops before this cycle would be exceeded,
    uint64_t limit_ = 0;  // and looks up from time to time, after this one
    uint64_t due_ = 0;  // next cycle with something to drive
    uint64_t active_ = 0;  // last cycle with a word on a line, or an event
    bool found_ = false;  // the expected text was printed
    bool stopped_ = false;  // by stop()
    bool ended_ = false;  // the guest powered off, or asked for a reset:
    const char* ending_ = nullptr;  // which, until it was reported
    uint64_t look_ = 0;  // cycle from which on it is worth looking whether all sleep
    bool circling_ = false;  // comparing: one circle later, the state is compared with that
    uint64_t circle_ = kNever;  // of this cycle; kNever: something happened meanwhile
    uint64_t still_ = 0;  // up to this cycle only time passes, unless something is driven
    uint64_t slept_ = 0;
    uint64_t patience_ = kLeastPatience;  // cycles until the next look, if not

    static constexpr uint64_t kCircle = 840;  // cycles in which what turns in circles of 1 to 8 is back where it was
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
