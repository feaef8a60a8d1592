// SPDX-License-Identifier: BSD-2-Clause
// The verilated SoC: one clock, its pads, and its memories by the backdoor.
//
// top.sv registers every input, so an evaluation on the rising edge is all that a cycle takes:
// what is driven before step() is what the device sees in the cycle that step() begins.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "archive.h"
#include "soc_config.h"  // made by build.py: kPorts, kHarts, kSysClkHz, memories
#include "verilated.h"

class Model {
public:
    Model();

    // Advances one clock cycle. The falling edge changes nothing; instead of evaluating it, the
    // stored previous clock is set low, which makes the next evaluation a rising edge again.
    void step() {
        top_->eval();
        top_->rootp->__Vtrigprevexpr___TOP__clk__0 = 0;
    }

    // What needs the harness: bit 0 a byte was printed, then a bit per port (word leaves), then
    // kEvents bits per port. Zero in most cycles.
    uint64_t attention() const { return top_->attention; }
    uint32_t wfi() const { return top_->wfi; }  // a bit per hart

    Vtop& pads() { return *top_; }

    // Copies bytes into RAM or ROM; `what` names their origin in the error if they do not fit.
    void load(uint32_t address, const std::vector<uint8_t>& bytes, const std::string& what);

    template <class Archive> void state(Archive& archive) {
        if constexpr (std::is_base_of_v<VerilatedSerialize, Archive>) archive << *top_;
        else archive >> *top_;
    }

private:
    VerilatedContext context_;
    std::unique_ptr<Vtop> top_;
};
