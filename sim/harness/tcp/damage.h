// SPDX-License-Identifier: BSD-2-Clause
// Drops, damages, duplicates or exchanges TCP segments between tester and device.
#pragma once

#include <map>
#include <vector>

#include "segment.h"

// Seen from the device.
enum Way : unsigned { kIn, kOut };

struct SegmentFault {
    enum Kind { kDrop, kDamage, kScramble, kDuplicate, kSwap } kind = kDrop;
    enum Segments { kData, kOther, kAll } segments = kAll;  // with payload, without
    unsigned port = 0;
    Way way = kIn;
    uint64_t frame = 0, every = 0;  // the n-th of these segments, from 0; then one in this many, unless 0
};

class Damage {
public:
    explicit Damage(const std::vector<SegmentFault>& faults) {
        for (const SegmentFault& fault : faults) faults_.push_back({fault, 0});
    }
    struct Passing {
        Octets frame;
        bool lost = false;
    };
    // The result for a frame with its FCS: no frame, one, or two. An exchanged one follows with the next.
    std::vector<Passing> pass(unsigned port, Way way, Octets frame);

private:
    struct Counted {
        SegmentFault fault;
        uint64_t seen;
    };
    std::vector<Counted> faults_;
    std::map<std::pair<unsigned, Way>, Octets> held_;

    const SegmentFault* meet(unsigned port, Way way, const Octets& frame);
};
