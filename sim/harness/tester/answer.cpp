// SPDX-License-Identifier: BSD-2-Clause
#include "answer.h"

#include "octets.h"

namespace {

std::optional<Octets> arp_answer(const Octets& frame, const Station& own) {
    static constexpr uint8_t kRequest[] = {0, 1, 8, 0, 6, 4, 0, 1};  // Ethernet, IPv4, lengths, request
    constexpr size_t kArp = 14, kOperation = 20, kSender = 22, kTarget = 32, kTargetIp = 38, kEnd = 42;
    if (frame.size() < kEnd + kFcs || ether_type(frame) != kEtherTypeArp ||
        !std::equal(kRequest, std::end(kRequest), &frame[kArp]) ||
        !std::equal(own.ip.begin(), own.ip.end(), &frame[kTargetIp]))
        return std::nullopt;

    Octets answer(kMinFrame - kFcs, 0);
    std::copy_n(&frame[kSource], 6, &answer[kDestination]);
    put(answer, kSource, own.mac);
    std::copy_n(&frame[kEtherType], kOperation - kEtherType, &answer[kEtherType]);
    put16(&answer[kOperation], 2);
    put(answer, kSender, own.mac);
    put(answer, kSender + 6, own.ip);
    std::copy_n(&frame[kSender], 10, &answer[kTarget]);  // the asker's addresses
    return answer;
}

// The answer to an echo (RFC 792) or to a datagram to the echo port (RFC 862). Neither fragments nor options.
std::optional<Octets> echo_answer(const Octets& frame, const Station& own, bool udp) {
    if (frame.size() < kPayload + kFcs || !std::equal(own.mac.begin(), own.mac.end(), &frame[kDestination]) ||
        !std::equal(own.ip.begin(), own.ip.end(), &frame[kIpDestination]) || frame[kIp] != kPlainIp ||
        (get16(&frame[kFragment]) & 0x3fff) != 0 || checksum(&frame[kIp], kUdp - kIp) != 0)
        return std::nullopt;
    const size_t end = kIp + get16(&frame[kIpLength]);
    if (end < kPayload || end > frame.size() - kFcs) return std::nullopt;

    Octets answer(frame.begin(), frame.begin() + end);
    if (frame[kProtocol] == kIcmpProtocol && get16(&frame[kUdp]) == 0x0800) {  // type echo, code 0
        if (checksum(&frame[kUdp], end - kUdp) != 0) return std::nullopt;
        put32(&answer[kUdp], 0);  // type echo reply; and the checksum
        put16(&answer[kUdp + 2], checksum(&answer[kUdp], end - kUdp));
    } else if (udp && frame[kProtocol] == kUdpProtocol && get16(&frame[kUdp + 2]) == kEchoPort) {
        std::swap_ranges(&answer[kUdp], &answer[kUdp + 2], &answer[kUdp + 2]);  // its checksum does not change
    } else {
        return std::nullopt;
    }
    std::swap_ranges(&answer[kDestination], &answer[kSource], &answer[kSource]);
    std::swap_ranges(&answer[kIpSource], &answer[kIpDestination], &answer[kIpDestination]);
    answer[kTtl] = kFirstTtl;
    finish_ip(answer);
    answer.resize(std::max(answer.size(), kMinFrame - kFcs));
    return answer;
}

}  // namespace

std::optional<Octets> answer(const Octets& frame, unsigned port, bool udp_echo) {
    const Station own = tester(port);
    auto made = ether_type(frame) == kEtherTypeArp ? arp_answer(frame, own) : std::nullopt;
    if (ether_type(frame) == kEtherTypeIp) made = echo_answer(frame, own, udp_echo);
    if (made) append_fcs(*made);
    return made;
}
