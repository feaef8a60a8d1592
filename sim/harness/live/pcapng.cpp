// SPDX-License-Identifier: BSD-2-Clause
#include "pcapng.h"

#include <algorithm>

#include "soc_config.h"
#include "tester/capture.h"

namespace {

enum : uint32_t { kSection = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6 };  // types of blocks
enum : uint16_t { kEndOfOptions = 0, kFlags = 2, kName = 2, kResolution = 9 };
constexpr uint32_t kByteOrder = 0x1a2b3c4d;
constexpr uint16_t kEthernet = 1;
constexpr uint8_t kNanoseconds = 9;  // a unit of 10 to the minus 9
constexpr uint32_t kAnyLength = 0;

uint32_t padded(size_t size) { return (size + 3) & ~size_t{3}; }

}  // namespace

PcapngWriter::PcapngWriter(const std::string& path) : stream_(path) {
    constexpr uint32_t kSectionSize = 28;
    for (const uint32_t word : {uint32_t{kSection}, kSectionSize, kByteOrder}) stream_.write32(word);
    stream_.write16(1), stream_.write16(0);  // version
    stream_.write64(UINT64_MAX);             // the section's length is not known
    stream_.write32(kSectionSize);
    for (unsigned port = 0; port < kPorts; ++port) {
        const std::string name = "eth" + std::to_string(port);
        const uint32_t size = 20 + 4 + padded(name.size()) + 8 + 4;
        for (const uint32_t word : {uint32_t{kInterface}, size, uint32_t{kEthernet}, kAnyLength}) stream_.write32(word);
        option(kName, name.data(), name.size());
        option(kResolution, &kNanoseconds, sizeof kNanoseconds);
        option(kEndOfOptions, nullptr, 0);
        stream_.write32(size);
    }
    stream_.flush();
    stream_.check();
}

void PcapngWriter::add(unsigned port, Direction direction, uint64_t cycle, const Octets& frame) {
    uint64_t& latest = latest_[{port, direction}];
    if (cycle <= latest) return;
    latest = cycle;
    const size_t size = frame.size() - std::min(frame.size(), kFcs);
    waiting_.emplace(cycle, Packet{port, direction, {frame.begin(), frame.begin() + size}});
}

void PcapngWriter::settle(uint64_t cycle) {
    const auto end = waiting_.lower_bound(cycle);
    if (end == waiting_.begin()) return;
    for (auto each = waiting_.begin(); each != end; ++each) write(each->first, each->second);
    waiting_.erase(waiting_.begin(), end);
    stream_.flush();
}

void PcapngWriter::write(uint64_t cycle, const Packet& packet) {
    const uint64_t time = nanoseconds(cycle, kSysClkHz);
    const uint32_t length = packet.octets.size(), size = 32 + padded(length) + 8 + 4;
    const uint32_t flags = packet.direction;
    for (const uint32_t word : {uint32_t{kEnhancedPacket}, size, packet.port, static_cast<uint32_t>(time >> 32),
                                static_cast<uint32_t>(time), length, length})
        stream_.write32(word);
    stream_.write(packet.octets.data(), length);
    pad(length);
    option(kFlags, &flags, sizeof flags);
    option(kEndOfOptions, nullptr, 0);
    stream_.write32(size);
}

void PcapngWriter::option(uint16_t code, const void* value, uint16_t size) {
    stream_.write16(code);
    stream_.write16(size);
    stream_.write(value, size);
    pad(size);
}

void PcapngWriter::pad(size_t size) {
    static constexpr uint8_t kZeros[3] = {};
    stream_.write(kZeros, padded(size) - size);
}
