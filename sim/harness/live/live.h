// SPDX-License-Identifier: BSD-2-Clause
// Connects the ports to the host's network: frames are read from descriptors (TAP devices), and written to them. Every
// input is recorded with its cycle, so that the session can be replayed.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace.h"
#include "pcapng.h"
#include "recording.h"
#include "live/load.h"
#include "live/wire.h"
#include "tester/tester.h"

struct LivePlan {
    static constexpr int kNobody = -1;
    std::array<int, kPorts> hosts;  // descriptors; each read returns a frame without FCS
    std::optional<Wire::Plan> wire;  // to another simulator, instead of a host
    std::string keys;  // typed at the start
    std::string replay;  // a recording that replaces the hosts; or empty
    std::string record, about;  // the recording to write, and its description; or empty
    std::string capture;  // pcapng, or empty
    double pace = 1;  // simulated seconds per second, at most
    int window = kNobody;  // a socket (SOCK_SEQPACKET) to the process that shows events
    std::string symbols;  // the guest's functions, for the window; or empty
    int until_closed = kNobody;  // a descriptor of a pipe: the session ends with the last writer
    std::optional<uint64_t> until;  // or when this cycle is reached
    std::optional<uint64_t> from;  // of a replay: start of the profile's window

    LivePlan() { hosts.fill(kNobody); }
};

// An observer of a session's events, in their cycles.
class Watcher {
public:
    virtual ~Watcher() = default;
    // A frame with its FCS, from the cycle of its first bit on.
    virtual void passed(unsigned port, PcapngWriter::Direction direction, uint64_t cycle, const Octets& frame) = 0;
    virtual void switched(uint64_t cycle, unsigned source, bool up) = 0;
    virtual void happened(uint64_t cycle, unsigned port, unsigned event) = 0;
};

class Live final : public Traffic {
public:
    // Maximum number of frames that wait for a line: 12 ms of the longest ones at 100 Mb/s. To a host, a longer queue would
    // look like a slower wire.
    static constexpr size_t kMostWaiting = 100;

    Live(LivePlan plan, uint64_t start, const LineRate& rate);

    const char* busy() const override { return "a live session is in progress; it has to end first"; }
    bool finished(uint64_t cycle) const override { return plan_.until && cycle >= *plan_.until; }
    Window window() const override { return {plan_.from, std::nullopt}; }
    uint64_t due() const override;
    bool advance(uint64_t cycle) override;
    PacketSource* source(unsigned port) override { return wired(port) ? nullptr : &lines_[port]; }
    WordSource* words(unsigned port) override { return wired(port) ? &*wire_ : nullptr; }
    void left(unsigned port, const Word& word, uint64_t cycle) override {
        if (wired(port)) wire_->leave(word, cycle);
    }
    std::vector<Departure> sent(Departure departure) override;
    bool answered() const override { return false; }
    bool returns() const override { return true; }
    std::string keys() override { return std::exchange(typed_, {}); }
    void switched(uint64_t cycle, unsigned source, bool up) override {
        if (watcher_) watcher_->switched(cycle, source, up);
    }
    void happened(uint64_t cycle, unsigned port, unsigned event) override {
        if (watcher_) watcher_->happened(cycle, port, event);
    }
    void save_captures() const override {}

    // Keys for the console; they are typed when the inputs are read next.
    void type(const std::string& keys) { pressed_ += keys; }
    // Test frames for a port, from the next reading of the inputs on.
    struct Load {
        uint32_t ppm = 0, frame_bytes = 0;  // millionths of the line rate; 0: none
    };
    void load(unsigned port, Load load) { wanted_[port] = load; }
    const Load& load(unsigned port) const { return loads_[port]; }
    void watch(Watcher* watcher) { watcher_ = watcher; }
    size_t waiting(unsigned port) { return lines_[port].host().size(); }
    Wire* wire() { return wire_ ? &*wire_ : nullptr; }
    void end_at(uint64_t cycle) { plan_.until = cycle; }
    // Read the inputs in the next cycle, not only when that is due.
    void look_soon() { look_ = 0; }
    // Waits until a host has a frame, `other` can be read, or the time is over.
    void wait(Pace::Seconds seconds, int other) const;
    // Raises an Error if output could not be written. A pipe that its reader has closed gives only a note.
    void check();
    // A message for the user about something without which the session continues.
    void note(std::string line) { notes_.push_back(std::move(line)); }
    std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
    // The fields of the plan with the written files: record, capture.
    std::vector<std::string> written() const;
    // For a replay's history: the state from which it can continue.
    template <class Archive> void state(Archive& archive) {
        for (LoadedLine& line : lines_) archive(line);
        archive(*inputs_, *left_, ports_, loads_, loaded_, opened_, typed_, keys_typed_, difference_);
    }
    // Completes recording and capture.
    void finish(uint64_t cycle, const std::string& report);

    struct Passed {
        uint64_t frames = 0, octets = 0;
        void add(const Octets& frame) { ++frames, octets += frame.size(); }
    };
    struct Port {
        Passed in, out;
        uint64_t dropped = 0;  // no room in the queue
        uint64_t undelivered = 0;  // the host did not accept them
    };
    const Port& port(unsigned number) const { return ports_[number]; }
    uint64_t frames() const;  // inputs and outputs
    uint64_t keys_typed() const { return keys_typed_; }
    const LivePlan& plan() const { return plan_; }
    bool replaying() const { return inputs_.has_value(); }
    // The first difference between a replay and its recording, as a sentence; or empty.
    const std::string& difference() const { return difference_; }

private:
    static constexpr uint64_t kLeastInterval = 4096;  // cycles between readings of the inputs: 4 ms of wall-clock time,
    static constexpr uint64_t kMostInterval = 1 << 20;  // or while nothing happens, when cycles pass quickly
    static constexpr unsigned kMostReads = 512;  // per reading: the host drops the rest

    LivePlan plan_;
    std::vector<LoadedLine> lines_;
    std::array<Load, kPorts> loads_{};
    std::array<std::optional<Load>, kPorts> wanted_{};
    bool loaded_ = false;  // once
    Watcher* watcher_ = nullptr;
    std::array<Port, kPorts> ports_;
    std::optional<Wire> wire_;
    std::optional<Recorder> recorder_;
    std::optional<PcapngWriter> capture_;
    std::optional<RecordingReader> inputs_, left_;
    std::string pressed_, typed_;
    bool opened_ = false;  // the window
    uint64_t look_ = 0, interval_ = kLeastInterval, keys_typed_ = 0;
    std::string difference_;
    std::vector<std::string> notes_;  // not yet fetched

    bool wired(unsigned port) const { return wire_ && wire_->port() == port; }
    bool play(uint64_t cycle);
    bool look(uint64_t cycle);
    bool read_host(unsigned port, uint64_t cycle);
    void give(Record record);
    bool of_load(const Octets& frame) const;
    void compare(const Record& left);
    void pass(unsigned port, PcapngWriter::Direction direction, uint64_t cycle, const Octets& frame);
    void differ(const std::string& what);
    template <class Writer> void check(std::optional<Writer>& writer, const std::string& path);
};
