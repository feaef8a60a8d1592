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
    uint32_t& highest = highest_[generator_.stream(sequence)][generator_.probe(sequence)];
    if (sequence < highest) ++counts_.reordered;
    highest = std::max(highest, sequence);
    ++counts_.forwarded;
    // A device may start before the last bit arrives (cut through): then this latency is undefined.
    const uint64_t in = generator_.last_bit(sequence);
    latencies_.push_back(departure.start > in ? departure.start - in : 0);
    if (generator_.probe(sequence)) probe_latencies_.push_back(latencies_.back());
    // The fault `swap` reorders frames; counting by ends_ needs them in order.
    ends_.push_back(ends_.empty() ? departure.end : std::max(departure.end, ends_.back()));
    return true;
}

uint64_t Checker::forwarded_within(uint64_t begin, uint64_t end) const {
    return std::count_if(ends_.begin(), ends_.end(), [&](uint64_t at) { return begin < at && at <= end; });
}

uint64_t Checker::least_outstanding(uint64_t begin, uint64_t end) const {
    // The number falls only when a frame leaves.
    size_t gone = std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin();
    uint64_t least = generator_.offered_by(begin) - gone;
    for (; gone < ends_.size() && ends_[gone] <= end; ++gone)
        least = std::min(least, generator_.offered_by(ends_[gone]) - (gone + 1));
    return least;
}

std::optional<std::pair<uint64_t, uint64_t>> Checker::longest_pause() const {
    std::optional<std::pair<uint64_t, uint64_t>> longest;
    for (size_t i = 1; i < ends_.size(); ++i)
        if (!longest || ends_[i] - ends_[i - 1] > longest->second - longest->first) longest = {ends_[i - 1], ends_[i]};
    return longest;
}

std::optional<uint64_t> Checker::last_lost() const {
    for (uint64_t sequence = generator_.offered(); sequence-- > 0;)
        if (!seen_[sequence]) return generator_.last_bit(sequence);
    return std::nullopt;
}

std::vector<uint64_t> percentiles(std::vector<uint64_t> sorted) {
    std::sort(sorted.begin(), sorted.end());
    // Nearest rank: the smallest value that is not exceeded by at least this part of all.
    std::vector<uint64_t> out{sorted.front()};
    for (size_t percent = 1; percent <= 100; ++percent) out.push_back(sorted[(sorted.size() * percent + 99) / 100 - 1]);
    return out;
}
