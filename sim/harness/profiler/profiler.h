// SPDX-License-Identifier: BSD-2-Clause
// Where the time of hart 0 goes: every cycle is charged to one call stack, and to one cause.
//
// The cycles between two instructions belong to the later one: the hart was working on it.
#pragma once

#include <memory>
#include <string>

#include "call_stack.h"
#include "calls.h"
#include "timeline.h"

class Profiler {
public:
    // Follows calls from the next cycle on. Charges cycles while it is open; is open from the start unless `windowed`.
    // When each function is entered and left goes to the file `timeline`, when some `functions` are entered to `calls`:
    // unless they are empty.
    struct Files {
        std::string symbols, timeline, calls;
        std::vector<std::string> functions;
    };
    // `cycle` is the latest one.
    void start(const Files& files, bool windowed, uint64_t cycle);
    bool running() const { return run_ != nullptr; }
    bool windowed() const { return running() && run_->windowed; }
    void require_running() const;

    // From the next cycle on, cycles are charged; from the next cycle on, they are not.
    void open();
    void close();

    // Ends, and writes the files (README.md); the sum of what was charged.
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
        Run(const Files& files, bool windowed, uint64_t cycle)
            : files(files), symbols(files.symbols), stack(symbols, tree),
              timeline(symbols, !files.timeline.empty(), cycle), calls(symbols, files.functions), windowed(windowed),
              latest(cycle) {}
        Files files;
        Symbols symbols;
        CallTree tree;
        CallStack stack;
        Timeline timeline;
        Calls calls;
        bool windowed, open = false;
        CallTree::Cost pending;  // since the latest instruction
        uint64_t entered = 0;  // the newest frame counted
        uint64_t latest;  // cycle of the latest instruction
    };
    std::unique_ptr<Run> run_;

    void retire(uint64_t cycle, const Hart& hart);
    void charge();
};
