// SPDX-License-Identifier: BSD-2-Clause
// Checks the frames of one direction where they leave the device: each must be exactly the frame that entered, after a
// router's (or a wire's) changes. Frames of one stream and class of service stay in order: a probe may overtake others.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "generator.h"

enum class Device { kRouter, kWire };

// Percentiles 0 (the minimum) to 100 (the maximum) of one or more values; nearest rank.
std::vector<uint64_t> percentiles(std::vector<uint64_t> values);

class Checker {
public:
    Checker(const Generator& generator, Device device)
        : generator_(generator), device_(device), seen_(generator.offer().all_frames()),
          highest_(generator.offer().streams) {}

    // A frame with valid FCS and this identity. False: no such frame has been offered (yet).
    bool check(uint32_t sequence, const Departure& departure);

    struct Counts {
        uint64_t forwarded = 0, reordered = 0, duplicated = 0;
        // Damaged frames, by the first field that differs.
        uint64_t length = 0, addresses = 0, header = 0, payload = 0;
    };
    const Counts& counts() const { return counts_; }
    // Forwarded frames whose last bit left in (begin, end].
    uint64_t forwarded_within(uint64_t begin, uint64_t end) const;
    // The least number of frames that were inside the device, or lost, at any time in [begin, end].
    uint64_t least_outstanding(uint64_t begin, uint64_t end) const;
    // The longest time between the last bits of two successive forwarded frames. None for less than two frames.
    std::optional<std::pair<uint64_t, uint64_t>> longest_pause() const;
    // The last frame that was offered and not forwarded: when its last bit entered.
    std::optional<uint64_t> last_lost() const;
    // Of each forwarded frame, in the order of departure.
    const std::vector<uint64_t>& latencies() const { return latencies_; }
    const std::vector<uint64_t>& probe_latencies() const { return probe_latencies_; }  // of the probes among them

private:
    const Generator& generator_;
    Device device_;
    std::vector<bool> seen_;
    std::vector<std::array<uint32_t, 2>> highest_;  // per stream: of all other frames, of probes
    Counts counts_;
    std::vector<uint64_t> latencies_, ends_;  // of forwarded frames, in the order of departure
    std::vector<uint64_t> probe_latencies_;
};
