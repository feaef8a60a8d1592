// SPDX-License-Identifier: BSD-2-Clause
#include "meter.h"

#include <algorithm>

// Whether some of these octets passed before.
bool Meter::Stream::add(uint64_t from, uint64_t to) {
    auto next = seen.upper_bound(from);
    bool again = false;
    if (next != seen.begin()) {
        const auto before = std::prev(next);
        if (before->second >= from) {
            again = before->second > from;
            from = before->first;
            to = std::max(to, before->second);
            next = seen.erase(before);
        }
    }
    while (next != seen.end() && next->first <= to) {
        again |= next->first < to;
        to = std::max(to, next->second);
        next = seen.erase(next);
    }
    seen[from] = to;
    return again;
}

void Meter::passed(unsigned port, Way way, const Segment& segment, uint64_t cycle) {
    Port& at = ports_[port];
    const auto [device, tester] =
        way == kOut ? std::pair(segment.source, segment.destination) : std::pair(segment.destination, segment.source);
    const uint32_t connection = uint32_t{device} << 16 | tester;
    Stream& stream = at.streams[{connection, way}];
    Stream& back = at.streams[{connection, way == kIn ? kOut : kIn}];

    const bool first = segment.has(Segment::kSyn) && stream.latest == 0;
    const uint64_t from = first ? (uint64_t{1} << 32) + segment.sequence : stream.extend(segment.sequence);
    const uint64_t to = from + segment.octets;
    stream.latest = std::max(stream.latest, to);
    if (segment.scale) stream.scale = segment.scale;

    bool again = false;
    if (segment.octets) {
        again = stream.add(from, to);
        if (again) {  // Karn: it is unknown which one was acknowledged
            auto flight = stream.flying.upper_bound(from);
            for (; flight != stream.flying.end() && flight->second.from < to; ++flight) flight->second.once = false;
        } else {
            stream.flying[to] = {from, cycle, true};
        }
    }
    at.passed[way].push_back({cycle, static_cast<uint32_t>(segment.octets), again});

    if (segment.has(Segment::kAck)) {
        const auto end = back.flying.upper_bound(back.extend(segment.acknowledgement));
        for (auto flight = back.flying.begin(); flight != end; flight = back.flying.erase(flight))
            if (flight->second.once) at.round_trips.push_back({cycle, cycle - flight->second.cycle});
    }
    if (way == kOut && !segment.has(Segment::kSyn) && !segment.has(Segment::kRst)) {
        const unsigned scale = stream.scale && back.scale ? *stream.scale : 0;  // both ends must support it
        stream.offered.push_back({cycle, uint64_t{segment.window} << scale});
    }
}

Meter::Figures Meter::figures(unsigned port, uint64_t begin, uint64_t end) const {
    const Port& at = ports_[port];
    const auto inside = [&](uint64_t cycle) { return begin < cycle && cycle <= end; };
    Figures out;
    for (const Way way : {kIn, kOut}) {
        for (const Passed& passed : at.passed[way]) {
            if (!inside(passed.cycle)) continue;
            ++(passed.octets ? out.segments : out.others)[way];
            out.octets[way] += passed.octets;
            out.again[way] += passed.again;
        }
    }
    for (const RoundTrip& trip : at.round_trips)
        if (inside(trip.cycle)) out.round_trips.push_back(trip.cycles);

    // A window is valid until the next one is offered; a connection's last one has no duration.
    double area = 0, time = 0, sum = 0, count = 0;
    const auto add = [&](uint64_t octets, double cycles) {
        if (!out.window) out.window = {0, octets, octets};
        out.window->min = std::min(out.window->min, octets);
        out.window->max = std::max(out.window->max, octets);
        area += static_cast<double>(octets) * cycles;
        time += cycles;
        sum += static_cast<double>(octets);
        ++count;
    };
    for (const auto& [key, stream] : at.streams) {
        for (size_t n = 0; n < stream.offered.size(); ++n) {
            const Offered& offered = stream.offered[n];
            const uint64_t until = n + 1 < stream.offered.size() ? stream.offered[n + 1].cycle : offered.cycle;
            const uint64_t from = std::max(begin, offered.cycle), to = std::min(end, until);
            if (from < to || inside(offered.cycle)) add(offered.octets, from < to ? static_cast<double>(to - from) : 0);
        }
    }
    if (out.window) out.window->mean = time > 0 ? area / time : sum / count;
    return out;
}
