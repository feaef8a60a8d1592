// SPDX-License-Identifier: BSD-2-Clause
// Judges the frames of one flow where they leave the device: each must be exactly what went in, as a router
// (or a wire) passes it on.
#pragma once

#include <vector>

#include "generator.h"

enum class Device { kRouter, kWire };

struct Latency {
    uint64_t min, median, p99, max;  // cycles

    // Of at least one frame.
    static Latency of(std::vector<uint64_t> latencies);
};

class Checker {
public:
    Checker(const Generator& generator, Device device)
        : generator_(generator), device_(device), seen_(generator.offer().frames) {}

    // A frame with good FCS that claims to be this one. False: no such frame was offered (yet).
    bool check(uint32_t sequence, const Departure& departure);

    struct Counts {
        uint64_t forwarded = 0, reordered = 0, duplicated = 0;
        // Not as it should be, by the first field that differs.
        uint64_t length = 0, addresses = 0, header = 0, payload = 0;
    };
    const Counts& counts() const { return counts_; }
    // Forwarded frames whose last bit left in (begin, end].
    uint64_t forwarded_within(uint64_t begin, uint64_t end) const;
    // Of each forwarded frame, as they left.
    const std::vector<uint64_t>& latencies() const { return latencies_; }

private:
    const Generator& generator_;
    Device device_;
    std::vector<bool> seen_;
    uint32_t highest_ = 0;
    Counts counts_;
    std::vector<uint64_t> latencies_, ends_;  // of forwarded frames as they left
};
