// SPDX-License-Identifier: BSD-2-Clause
// The functions that a hart is in, innermost last, derived from the instructions that retire.
//
// Calls and returns are recognised by the hints of the RISC-V manual for return-address stacks (volume I, `jalr`): a jump
// that links in ra or t0 is a call, and a jump through one of them without a link is a return. Traps push a frame, which
// xRET removes. Any other way into a function is a tail call: it replaces its caller.
//
// Each task of Linux has its own stack, and continues with it on any hart. Linux keeps the task in tp, and changes it only
// in __switch_to.
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
    uint64_t serial;  // identifies this entry
};
using Frames = std::vector<Frame>;

// State that harts share: the stacks of tasks that are not running, and the number of the newest frame.
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
    // Number of returns and xRETs without a known caller: at the start, one for each function in progress.
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
