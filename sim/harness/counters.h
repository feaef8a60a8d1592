// SPDX-License-Identifier: BSD-2-Clause
// What is counted in hardware since reset: the MACs' event pulses, and cycles that harts wait in WFI.
#pragma once

#include <array>
#include <cstdint>

#include "soc_config.h"

struct Counters {
    std::array<std::array<uint64_t, kEvents>, kPorts> events{};
    std::array<uint64_t, kHarts> idle{};

    Counters operator-(const Counters& earlier) const {
        Counters out = *this;
        for (unsigned port = 0; port < kPorts; ++port)
            for (unsigned event = 0; event < kEvents; ++event) out.events[port][event] -= earlier.events[port][event];
        for (unsigned hart = 0; hart < kHarts; ++hart) out.idle[hart] -= earlier.idle[hart];
        return out;
    }
};
