// SPDX-License-Identifier: BSD-2-Clause
// Random numbers, and arithmetic over octets, for the reference's expected frames.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

using Octets = std::vector<uint8_t>;

struct Random : std::mt19937_64 {
    using std::mt19937_64::mt19937_64;
    uint64_t below(uint64_t end) { return (*this)() % end; }
    uint64_t between(uint64_t first, uint64_t last) { return first + below(last - first + 1); }
    bool chance(double probability) { return double((*this)() >> 11) * 0x1p-53 < probability; }
    template <class T>
    T of(std::initializer_list<T> choices) {
        return choices.begin()[below(choices.size())];
    }
};

// CRC-32 of IEEE 802.3, without the last inversion.
inline uint32_t crc32(const uint8_t* octets, size_t count) {
    static const auto table = [] {
        std::array<uint32_t, 256> made{};
        for (uint32_t n = 0; n < 256; n++) {
            uint32_t crc = n;
            for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
            made[n] = crc;
        }
        return made;
    }();
    uint32_t crc = ~0u;
    while (count--) crc = crc >> 8 ^ table[(crc ^ *octets++) & 0xFF];
    return crc;
}

inline void add_fcs(Octets& frame) {
    uint32_t fcs = ~crc32(frame.data(), frame.size());
    for (int n = 0; n < 4; n++) frame.push_back(uint8_t(fcs >> 8 * n));
}

// Bit of the hash filter: the top six bits of the kernel's ether_crc(), which is not reflected.
inline unsigned hash_bit(const Octets& frame) {
    uint32_t crc = crc32(frame.data(), 6);
    unsigned bit = 0;
    for (int n = 0; n < 6; n++) bit |= (crc >> n & 1) << (5 - n);
    return bit;
}

// The one's complement sum (RFC 1071), the first octet of each pair in bits 7:0.
inline uint16_t summed(const uint8_t* octets, size_t count) {
    uint64_t total = 0;
    for (size_t n = 0; n < count; n++) total += uint64_t(octets[n]) << (n % 2 ? 8 : 0);
    while (total >> 16) total = (total & 0xFFFF) + (total >> 16);
    return uint16_t(total);
}

inline uint16_t big16(const Octets& frame, size_t at) { return uint16_t(frame[at] << 8 | frame[at + 1]); }

inline void put_tag(Octets& frame, uint16_t type, uint16_t tci) {
    const uint8_t tag[] = {uint8_t(type >> 8), uint8_t(type), uint8_t(tci >> 8), uint8_t(tci)};
    frame.insert(frame.begin() + 12, tag, tag + 4);
}
