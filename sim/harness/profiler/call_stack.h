// SPDX-License-Identifier: BSD-2-Clause
// The functions that a hart is in, innermost last, from the instructions that retire.
//
// Calls and returns are recognised by the hints that the RISC-V manual gives for return-address stacks (volume I, `jalr`):
// a jump that links in ra or t0 calls, a jump through one of them that links nowhere returns. Traps push a frame that xRET
// takes off. Any other way into a function is a tail call: it takes its caller's place.
//
// Each task of Linux has its own stack, and goes on with it on any hart. Linux keeps the task in tp, and changes it in
// __switch_to alone.
#pragma once

#include <unordered_map>
#include <vector>

#include "call_tree.h"
#include "symbols.h"

struct Frame {
    Node node;  // in the tree of its hart, with all its callers
    Function function;
    uint32_t return_address;  // 0: not known
    uint32_t sp;  // at its first instruction
    bool trap;  // entered by an exception or an interrupt
    uint64_t serial;  // names this very entry
};
using Frames = std::vector<Frame>;

// What harts share: the stacks of tasks that run on none of them, and the number of the newest frame.
struct Tasks {
    std::unordered_map<uint32_t, Frames> waiting;
    uint64_t serial = 0;
};

class CallStack {
public:
    CallStack(const Symbols& symbols, CallTree& tree, Tasks& tasks);

    // An instruction retires: afterwards, frames() is what it belongs to.
    void retire(const Hart& hart);

    const Frames& frames() const { return frames_; }
    Node top() const { return frames_.empty() ? kRoot : frames_.back().node; }
    // How often a return or xRET led to where no caller was known: at the beginning, one per frame already there.
    uint64_t lost() const { return lost_; }

private:
    const Symbols& symbols_;
    CallTree& tree_;
    Tasks& tasks_;
    const Function switch_to_;  // Linux's function that switches between tasks
    Frames frames_;
    uint32_t task_ = 0;
    bool started_ = false;
    uint64_t lost_ = 0;
    // The latest instruction.
    uint32_t pc_ = 0, instruction_ = 0;
    Privilege privilege_ = kMachine;

    void arrive(uint32_t pc, Privilege privilege, uint32_t sp);
    void push(Function function, uint32_t return_address, uint32_t sp, bool trap);
    void enter(Function function);
    void return_to(uint32_t pc);
    void return_from_trap();
    void switch_task(const Hart& hart);
};
