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
