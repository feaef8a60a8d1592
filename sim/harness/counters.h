// SPDX-License-Identifier: BSD-2-Clause
// Counts in hardware since reset: the MACs' event pulses, the interrupts that each hart claimed from each source of the
// PLIC, the withdrawn ones, and the cycles that each hart waited in WFI.
#pragma once

#include <array>
#include <cstdint>

#include "soc_config.h"

struct Counters {
    std::array<std::array<uint64_t, kEvents>, kPorts> events{};
    std::array<std::array<uint64_t, kSources + 1>, kHarts> claims{};
    std::array<uint64_t, kHarts> idle{};
    // Interrupts whose line fell before a hart claimed them. If the PLIC has latched one, a hart still claims it later.
    std::array<int64_t, kSources + 1> withdrawn{};

    enum Fate : uint8_t { kTaken, kRaised, kWithdrawn };
    std::array<Fate, kSources + 1> latest{};  // fate of each source's latest interrupt

    void claim(unsigned hart, unsigned source) {
        ++claims[hart][source];
        if (latest[source] == kWithdrawn) --withdrawn[source];
        latest[source] = kTaken;
    }
    void change(unsigned source, bool up) {
        if (up) {
            latest[source] = kRaised;
        } else if (latest[source] == kRaised) {
            latest[source] = kWithdrawn;
            ++withdrawn[source];
        }
    }

    Counters operator-(const Counters& earlier) const {
        Counters out = *this;
        for (unsigned port = 0; port < kPorts; ++port)
            for (unsigned event = 0; event < kEvents; ++event) out.events[port][event] -= earlier.events[port][event];
        for (unsigned hart = 0; hart < kHarts; ++hart) {
            out.idle[hart] -= earlier.idle[hart];
            for (unsigned source = 0; source <= kSources; ++source)
                out.claims[hart][source] -= earlier.claims[hart][source];
        }
        for (unsigned source = 0; source <= kSources; ++source) out.withdrawn[source] -= earlier.withdrawn[source];
        return out;
    }
};
