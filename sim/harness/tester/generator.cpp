// SPDX-License-Identifier: BSD-2-Clause
#include "generator.h"

Packet Generator::take(uint64_t start) { return {start, with_preamble(frame(static_cast<uint32_t>(next_++))), false}; }

uint64_t Generator::offered_by(uint64_t cycle) const {
    uint64_t low = 0, high = offer_.all_frames();  // last_bit() grows with k: bisect
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (last_bit(middle) <= cycle) low = middle + 1;
        else high = middle;
    }
    return low;
}
