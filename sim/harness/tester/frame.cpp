// SPDX-License-Identifier: BSD-2-Clause
#include "frame.h"

#include "octets.h"
#include "soc_config.h"

namespace {

constexpr uint16_t kSourcePort = 49152;
constexpr std::array<uint8_t, 4> kSignature = {'M', 'o', 'd', 'e'};

// SplitMix64 (Steele, Lea, Flood 2014): a pattern whose every octet depends on the whole state.
uint64_t splitmix(uint64_t& state) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

}  // namespace

Station guest(unsigned port) {
    return {{0x02, 'M', 'o', 'd', 0, static_cast<uint8_t>(port)}, {198, static_cast<uint8_t>(18 + port), 0, 1}};
}

Station tester(unsigned port) {
    return {{0x02, 'T', 's', 't', 0, static_cast<uint8_t>(port)}, {198, static_cast<uint8_t>(18 + port), 0, 2}};
}

// The FCS of IEEE 802.3 3.2.9, by octets; sent least significant octet first.
uint32_t crc32(const uint8_t* octets, size_t size) {
    static const auto table = [] {
        std::array<uint32_t, 256> made{};
        for (uint32_t i = 0; i < made.size(); ++i) {
            made[i] = i;
            for (int bit = 0; bit < 8; ++bit) made[i] = made[i] >> 1 ^ (made[i] & 1 ? 0xedb88320 : 0);
        }
        return made;
    }();
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; ++i) crc = crc >> 8 ^ table[(crc ^ octets[i]) & 0xff];
    return ~crc;
}

void append_fcs(Octets& frame) {
    const uint32_t crc = crc32(frame.data(), frame.size());
    for (int shift = 0; shift < 32; shift += 8) frame.push_back(crc >> shift & 0xff);
}

bool fcs_ok(const Octets& frame) {
    if (frame.size() < kFcs) return false;
    const uint8_t* fcs = &frame[frame.size() - kFcs];
    const uint32_t crc = crc32(frame.data(), frame.size() - kFcs);
    return fcs[0] == (crc & 0xff) && fcs[1] == (crc >> 8 & 0xff) && fcs[2] == (crc >> 16 & 0xff) && fcs[3] == crc >> 24;
}

uint16_t ether_type(const Octets& frame) { return frame.size() >= kIp + kFcs ? get16(&frame[kEtherType]) : 0; }

Octets test_frame(TestFrame identity, unsigned out_port, size_t frame_bytes, uint64_t seed, Headers headers) {
    Octets frame(frame_bytes - kFcs, 0);
    put(frame, kDestination, guest(identity.port).mac);
    put(frame, kSource, tester(identity.port).mac);
    put16(&frame[kEtherType], kEtherTypeIp);

    frame[kIp] = kPlainIp;
    frame[kIp + 1] = headers.ds_field;
    put16(&frame[kIpLength], frame.size() - kIp);
    put16(&frame[kIp + 4], identity.sequence & 0xffff);  // identification
    frame[kTtl] = kFirstTtl;
    frame[kProtocol] = kUdpProtocol;
    put(frame, kIpSource, tester(identity.port).ip);
    put(frame, kIpDestination, tester(out_port).ip);
    finish_ip(frame);

    put16(&frame[kUdp], kSourcePort + headers.stream * kPorts + identity.port);
    put16(&frame[kUdp + 2], kEchoPort);
    put16(&frame[kUdp + 4], frame.size() - kUdp);  // its checksum stays 0: not used (RFC 768)

    put(frame, kPayload, kSignature);
    put16(&frame[kPayload + 4], identity.port);
    put32(&frame[kPayload + 6], identity.sequence);
    uint64_t state = seed ^ uint64_t(identity.port) << 32 ^ identity.sequence, pattern = 0;
    for (size_t at = kPayload + 10, used = 0; at < frame.size(); ++at, ++used) {
        if (used % 8 == 0) pattern = splitmix(state);
        frame[at] = pattern >> used % 8 * 8 & 0xff;
    }
    append_fcs(frame);
    return frame;
}

Octets routed(Octets frame, unsigned out_port) {
    frame.resize(frame.size() - kFcs);
    put(frame, kDestination, tester(out_port).mac);
    put(frame, kSource, guest(out_port).mac);
    --frame[kTtl];
    finish_ip(frame);
    append_fcs(frame);
    return frame;
}

bool is_test_frame(const Octets& frame) {
    return frame.size() >= kPayload + kFcs && ether_type(frame) == kEtherTypeIp && frame[kIp] == kPlainIp &&
           frame[kProtocol] == kUdpProtocol && get16(&frame[kUdp + 2]) == kEchoPort;
}

std::optional<TestFrame> identify(const Octets& frame) {
    if (!is_test_frame(frame) || frame.size() < kPayload + 10 + kFcs) return std::nullopt;
    if (!std::equal(kSignature.begin(), kSignature.end(), &frame[kPayload])) return std::nullopt;
    return TestFrame{get16(&frame[kPayload + 4]), get32(&frame[kPayload + 6])};
}
