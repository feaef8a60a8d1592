// SPDX-License-Identifier: BSD-2-Clause
// The verilated SoC: its clock, its pads, and direct access to its memories.
//
// top.sv registers every input, so one evaluation at the rising edge is enough for a cycle: the device sees values that are
// driven before step() in the cycle that step() begins.
//
// The two parts of a MAC have clock inputs of their own. They rise only in cycles in which the MAC reports that something
// may happen (`awake`): evaluating the MAC costs more than the rest of a cycle, and mostly has no effect.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "state/archive.h"
#include "profiler/hart.h"
#include "rings.h"  // made by build.py: Fill
#include "soc_config.h"  // made by build.py: kPorts, kHarts, kSysClkHz, memories
#include "verilated.h"

void Vtop___024root___eval_triggers_vec__act(Vtop___024root*);
void Vtop___024root___eval_nba(Vtop___024root*);

class Model {
public:
    Model();

    // Advances one clock cycle. The falling edge changes nothing and is not evaluated.
    //
    // Two steps of Vtop::eval() concern this model: which clocks rose, and the consequences. eval() also serves $display,
    // --timing and derived clocks, and checks a second time for rising clocks.
    void step() {
        Vtop___024root& root = *top_->rootp;
        raise_clocks(root, top_->awake | ungated_);
        if (__builtin_expect(ungated_, 0)) return top_->eval();
        Vtop___024root___eval_triggers_vec__act(&root);
        root.__VnbaTriggered = root.__VactTriggered;
        Vtop___024root___eval_nba(&root);
    }

    // From now on every MAC gets every edge, Verilator does its complete evaluation, and no cycle is skipped. That is slower,
    // with the same results in each cycle, which it is there to check.
    void ungate() { ungated_ = ~0u; }

    // Sleep. While all harts wait and no MAC is awake, only the time and periodic state change (such as the way of a cache that
    // would be filled next). This is found by comparing all state except RAM, so it does not depend on the SoC: remember(), some
    // steps, still().
    bool resting() const {
        return top_->wfi == (1u << kHarts) - 1 && !(top_->awake & kGated) && __builtin_expect(!ungated_, 1);
    }
    void remember();
    // If only the time differs from `cycles` ago: how many more cycles pass before a timer is due. Else 0.
    uint64_t still(uint64_t cycles);
    // Skip that many cycles, a multiple of `cycles`.
    void pass(uint64_t cycles);

    // Events for the harness: bit 0 a byte was printed, bit 1 the guest powered off, bit 2 it asked for a reset, bit 3 a hart
    // claimed an interrupt, bit 4 interrupt lines changed, then a bit per port (word leaves), then kEvents bits per port. Zero
    // in most cycles.
    uint64_t attention() const { return top_->attention; }
    uint32_t wfi() const { return top_->wfi; }  // a bit per hart

    Vtop& pads() { return *top_; }

    // Marks signals as perhaps changed for Verilator's trace, as eval() would.
    void mark_changed();

    // Use of the memory port by its clients (kUseNames), in the cycles between meter(true) and meter(false).
    using Uses = std::array<std::array<uint64_t, kUses>, kClients>;
    void meter(bool on) { top_->metered = on; }
    Uses uses() const;

    // Of a hart, read from the core's own registers: a pad would have to be evaluated in every cycle.
    Hart hart(unsigned hart) const;

    // The fill of a port's FIFO and rings, and the progress of its moderation.
    Fill fill(unsigned port) const { return ::fill(*top_->rootp, port); }

    // Copies bytes into RAM or ROM; `what` names their origin in the error if they do not fit.
    void load(uint32_t address, const std::vector<uint8_t>& bytes, const std::string& what);

    template <class Archive> void state(Archive& archive) {
        if constexpr (std::is_base_of_v<VerilatedSerialize, Archive>) archive << *top_;
        else archive >> *top_;
    }

private:
    VerilatedContext context_;
    std::unique_ptr<Vtop> top_;
    uint32_t ungated_ = 0;  // a bit per gated clock
    std::vector<uint8_t> remembered_;

    Cause cause(unsigned hart) const;
};
