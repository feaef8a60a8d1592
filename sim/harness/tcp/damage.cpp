// SPDX-License-Identifier: BSD-2-Clause
#include "damage.h"

#include "tester/octets.h"

namespace {

// Exchanges the first two words of the payload: all checksums stay valid, but the octets are wrong.
void scramble(Octets& frame) {
    const size_t octets = parse_segment(frame)->octets, at = kIp + get16(&frame[kIpLength]) - octets;
    if (octets >= 4) std::swap_ranges(&frame[at], &frame[at + 2], &frame[at + 2]);
    frame.resize(frame.size() - kFcs);
    append_fcs(frame);
}

}  // namespace

// Each fault has its own counter. The first fault that is due is applied.
const SegmentFault* Damage::meet(unsigned port, Way way, const Octets& frame) {
    const auto segment = parse_segment(frame);
    if (!segment) return nullptr;
    const SegmentFault* due = nullptr;
    for (auto& [fault, seen] : faults_) {
        if (fault.port != port || fault.way != way) continue;
        if (fault.segments != SegmentFault::kAll && (fault.segments == SegmentFault::kData) != (segment->octets > 0))
            continue;
        const uint64_t number = seen++;
        const bool met =
            number == fault.frame || (fault.every && number > fault.frame && (number - fault.frame) % fault.every == 0);
        if (met && !due) due = &fault;
    }
    return due;
}

std::vector<Damage::Passing> Damage::pass(unsigned port, Way way, Octets frame) {
    const SegmentFault* fault = meet(port, way, frame);
    std::vector<Passing> out{{std::move(frame)}};
    if (fault) {
        switch (fault->kind) {
            case SegmentFault::kDrop: out[0].lost = true; return out;
            case SegmentFault::kDuplicate: out.push_back(out[0]); break;
            case SegmentFault::kDamage: out[0].frame[out[0].frame.size() - kFcs - 1] ^= 1; break;  // the FCS detects it
            case SegmentFault::kScramble: scramble(out[0].frame); break;
            case SegmentFault::kSwap:
                // Of two in a row, the second one passes first, then the first one.
                if (held_.count({port, way})) break;
                held_[{port, way}] = std::move(out[0].frame);
                return {};
        }
    }
    if (const auto held = held_.find({port, way}); held != held_.end()) {
        out.push_back({std::move(held->second)});
        held_.erase(held);
    }
    return out;
}
