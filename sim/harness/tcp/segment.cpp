// SPDX-License-Identifier: BSD-2-Clause
#include "segment.h"

#include "tester/octets.h"

namespace {

constexpr uint8_t kTcpProtocol = 6;
constexpr size_t kHeader = 20;

std::optional<unsigned> window_scale(const uint8_t* option, const uint8_t* end) {
    constexpr uint8_t kEnd = 0, kNothing = 1, kWindowScale = 3;
    while (option < end && *option != kEnd) {
        if (*option == kNothing) {
            ++option;
            continue;
        }
        if (end - option < 3 || option[1] < 2) break;
        if (*option == kWindowScale) return option[2];
        option += option[1];
    }
    return std::nullopt;
}

}  // namespace

std::optional<Segment> parse_segment(const Octets& frame) {
    if (ether_type(frame) != kEtherTypeIp || frame.size() < kUdp + kHeader + kFcs || frame[kIp] != kPlainIp ||
        frame[kProtocol] != kTcpProtocol || (get16(&frame[kFragment]) & 0x3fff) != 0)
        return std::nullopt;
    const uint8_t* tcp = &frame[kUdp];
    const size_t header = (tcp[12] >> 4) * 4, end = kIp + get16(&frame[kIpLength]);
    if (header < kHeader || end < kUdp + header || end > frame.size() - kFcs) return std::nullopt;
    Segment out{get16(tcp), get16(tcp + 2),  get32(tcp + 4),      get32(tcp + 8),
                tcp[13],    get16(tcp + 14), end - kUdp - header, std::nullopt};
    if (out.has(Segment::kSyn)) out.scale = window_scale(tcp + kHeader, tcp + header);
    return out;
}
