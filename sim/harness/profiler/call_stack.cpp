// SPDX-License-Identifier: BSD-2-Clause
#include "call_stack.h"

namespace {

enum class Jump { kCall, kReturn, kTrapReturn, kOther };

Jump jump(uint32_t instruction) {
    constexpr uint32_t kJal = 0x6f, kJalr = 0x67, kSret = 0x10200073, kMret = 0x30200073;
    const auto links = [](uint32_t reg) { return reg == 1 || reg == 5; };  // ra, t0
    const uint32_t opcode = instruction & 0x7f, rd = instruction >> 7 & 31, rs1 = instruction >> 15 & 31;
    if ((opcode == kJal || opcode == kJalr) && links(rd)) return Jump::kCall;
    if (opcode == kJalr && rd == 0 && links(rs1)) return Jump::kReturn;
    if (instruction == kSret || instruction == kMret) return Jump::kTrapReturn;
    return Jump::kOther;
}

}  // namespace

CallStack::CallStack(const Symbols& symbols, CallTree& tree, Tasks& tasks)
    : symbols_(symbols), tree_(tree), tasks_(tasks), switch_to_(symbols.named("__switch_to")) {}

void CallStack::retire(const Hart& hart) {
    if (!started_) task_ = hart.privilege == kSupervisor ? hart.tp : 0;
    started_ = true;
    if (hart.pc == hart.trap_vector && hart.privilege != kUser) {
        arrive(hart.trap_pc, privilege_, hart.sp);  // the instruction that would have been next
        push(symbols_.at(hart.pc, hart.privilege, kUnknownCode), hart.trap_pc, hart.sp, true);
    } else {
        arrive(hart.pc, hart.privilege, hart.sp);
    }
    if (frames_.back().function == switch_to_ && hart.tp != task_ && switch_to_ != kUnknownCode) switch_task(hart);
    pc_ = hart.pc;
    instruction_ = hart.instruction;
    privilege_ = hart.privilege;
}

// The latest instruction jumped to `pc`.
void CallStack::arrive(uint32_t pc, Privilege privilege, uint32_t sp) {
    // Programs have no symbols here: a whole program is one function.
    const Jump how = privilege_ == kUser ? Jump::kOther : jump(instruction_);
    if (how == Jump::kReturn) return_to(pc);
    if (how == Jump::kTrapReturn) return_from_trap();
    const Function function = symbols_.at(pc, privilege, frames_.empty() ? kUnknownCode : frames_.back().function);
    if (how == Jump::kCall) push(function, pc_ + 4, sp, false);
    else if (frames_.empty()) push(function, 0, sp, false);
    else if (frames_.back().function != function) enter(function);
}

void CallStack::push(Function function, uint32_t return_address, uint32_t sp, bool trap) {
    frames_.push_back({tree_.child(top(), function), function, return_address, sp, trap, ++tasks_.serial});
}

// A tail call: for the caller it is the same call.
void CallStack::enter(Function function) {
    Frame frame = frames_.back();
    frames_.pop_back();
    push(function, frame.return_address, frame.sp, frame.trap);
}

// The innermost caller with this return address; below a trap's handler there is none.
void CallStack::return_to(uint32_t pc) {
    size_t depth = frames_.size();
    while (depth > 0 && !frames_[depth - 1].trap) {
        --depth;
        if (frames_[depth].return_address == pc) return frames_.resize(depth);
    }
    ++lost_;
    frames_.resize(depth);
    // The function has an unknown caller: it is called by the trap's handler, not part of it.
    if (depth > 0) push(kUnknownCode, 0, frames_.back().sp, false);
}

void CallStack::return_from_trap() {
    size_t depth = frames_.size();
    while (depth > 0 && !frames_[depth - 1].trap) --depth;
    if (depth == 0) ++lost_;
    frames_.resize(depth == 0 ? 0 : depth - 1);
}

// A task continues if sp and ra are those of its call of __switch_to; otherwise it is a new task.
void CallStack::switch_task(const Hart& hart) {
    tasks_.waiting[task_] = std::move(frames_);
    task_ = hart.tp;
    frames_ = std::move(tasks_.waiting[task_]);
    tasks_.waiting.erase(task_);
    Node node = kRoot;  // it may come from another hart's tree
    for (Frame& frame : frames_) frame.node = node = tree_.child(node, frame.function);
    if (!frames_.empty()) {
        const Frame& left = frames_.back();
        if (left.function == switch_to_ && left.sp == hart.sp && left.return_address == hart.ra) return;
    }
    frames_.clear();
    push(switch_to_, hart.ra, hart.sp, false);
}
