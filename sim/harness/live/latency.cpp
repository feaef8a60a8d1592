// SPDX-License-Identifier: BSD-2-Clause
#include "latency.h"

#include <algorithm>

namespace {

constexpr size_t kAddresses = 12;  // octets of the MAC addresses
constexpr size_t kIp = 14;         // offset of an IPv4 header, and in it:
constexpr size_t kTotalLength = kIp + 2, kTtl = kIp + 8, kChecksum = kIp + 10, kIpEnd = kIp + 20;

}  // namespace

void Latencies::came(const Octets& frame, uint64_t end) {
    if (order_.size() == kMost) {  // the oldest frame was dropped, or has left
        const auto oldest = inside_.find(order_.front());
        order_.pop_front();
        if (oldest != inside_.end()) take(oldest->first);
    }
    order_.push_back(content(frame));
    inside_[order_.back()].push_back(end);
}

std::optional<uint64_t> Latencies::left(const Octets& frame, uint64_t start) {
    const auto found = inside_.find(content(frame));
    if (found == inside_.end() || found->second.front() > start) return std::nullopt;
    return start - take(found->first);
}

uint64_t Latencies::take(Content content) {
    const auto found = inside_.find(content);
    const uint64_t end = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) inside_.erase(found);
    return end;
}

// FNV-1a (Fowler, Noll and Vo).
Latencies::Content Latencies::content(const Octets& frame) {
    const bool ip = ether_type(frame) == kEtherTypeIp && frame.size() >= kIpEnd + kFcs;
    size_t end = frame.size() - std::min(frame.size(), kFcs);
    if (ip) end = std::min<size_t>(end, kIp + (frame[kTotalLength] << 8 | frame[kTotalLength + 1]));  // padding follows
    Content hash = 0xcbf29ce484222325;
    for (size_t at = kAddresses; at < end; ++at) {
        if (ip && (at == kTtl || at == kChecksum || at == kChecksum + 1)) continue;
        hash = (hash ^ frame[at]) * 0x100000001b3;
    }
    return hash;
}
