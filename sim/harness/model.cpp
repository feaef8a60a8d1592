// SPDX-License-Identifier: BSD-2-Clause
#include "model.h"

#include <cstring>

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
    // The first evaluation settles the initial state with all clocks low.
    top_->link_mbps = 100;
    top_->eval();
    set_clocks_high(*top_);
}

// What holds back the oldest instruction counts: the last stage, then address translation, then the fetch.
Cause Model::cause() const {
    const auto& root = *top_->rootp;
    if (top_->wfi & 1) return Cause::kIdle;
    if (top_->trace_valid) return Cause::kRetire;
    if (root.SOC_HART(writeBack_arbitration_isValid)) return root.SOC_HART_DCACHE_FILLS ? Cause::kData : Cause::kStore;
    if (root.SOC_HART_WALKS) return Cause::kTlb;
    if (root.SOC_HART(IBusCachedPlugin_cache__DOT__lineLoader_valid)) return Cause::kFetch;
    return Cause::kPipeline;
}

Hart Model::hart() const {
    const auto& root = *top_->rootp;
    const auto& registers = root.SOC_HART(RegFilePlugin_regFile);
    const auto privilege = static_cast<Privilege>(top_->trace_privilege);
    const bool machine = privilege == kMachine;
    return {top_->trace_valid != 0,
            cause(),
            privilege == kUser || (privilege == kSupervisor && root.SOC_HART(CsrPlugin_sstatus_SIE)),
            privilege,
            top_->trace_pc,
            root.SOC_HART(memory_to_writeBack_INSTRUCTION),
            registers[1],
            registers[2],
            registers[4],
            (machine ? root.SOC_HART(CsrPlugin_mtvec_base) : root.SOC_HART(CsrPlugin_stvec_base)) << 2,
            machine ? root.SOC_HART(CsrPlugin_mepc) : root.SOC_HART(CsrPlugin_sepc)};
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
