// SPDX-License-Identifier: BSD-2-Clause
#include "recording.h"

#include <cstring>

#include "error.h"

namespace {

constexpr char kMagic[] = "ModeLive";
constexpr size_t kMagicSize = sizeof kMagic - 1;
constexpr uint32_t kFormat = 1;
constexpr uint32_t kLongest = 1 << 20;  // octets of a record: more is damage

}  // namespace

Recorder::Recorder(const std::string& path, const std::string& about, uint64_t cycle) : stream_(path) {
    stream_.write(kMagic, kMagicSize);
    stream_.write32(kFormat);
    stream_.write32(about.size());
    stream_.write(about.data(), about.size());
    stream_.write64(cycle);
    stream_.flush();
    stream_.check();
}

void Recorder::add(const Record& record) {
    stream_.write64(record.cycle);
    stream_.write16(record.kind);
    stream_.write16(record.port);
    stream_.write32(record.octets.size());
    stream_.write(record.octets.data(), record.octets.size());
}

RecordingReader::RecordingReader(const std::string& path, uint64_t cycle, std::initializer_list<Record::Kind> kinds)
    : file_(std::fopen(path.c_str(), "rbe")) {
    if (!file_) throw file_error(path, "cannot be read");
    char magic[kMagicSize];
    if (!read(magic, kMagicSize) || std::memcmp(magic, kMagic, kMagicSize) != 0)
        throw Error(path + ": is not a recording of a live session");
    const auto format = little(4), size = little(4);
    if (format != kFormat)
        throw Error(path + ": is a recording of another format; play it with the commit that made it");
    std::string about(std::min<uint64_t>(size.value_or(0), kLongest), 0);
    read(about.data(), about.size());
    const auto start = little(8);
    if (!start) throw Error(path + ": was cut short inside its header; there is nothing to play");
    if (*start != cycle)
        throw Error(path + ": starts at cycle " + std::to_string(*start) + ", and the machine is at " +
                    std::to_string(cycle) + "; start from the state that it was recorded from");
    for (const Record::Kind kind : kinds) kinds_ |= 1u << kind;
    advance();
}

void RecordingReader::advance() {
    do {
        position_ = std::ftell(file_.get());
        record_ = any();
    } while (record_ && !(kinds_ >> record_->kind & 1));
}

void RecordingReader::read_again() {
    std::fseek(file_.get(), position_, SEEK_SET);
    record_ = any();
}

std::optional<Record> RecordingReader::any() {
    const auto cycle = little(8), kind = little(2), port = little(2), size = little(4);
    if (!size || *size > kLongest || *kind > Record::kLoad || *port > UINT8_MAX) return std::nullopt;
    Record record{*cycle, static_cast<Record::Kind>(*kind), static_cast<uint8_t>(*port), Octets(*size)};
    if (!read(record.octets.data(), record.octets.size())) return std::nullopt;
    return record;
}

bool RecordingReader::read(void* octets, size_t size) { return std::fread(octets, 1, size, file_.get()) == size; }

std::optional<uint64_t> RecordingReader::little(unsigned octets) {
    uint8_t bytes[8];
    if (!read(bytes, octets)) return std::nullopt;
    uint64_t value = 0;
    for (unsigned i = 0; i < octets; ++i) value |= uint64_t{bytes[i]} << 8 * i;
    return value;
}
