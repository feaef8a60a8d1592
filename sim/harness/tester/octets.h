// SPDX-License-Identifier: BSD-2-Clause
// Fields of frames: where they are, how to read and write them (most significant octet first).
#pragma once

#include <algorithm>

#include "frame.h"

// Offsets from the destination address, of IPv4 without options, and of UDP in it.
enum : size_t {
    kDestination = 0,
    kSource = 6,
    kEtherType = 12,
    kIp = 14,
    kIpLength = 16,
    kFragment = 20,
    kTtl = 22,
    kProtocol = 23,
    kChecksum = 24,
    kIpSource = 26,
    kIpDestination = 30,
    kUdp = 34,
    kPayload = 42,
};
constexpr uint8_t kIcmpProtocol = 1, kUdpProtocol = 17;
constexpr uint8_t kPlainIp = 0x45;   // version 4, header of 5 words
constexpr uint16_t kEchoPort = 7;    // RFC 862
constexpr uint8_t kFirstTtl = 64;

inline void put16(uint8_t* to, uint16_t value) { to[0] = value >> 8, to[1] = value & 0xff; }
inline void put32(uint8_t* to, uint32_t value) { put16(to, value >> 16), put16(to + 2, value & 0xffff); }
inline uint16_t get16(const uint8_t* from) { return from[0] << 8 | from[1]; }
inline uint32_t get32(const uint8_t* from) { return uint32_t{get16(from)} << 16 | get16(from + 2); }
template <class Address> void put(Octets& frame, size_t offset, const Address& address) {
    std::copy(address.begin(), address.end(), frame.begin() + offset);
}

// RFC 1071, over octets whose checksum field is 0; over a valid checksum the result is 0.
inline uint16_t checksum(const uint8_t* octets, size_t size) {
    uint32_t sum = size % 2 ? octets[size - 1] << 8 : 0;
    for (size_t i = 0; i + 1 < size; i += 2) sum += get16(octets + i);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

// The checksum of a plain IPv4 header, after a change.
inline void finish_ip(Octets& frame) {
    put16(&frame[kChecksum], 0);
    put16(&frame[kChecksum], checksum(&frame[kIp], kUdp - kIp));
}
