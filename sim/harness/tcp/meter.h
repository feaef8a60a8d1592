// SPDX-License-Identifier: BSD-2-Clause
// TCP at the ports: segments, retransmissions, windows, round-trip times, between any two cycles.
#pragma once

#include <array>
#include <map>

#include "damage.h"
#include "soc_config.h"

class Meter {
public:
    // A segment passed a port: its last bit at the end of `cycle`.
    void passed(unsigned port, Way way, const Segment& segment, uint64_t cycle);

    struct Window {
        double mean;  // over time
        uint64_t min, max;
    };
    struct Figures {
        // By Way.
        std::array<uint64_t, 2> segments{}, octets{}, others{};  // with payload; their payload; without payload
        std::array<uint64_t, 2> again{};                         // with octets that had passed before
        std::optional<Window> window;                            // offered by what leaves the port; scaled, octets
        std::vector<uint64_t> round_trips;                       // cycles; not sorted
    };
    // Figures of segments that passed after cycle `begin`, up to `end`.
    Figures figures(unsigned port, uint64_t begin, uint64_t end) const;

private:
    struct Passed {
        uint64_t cycle;
        uint32_t octets;
        bool again;
    };
    struct Offered {  // a window
        uint64_t cycle, octets;
    };
    struct RoundTrip {
        uint64_t cycle, cycles;
    };
    // One way of a connection.
    struct Stream {
        std::optional<unsigned> scale;
        uint64_t latest = 0;                      // the latest sequence number, extended to 64 bits
        std::map<uint64_t, uint64_t> seen;        // octets that passed: from, to
        struct Flying {
            uint64_t from, cycle;
            bool once;
        };
        std::map<uint64_t, Flying> flying;        // not acknowledged; by the end of the segment
        std::vector<Offered> offered;

        uint64_t extend(uint32_t sequence) const { return latest + static_cast<int32_t>(sequence - latest); }
        bool add(uint64_t from, uint64_t to);
    };
    struct Port {
        std::array<std::vector<Passed>, 2> passed;
        std::vector<RoundTrip> round_trips;
        std::map<std::pair<uint32_t, Way>, Stream> streams;  // by both TCP ports, the device's first
    };
    std::array<Port, kPorts> ports_;
};
