// SPDX-License-Identifier: BSD-2-Clause
// Frames of all ports in one pcapng file (IETF draft-ietf-opsawg-pcapng): an interface for each port, time stamps in
// nanoseconds since reset, and in which direction each frame went, as the device sees it.
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
    // `cycle`: of its first bit. `frame` has its FCS, which is not recorded. One that came before, in a replay that went
    // back since, does not come again.
    void add(unsigned port, Direction direction, uint64_t cycle, const Octets& frame);
    // Writes, in their order, the frames that began before a cycle: none from before it may come later.
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
