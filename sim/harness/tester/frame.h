// SPDX-License-Identifier: BSD-2-Clause
// Ethernet frames as octets, from the destination address to the FCS, and the tester's own ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

using Octets = std::vector<uint8_t>;
using MacAddress = std::array<uint8_t, 6>;
using IpAddress = std::array<uint8_t, 4>;

constexpr size_t kPreamble = 8;      // octets before the frame: preamble and SFD (IEEE 802.3 3.2.1)
constexpr size_t kGap = 12;          // octet times between two packets: 96 bit times
constexpr size_t kFcs = 4;
constexpr size_t kMinFrame = 64, kMaxFrame = 1518;
constexpr uint16_t kEtherTypeIp = 0x0800, kEtherTypeArp = 0x0806;
constexpr uint8_t kExpedited = 46 << 2;  // a probe's DS field: expedited forwarding (RFC 3246)

// The bench: RFC 2544's block 198.18.0.0/15, a /24 at each port; .1 is the guest, .2 the tester.
struct Station {
    MacAddress mac;
    IpAddress ip;
};
Station guest(unsigned port);
Station tester(unsigned port);

uint32_t crc32(const uint8_t* octets, size_t size);
void append_fcs(Octets& frame);
bool fcs_ok(const Octets& frame);
uint16_t ether_type(const Octets& frame);  // 0 if the frame is too short to have one

// The tester's frames (RFC 2544 appendix C.2.6.4: UDP/IPv4, port 7). The payload is a signature, port, sequence
// number, then octets that depend on seed, port and number, so that each octet can be checked.
struct TestFrame {
    uint16_t port;  // the port where it enters
    uint32_t sequence;
};
struct Headers {
    uint8_t ds_field = 0;
    uint16_t stream = 0;  // a UDP source port for each
};
Octets test_frame(TestFrame identity, unsigned out_port, size_t frame_bytes, uint64_t seed, Headers headers);
// The frame after a router's changes (RFC 1812), at the port where it leaves: addresses, TTL, checksum.
Octets routed(Octets frame, unsigned out_port);
// Whether a frame's headers are UDP/IPv4 to port 7, and its identity.
bool is_test_frame(const Octets& frame);
std::optional<TestFrame> identify(const Octets& frame);
