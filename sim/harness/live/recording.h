// SPDX-License-Identifier: BSD-2-Clause
// A live session on disk: inputs with their cycles, and outputs, with which a replay is compared.
#pragma once

#include <optional>
#include <string>

#include "stream.h"
#include "tester/frame.h"

struct Record {
    enum Kind : uint8_t {
        kFrame,    // entered a port's queue: the frame, with its FCS
        kKeys,     // typed at the console
        kDropped,  // number of frames for which a port's queue had no room, 4 octets
        kLeft,     // a frame that left a port, by the end of its last bit: its last 4 octets, the FCS
        kEnd,      // of the session, when the clock had reached this cycle: its report, as JSON
        kLoad,     // test frames enter the port from now on: millionths of the line rate (0: none), frame length
    };
    uint64_t cycle = 0;
    Kind kind = kEnd;
    uint8_t port = 0;
    Octets octets;

    bool operator==(const Record& other) const {
        return cycle == other.cycle && kind == other.kind && port == other.port && octets == other.octets;
    }
};

class Recorder {
public:
    // `about`: a description in JSON; the session starts at `cycle`.
    Recorder(const std::string& path, const std::string& about, uint64_t cycle);
    void add(const Record& record);
    void flush() { stream_.flush(); }
    bool check() const { return stream_.check(); }

private:
    Stream stream_;
};

// Reads records of some kinds, in order; only one of them is in memory at a time.
class RecordingReader {
public:
    // Raises an Error if it is not a recording of a session that starts at this cycle.
    RecordingReader(const std::string& path, uint64_t cycle, std::initializer_list<Record::Kind> kinds);
    // The next record; null after the last complete one.
    const Record* next() const { return record_ ? &*record_ : nullptr; }
    void advance();

    template <class Archive> void state(Archive& archive) {
        archive(position_);
        read_again();
    }

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
    unsigned kinds_ = 0;  // a bit for each
    long position_ = 0;  // of the next record in the file
    std::optional<Record> record_;

    bool read(void* octets, size_t size);
    std::optional<uint64_t> little(unsigned octets);
    std::optional<Record> any();
    void read_again();
};
