// SPDX-License-Identifier: BSD-2-Clause
// Where the time of hart 0 goes: every cycle is charged to one call stack, and to one cause.
//
// The cycles between two instructions belong to the later one: the hart was working on it.
#pragma once

#include <memory>
#include <string>

#include "call_stack.h"
#include "timeline.h"

class Profiler {
public:
    // Follows calls from the next cycle on. Charges cycles while it is open; is open from the start unless `windowed`.
    // Unless `timeline` is empty, when each function is entered and left goes to that file. `cycle` is the latest one.
    void start(const std::string& symbols, bool windowed, const std::string& timeline, uint64_t cycle);
    bool running() const { return run_ != nullptr; }
    bool windowed() const { return running() && run_->windowed; }
    void require_running() const;

    // From the next cycle on, cycles are charged; from the next cycle on, they are not.
    void open();
    void close();

    // Ends, and writes both files (README.md); the sum of what was charged.
    CallTree::Cost stop(const std::string& path);
    uint64_t lost() const { return run_->stack.lost(); }

    // Called in every cycle.
    void cycle(uint64_t cycle, const Hart& hart) {
        Run& run = *run_;
        ++run.pending.cycles[static_cast<unsigned>(hart.cause)];
        run.pending.interrupts += hart.interrupts;
        if (hart.cause == Cause::kIdle) run.timeline.idle(cycle);
        if (hart.retired) retire(cycle, hart);
    }
    void event(uint64_t cycle, unsigned port, unsigned event) { run_->timeline.event(cycle, port, event); }

private:
    struct Run {
        Run(const std::string& path, bool windowed, const std::string& timeline, uint64_t cycle)
            : symbols(path), stack(symbols, tree), timeline(symbols, !timeline.empty(), cycle), windowed(windowed),
              timeline_path(timeline) {}
        Symbols symbols;
        CallTree tree;
        CallStack stack;
        Timeline timeline;
        bool windowed, open = false;
        std::string timeline_path;
        CallTree::Cost pending;  // since the latest instruction
        uint64_t entered = 0;  // the newest frame counted
    };
    std::unique_ptr<Run> run_;

    void retire(uint64_t cycle, const Hart& hart);
    void charge();
};
