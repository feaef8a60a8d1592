// SPDX-License-Identifier: BSD-2-Clause
// Frames of all ports in one pcapng file (IETF draft-ietf-opsawg-pcapng): an interface for each port, time stamps in
// nanoseconds since reset, and each frame's direction, as seen by the device.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "stream.h"
#include "tester/frame.h"

class PcapngWriter {
public:
    enum Direction : uint32_t { kInbound = 1, kOutbound = 2 };  // as the packet's flags have it

    explicit PcapngWriter(const std::string& path);
    // `cycle`: of its first bit. `frame` has its FCS, which is not recorded. When a replay has gone back, frames that were
    // written before are not written again.
    void add(unsigned port, Direction direction, uint64_t cycle, const Octets& frame);
    // Writes, in order, the frames that began before a cycle: no earlier frame may follow.
    void settle(uint64_t cycle);
    bool check() const { return stream_.check(); }

private:
    struct Packet {
        unsigned port;
        Direction direction;
        Octets octets;
    };
    Stream stream_;
    std::multimap<uint64_t, Packet> waiting_;  // by cycle
    std::map<std::pair<unsigned, Direction>, uint64_t> latest_;  // cycle of each line

    void option(uint16_t code, const void* value, uint16_t size);
    void write(uint64_t cycle, const Packet& packet);
    void pad(size_t size);
};
