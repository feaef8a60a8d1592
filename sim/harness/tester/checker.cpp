// SPDX-License-Identifier: BSD-2-Clause
#include "checker.h"

#include <algorithm>

bool Checker::check(uint32_t sequence, const Departure& departure) {
    if (sequence >= generator_.offered()) return false;

    Octets expected = generator_.frame(sequence);
    if (device_ == Device::kRouter) expected = routed(std::move(expected), departure.port);
    if (departure.frame.size() != expected.size()) {
        ++counts_.length;
        return true;
    }
    const auto wrong = std::mismatch(expected.begin(), expected.end(), departure.frame.begin()).first;
    if (wrong != expected.end()) {
        const auto offset = wrong - expected.begin();
        ++(offset < 12 ? counts_.addresses : offset < 42 ? counts_.header : counts_.payload);
        return true;
    }
    if (seen_[sequence]) {
        ++counts_.duplicated;
        return true;
    }
    seen_[sequence] = true;
    if (sequence < highest_) ++counts_.reordered;
    highest_ = std::max(highest_, sequence);
    ++counts_.forwarded;
    // A device may start before the last bit is in (cut through): that is no latency of this definition.
    const uint64_t in = generator_.last_bit(sequence);
    latencies_.push_back(departure.start > in ? departure.start - in : 0);
    ends_.push_back(departure.end);
    return true;
}

uint64_t Checker::forwarded_within(uint64_t begin, uint64_t end) const {
    return std::count_if(ends_.begin(), ends_.end(), [&](uint64_t at) { return begin < at && at <= end; });
}

Latency Latency::of(std::vector<uint64_t> sorted) {
    std::sort(sorted.begin(), sorted.end());
    // Nearest rank: the smallest value that at least this part of all does not exceed.
    const auto rank = [&](uint64_t percent) { return sorted[(sorted.size() * percent + 99) / 100 - 1]; };
    return {sorted.front(), rank(50), rank(99), sorted.back()};
}
