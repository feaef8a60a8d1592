// SPDX-License-Identifier: BSD-2-Clause
// pcap files (libpcap's savefile format, version 2.4), little-endian. The lab reads, checks and rewrites
// foreign captures, so this reader trusts its input.
#pragma once

#include <string>
#include <vector>

#include "frame.h"

struct Captured {
    uint64_t nanoseconds;
    Octets octets;
    bool with_fcs;
};

// Time since reset.
inline uint64_t nanoseconds(uint64_t cycle, uint64_t sys_clk_hz) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(cycle) * 1000000000 / sys_clk_hz);
}

// Micro- or nanoseconds, with FCS or without. Raises an Error if the file is missing, truncated, or has another format.
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
