// SPDX-License-Identifier: BSD-2-Clause
#include "capture.h"

#include <algorithm>

#include "error.h"
#include "file.h"

namespace {

constexpr uint32_t kMicroseconds = 0xa1b2c3d4, kNanoseconds = 0xa1b23c4d, kSnapLength = 65535;
// Ethernet; the second one declares an FCS of 2 times 16 bits.
constexpr uint32_t kEthernet = 1, kEthernetWithFcs = 0x24000001;
constexpr size_t kFileHeader = 24, kRecordHeader = 16;

}  // namespace

std::vector<Captured> read_pcap(const std::string& path) {
    const Octets file = read_file(path);
    const auto get32 = [&](size_t at) {
        return file[at] | file[at + 1] << 8 | file[at + 2] << 16 | uint32_t{file[at + 3]} << 24;
    };
    if (file.size() < kFileHeader || (get32(0) != kMicroseconds && get32(0) != kNanoseconds))
        throw Error(path + ": is not a little-endian pcap file; write one with sim/lab/measure/pcap.py");
    if (get32(20) != kEthernet && get32(20) != kEthernetWithFcs)
        throw Error(path + ": its link type is " + std::to_string(get32(20)) + ", not Ethernet (1)");
    const uint64_t unit = get32(0) == kMicroseconds ? 1000 : 1;

    std::vector<Captured> frames;
    for (size_t at = kFileHeader; at < file.size();) {
        if (file.size() - at < kRecordHeader || file.size() - at - kRecordHeader < get32(at + 8))
            throw Error(path + ": is truncated in record " + std::to_string(frames.size() + 1) + "; record it again");
        const auto begin = file.begin() + at + kRecordHeader;
        frames.push_back({get32(at) * uint64_t{1000000000} + get32(at + 4) * unit,
                          {begin, begin + get32(at + 8)},
                          get32(20) == kEthernetWithFcs});
        at += kRecordHeader + get32(at + 8);
    }
    return frames;
}

PcapWriter::PcapWriter() {
    for (const uint32_t value : {kNanoseconds, 4u << 16 | 2u, 0u, 0u, kSnapLength, kEthernet}) put32(value);
}

void PcapWriter::add(uint64_t nanoseconds, const Octets& frame) {
    const size_t size = frame.size() - std::min(frame.size(), kFcs);
    put32(nanoseconds / 1000000000);
    put32(nanoseconds % 1000000000);
    put32(size);
    put32(size);
    file_.insert(file_.end(), frame.begin(), frame.begin() + size);
}

void PcapWriter::save(const std::string& path) const { write_file(path, file_); }

void PcapWriter::put32(uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) file_.push_back(value >> shift & 0xff);
}
