// SPDX-License-Identifier: BSD-2-Clause
// pcap files (libpcap's savefile format, version 2.4): read with micro- or nanoseconds, written with nanoseconds.
#pragma once

#include <string>
#include <vector>

#include "frame.h"

struct Captured {
    uint64_t nanoseconds;
    Octets octets;  // without FCS
};

// Time since reset.
inline uint64_t nanoseconds(uint64_t cycle, uint64_t sys_clk_hz) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(cycle) * 1000000000 / sys_clk_hz);
}

// Raises an Error if the file is missing, truncated, no pcap, or not of Ethernet.
std::vector<Captured> read_pcap(const std::string& path);

// Collects frames; save() writes the file atomically.
class PcapWriter {
public:
    PcapWriter();
    // `frame` has its FCS, which is not recorded.
    void add(uint64_t nanoseconds, const Octets& frame);
    void save(const std::string& path) const;

private:
    Octets file_;
    void put32(uint32_t value);
};
