// SPDX-License-Identifier: BSD-2-Clause
// A frame's TCP header (RFC 9293).
#pragma once

#include <optional>

#include "tester/frame.h"

struct Segment {
    enum Flag : uint8_t { kFin = 1, kSyn = 2, kRst = 4, kAck = 16 };

    uint16_t source, destination;  // ports
    uint32_t sequence, acknowledgement;
    uint8_t flags;
    uint16_t window;                // as in the header, not scaled
    size_t octets;                  // of payload
    std::optional<unsigned> scale;  // of the sender's windows (RFC 7323), if the segment has the option

    bool has(Flag flag) const { return flags & flag; }
};

// The segment in a frame with its FCS, or none.
std::optional<Segment> parse_segment(const Octets& frame);
