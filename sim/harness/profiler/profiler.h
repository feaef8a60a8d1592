// SPDX-License-Identifier: BSD-2-Clause
// Where a hart's time goes: every cycle is charged to one call stack and one cause.
//
// The cycles between two instructions belong to the later one, which the hart was working on.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "call_stack.h"
#include "calls.h"
#include "timeline.h"

class Profiler {
public:
    // Follows calls from the next cycle on. Charges cycles while it is open; it is open from the start unless `windowed`. The
    // file `timeline` gets each entry and exit of functions, and `calls` the entries into `functions`, unless they are empty.
    struct Files {
        std::string symbols, timeline, calls;
        std::vector<std::string> functions;
    };
    // `cycle` is the latest one.
    void start(const Files& files, bool windowed, uint64_t cycle);
    bool running() const { return run_ != nullptr; }
    bool windowed() const { return running() && run_->windowed; }
    bool charging() const { return running() && run_->open; }
    void require_running() const;

    // From the next cycle on, cycles are charged, or are not.
    void open();
    void close();

    // Ends, and writes the files (README.md); returns the charged cycles, by hart.
    std::array<CallTree::Cost, kHarts> stop(const std::string& path);
    // The charges until now, for a hart; the names of its functions.
    const CallTree& tree(unsigned hart) const { return run_->harts[hart]->tree; }
    const std::string& name(Function function) const { return run_->symbols.name(function); }
    uint64_t lost(unsigned hart) const { return run_->harts[hart]->stack.lost(); }

    // Called in every cycle, for each hart.
    void cycle(uint64_t cycle, unsigned number, const Hart& hart) {
        Charged& own = *run_->harts[number];
        ++own.pending.cycles[static_cast<unsigned>(hart.cause)];
        own.pending.interrupts += hart.interrupts;
        if (hart.cause == Cause::kIdle) own.timeline.idle(cycle);
        if (hart.retired) retire(cycle, own, hart);
    }
    // That many more cycles, up to `cycle`, are like the latest one: the hart waits.
    void rest(uint64_t cycle, unsigned number, const Hart& hart, uint64_t cycles) {
        Charged& own = *run_->harts[number];
        own.pending.cycles[static_cast<unsigned>(hart.cause)] += cycles;
        own.pending.interrupts += hart.interrupts * cycles;
        own.timeline.idle(cycle);
    }
    void event(uint64_t cycle, unsigned port, unsigned event) { run_->harts[0]->timeline.event(cycle, port, event); }

private:
    struct Charged {  // to a hart
        Charged(const Symbols& symbols, const Files& files, Tasks& tasks, uint64_t cycle)
            : stack(symbols, tree, tasks), timeline(symbols, !files.timeline.empty(), cycle),
              calls(symbols, files.functions), latest(cycle) {}
        CallTree tree;
        CallStack stack;
        Timeline timeline;
        Calls calls;
        CallTree::Cost pending;  // since the latest instruction
        uint64_t latest;  // cycle of the latest instruction
    };
    struct Run {
        Run(const Files& files, bool windowed, uint64_t cycle);
        Files files;
        Symbols symbols;
        Tasks tasks;
        std::array<std::unique_ptr<Charged>, kHarts> harts;
        bool windowed, open = false;
        uint64_t entered = 0;  // the newest frame counted
    };
    std::unique_ptr<Run> run_;

    void retire(uint64_t cycle, Charged& own, const Hart& hart);
    void charge(Charged& own);
};
