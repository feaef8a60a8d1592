// SPDX-License-Identifier: BSD-2-Clause
// How long the box kept each frame that it forwarded, by RFC 1242: from the end of its last bit going in to the first bit
// of it coming out.
//
// A frame that leaves is matched to the oldest one that came in with the same content after what a router changes: MAC
// addresses, TTL and the header's checksum. So frames that the guest answers, merges, cuts or fragments have none.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>

#include "tester/frame.h"

class Latencies {
public:
    // A frame with its FCS came in, by a cycle.
    void came(const Octets& frame, uint64_t end);
    // The first bit of one left in a cycle: cycles that it was inside, if it had come.
    std::optional<uint64_t> left(const Octets& frame, uint64_t start);

private:
    // That may be inside, or were dropped there: 0.4 s of the smallest ones into two ports at 100 Mb/s.
    static constexpr size_t kMost = 1 << 17;
    using Content = uint64_t;  // a hash

    std::deque<Content> order_;
    std::unordered_map<Content, std::deque<uint64_t>> inside_;  // ends, in their order

    static Content content(const Octets& frame);
    uint64_t take(Content content);
};
