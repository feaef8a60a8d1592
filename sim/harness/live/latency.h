// SPDX-License-Identifier: BSD-2-Clause
// The latency of each frame that the box forwards (RFC 1242): from the end of its last bit at the input to its first bit
// at the output.
//
// A frame that leaves is matched with the oldest input of the same content, without the fields that a router changes: MAC
// addresses, TTL and the header's checksum. So frames that the guest answers, merges, segments or fragments have no latency.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "tester/frame.h"

class Latencies {
public:
    // A frame with its FCS was received completely at a cycle.
    void came(const Octets& frame, uint64_t end);
    // The first bit of a frame left at a cycle. Returns the cycles since its input, if that is known.
    std::optional<uint64_t> left(const Octets& frame, uint64_t start);

private:
    // Frames that may be inside, or were dropped: 0.4 s of the smallest ones into two ports at 100 Mb/s.
    static constexpr size_t kMost = 1 << 17;
    using Content = uint64_t;  // a hash

    std::deque<Content> order_;
    std::unordered_map<Content, std::deque<uint64_t>> inside_;  // end cycles in order

    static Content content(const Octets& frame);
    uint64_t take(Content content);
};
