// SPDX-License-Identifier: BSD-2-Clause
#include "model.h"

#include <cstring>

#include "free_running.h"  // made by build.py: count()

#if VM_TRACE
#include "Vtop__Syms.h"
void Vtop___024root___eval_settle(Vtop___024root*);
#endif

namespace {

struct Region {
    const char* name;
    uint64_t base, size;
    uint8_t* content;
};

std::string hex(uint64_t value) {
    char text[19];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

}  // namespace

Model::Model() : top_(std::make_unique<Vtop>(&context_)) {
    context_.traceEverOn(VM_TRACE);  // must be called before the first evaluation
    // The first evaluation settles the initial state with all clocks low.
    top_->link_mbps = 100;
    top_->eval();
    set_clocks_high(*top_);
}

namespace {

// The model's state before and after its RAM; RAM never changes without other state changing.
struct Parts {
    const uint8_t *first, *second;
    size_t first_size, second_size;

    explicit Parts(const Vtop___024root& root)
        : first(reinterpret_cast<const uint8_t*>(&root)),
          second(reinterpret_cast<const uint8_t*>(&root.SOC_RAM) + sizeof root.SOC_RAM),
          first_size(reinterpret_cast<const uint8_t*>(&root.SOC_RAM) - first),
          second_size(first + sizeof root - second) {}
};

}  // namespace

void Model::mark_changed() {
#if VM_TRACE
    top_->rootp->vlSymsp->__Vm_activity = true;
#endif
}

void Model::remember() {
    const Parts parts(*top_->rootp);
    remembered_.resize(parts.first_size + parts.second_size);
    std::memcpy(remembered_.data(), parts.first, parts.first_size);
    std::memcpy(remembered_.data() + parts.first_size, parts.second, parts.second_size);
}

void Model::pass(uint64_t cycles) {
    count(*top_->rootp, cycles);
#if VM_TRACE
    Vtop___024root___eval_settle(top_->rootp);  // here, what depends on them is state, too
#endif
}

uint64_t Model::still(uint64_t cycles) {
    const Parts parts(*top_->rootp);
    pass(-cycles);  // restores the state
    const bool same = !std::memcmp(remembered_.data(), parts.first, parts.first_size) &&
                      !std::memcmp(remembered_.data() + parts.first_size, parts.second, parts.second_size);
    pass(cycles);
    return same ? until_timer(*top_->rootp) : 0;
}

Model::Uses Model::uses() const {
    Uses out;
    for (unsigned client = 0; client < kClients; ++client)
        for (unsigned use = 0; use < kUses; ++use) out[client][use] = top_->hub_uses[client][use];
    return out;
}

// The cause of the oldest instruction's delay: first the D-cache, then its last stage, then address translation, then
// the fetch. A load that misses leaves the last stage when the refill begins, and is fetched again.
Cause Model::cause(unsigned hart) const {
    const auto& root = *top_->rootp;
    if (top_->wfi >> hart & 1) return Cause::kIdle;
    if (top_->trace_valid >> hart & 1) return Cause::kRetire;
    if (SOC_HART_DCACHE_FILLS(hart)) return Cause::kData;
    if (SOC_HART(hart, writeBack_arbitration_isValid)) return Cause::kStore;
    if (SOC_HART_WALKS(hart)) return Cause::kTlb;
    if (SOC_HART(hart, IBusCachedPlugin_cache__DOT__lineLoader_valid)) return Cause::kFetch;
    return Cause::kPipeline;
}

Hart Model::hart(unsigned hart) const {
    const auto& root = *top_->rootp;
    const auto& registers = SOC_HART(hart, RegFilePlugin_regFile);
    const auto privilege = static_cast<Privilege>(top_->trace_privilege[hart]);
    const bool machine = privilege == kMachine;
    return {(top_->trace_valid >> hart & 1) != 0,
            cause(hart),
            privilege == kUser || (privilege == kSupervisor && SOC_HART(hart, CsrPlugin_sstatus_SIE)),
            privilege,
            top_->trace_pc[hart],
            SOC_HART(hart, memory_to_writeBack_INSTRUCTION),
            registers[1],
            registers[2],
            registers[4],
            (machine ? SOC_HART(hart, CsrPlugin_mtvec_base) : SOC_HART(hart, CsrPlugin_stvec_base)) << 2,
            machine ? SOC_HART(hart, CsrPlugin_mepc) : SOC_HART(hart, CsrPlugin_sepc)};
}

void Model::load(uint32_t address, const std::vector<uint8_t>& bytes, const std::string& what) {
    auto* root = top_->rootp;
    const Region regions[] = {
        {"RAM", kRamBase, sizeof root->SOC_RAM, reinterpret_cast<uint8_t*>(&root->SOC_RAM)},
        {"ROM", kRomBase, sizeof root->SOC_ROM, reinterpret_cast<uint8_t*>(&root->SOC_ROM)},
    };
    for (const Region& region : regions) {
        if (address < region.base || address >= region.base + region.size) continue;
        const uint64_t offset = address - region.base;
        if (bytes.size() > region.size - offset)
            throw Error(what + ": " + std::to_string(bytes.size()) + " bytes do not fit at " + hex(address) + ": " +
                        region.name + " ends at " + hex(region.base + region.size));
        std::memcpy(region.content + offset, bytes.data(), bytes.size());
        return;
    }
    throw Error(what + ": " + hex(address) + " is neither in RAM nor in ROM");
}
