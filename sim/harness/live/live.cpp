// SPDX-License-Identifier: BSD-2-Clause
#include "live.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "error.h"

namespace {

constexpr size_t kLongestRead = 1 << 16;
constexpr size_t kHeader = 14;  // of Ethernet
// No frame takes longer to leave (64 KiB at 10 Mb/s): earlier frames are complete.
constexpr uint64_t kLongestFrame = kSysClkHz / 10;
constexpr uint32_t kWholeLine = 1000000;  // in millionths

Octets fcs(const Octets& frame) { return {frame.end() - std::min(frame.size(), kFcs), frame.end()}; }

// Numbers of a record, little-endian.
void put32(Octets& octets, uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) octets.push_back(value >> shift & 0xff);
}
uint32_t get32(const Octets& octets, size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4 && at + i < octets.size(); ++i) value |= uint32_t{octets[at + i]} << 8 * i;
    return value;
}

std::string at(const Record& record) {
    return record.kind == Record::kEnd
               ? "its end, cycle " + std::to_string(record.cycle)
               : "a frame of port " + std::to_string(record.port) + " at cycle " + std::to_string(record.cycle);
}

}  // namespace

Live::Live(LivePlan plan, uint64_t start, const LineRate& rate) : Traffic(start), plan_(std::move(plan)) {
    if (plan_.from) plan_.from = std::max(*plan_.from, start - 1);  // otherwise the window would never begin
    for (unsigned port = 0; port < kPorts; ++port) {
        const auto taken = [this, port, rate](uint64_t start, const Octets& frame) {
            pass(port, PcapngWriter::kInbound, start + rate.cycles(kPreamble), frame);
        };
        lines_.emplace_back(port, rate, taken, [this, port, taken](uint64_t start, const Octets& frame) {
            ports_[port].in.add(frame);
            taken(start, frame);
        });
    }
    if (plan_.wire)
        wire_.emplace(*plan_.wire, start, rate, [this](const Departure& frame) {
            ports_[frame.port].in.add(frame.frame);
            pass(frame.port, PcapngWriter::kInbound, frame.start, frame.frame);
        });
    pressed_ = plan_.keys;
    if (!plan_.replay.empty()) {
        using Kinds = std::initializer_list<Record::Kind>;
        inputs_.emplace(plan_.replay, start, Kinds{Record::kFrame, Record::kKeys, Record::kDropped, Record::kLoad});
        left_.emplace(plan_.replay, start, Kinds{Record::kLeft, Record::kEnd});
    }
    if (!plan_.record.empty()) recorder_.emplace(plan_.record, plan_.about, start);
    if (!plan_.capture.empty()) capture_.emplace(plan_.capture);
}

uint64_t Live::due() const {
    if (!inputs_) return look_;
    const uint64_t next = inputs_->next() ? inputs_->next()->cycle : kNever;
    return plan_.from && !opened_ ? std::min(next, *plan_.from + 1) : next;
}

bool Live::advance(uint64_t cycle) {
    if (capture_ && cycle > kLongestFrame) capture_->settle(cycle - kLongestFrame);
    opened_ = plan_.from && cycle > *plan_.from;
    return inputs_ ? play(cycle) : look(cycle);
}

// Inputs -----------------------------------------------------------------------------------------------

bool Live::play(uint64_t cycle) {
    bool given = false;
    for (; inputs_->next() && inputs_->next()->cycle <= cycle; inputs_->advance()) {
        give(*inputs_->next());
        given = true;
    }
    return given;
}

bool Live::look(uint64_t cycle) {
    bool given = false;
    for (unsigned port = 0; port < kPorts; ++port) given |= read_host(port, cycle);
    for (unsigned port = 0; port < kPorts; ++port) {
        if (!wanted_[port]) continue;
        Record record{cycle, Record::kLoad, static_cast<uint8_t>(port), {}};
        put32(record.octets, wanted_[port]->ppm);
        put32(record.octets, wanted_[port]->frame_bytes);
        give(std::move(record));
        wanted_[port].reset();
        given = true;
    }
    if (!pressed_.empty()) {
        give({cycle, Record::kKeys, 0, {pressed_.begin(), pressed_.end()}});
        pressed_.clear();
        given = true;
    }
    interval_ = given ? kLeastInterval : std::min(2 * interval_, kMostInterval);
    look_ = cycle + interval_;
    if (recorder_) recorder_->flush();
    return given;
}

bool Live::read_host(unsigned port, uint64_t cycle) {
    if (plan_.hosts[port] == LivePlan::kNobody) return false;
    uint8_t octets[kLongestRead];
    uint32_t dropped = 0;
    bool given = false;
    for (unsigned reads = 0; reads < kMostReads; ++reads) {
        const ssize_t size = ::read(plan_.hosts[port], octets, sizeof octets);
        if (size < 0 && errno != EAGAIN && errno != EINTR) {
            note("port " + std::to_string(port) + ": its TAP device is gone (" + std::strerror(errno) +
                 "); the session goes on without this host");
            plan_.hosts[port] = LivePlan::kNobody;
        }
        if (size <= 0) break;
        if (static_cast<size_t>(size) < kHeader) continue;
        if (lines_[port].host().size() >= kMostWaiting) {
            ++dropped;
            continue;
        }
        Octets frame(octets, octets + size);
        frame.resize(std::max(frame.size(), kMinFrame - kFcs));
        append_fcs(frame);
        give({cycle, Record::kFrame, static_cast<uint8_t>(port), std::move(frame)});
        given = true;
    }
    if (dropped) {
        Octets count;
        put32(count, dropped);
        give({cycle, Record::kDropped, static_cast<uint8_t>(port), std::move(count)});
    }
    return given;
}

// All inputs pass here, in a session and in its replay.
void Live::give(Record record) {
    if (recorder_) recorder_->add(record);
    if (record.port >= kPorts) return differ("it has a port " + std::to_string(record.port) + ", and there is none");
    Port& port = ports_[record.port];
    switch (record.kind) {
        case Record::kFrame:
            port.in.add(record.octets);
            lines_[record.port].host().add(record.cycle, std::move(record.octets));
            break;
        case Record::kKeys:
            keys_typed_ += record.octets.size();
            typed_.append(record.octets.begin(), record.octets.end());
            break;
        case Record::kDropped: port.dropped += get32(record.octets, 0); break;
        case Record::kLoad: {
            const Load load = {std::min(get32(record.octets, 0), kWholeLine),
                               std::clamp<uint32_t>(get32(record.octets, 4), kMinFrame, kMaxFrame)};
            loads_[record.port] = load;
            lines_[record.port].load(record.cycle + 1, load.ppm, load.frame_bytes);
            loaded_ = true;
            break;
        }
        case Record::kLeft:
        case Record::kEnd: break;
    }
}

void Live::wait(Pace::Seconds seconds, int other) const {
    std::vector<pollfd> inputs;
    for (const int host : plan_.hosts)
        if (host != LivePlan::kNobody) inputs.push_back({host, POLLIN, 0});
    if (other != LivePlan::kNobody) inputs.push_back({other, POLLIN, 0});
    const auto whole = static_cast<time_t>(seconds.count());
    const timespec limit{whole, static_cast<int64_t>(1e9 * (seconds.count() - static_cast<double>(whole)))};
    ::ppoll(inputs.data(), inputs.size(), &limit, nullptr);
}

// Outputs ----------------------------------------------------------------------------------------------

std::vector<Departure> Live::sent(Departure departure) {
    Port& port = ports_[departure.port];
    const Octets& frame = departure.frame;
    port.out.add(frame);
    interval_ = kLeastInterval;
    pass(departure.port, PcapngWriter::kOutbound, departure.start, frame);
    const Record left{departure.end, Record::kLeft, static_cast<uint8_t>(departure.port), fcs(frame)};
    if (recorder_) recorder_->add(left);
    if (left_) compare(left);
    if (const int host = plan_.hosts[departure.port]; host != LivePlan::kNobody && fcs_ok(frame) && !of_load(frame)) {
        const size_t size = frame.size() - kFcs;
        port.undelivered += ::write(host, frame.data(), size) != static_cast<ssize_t>(size);
    }
    return {std::move(departure)};
}

// The tester's own frames: no host sent them or expects them.
bool Live::of_load(const Octets& frame) const { return loaded_ && is_test_frame(frame) && identify(frame); }

void Live::compare(const Record& left) {
    const Record* recorded = left_->next();
    if (!recorded) return;  // the recording is incomplete, and this is after its end
    if (!(*recorded == left)) differ("the recording has " + at(*recorded) + ", the replay " + at(left));
    if (recorded->kind != Record::kEnd) left_->advance();
}

void Live::differ(const std::string& what) {
    if (difference_.empty()) difference_ = what;
}

void Live::pass(unsigned port, PcapngWriter::Direction direction, uint64_t cycle, const Octets& frame) {
    if (watcher_) watcher_->passed(port, direction, cycle, frame);
    if (capture_) capture_->add(port, direction, cycle, frame);
}

uint64_t Live::frames() const {
    uint64_t frames = 0;
    for (const Port& port : ports_) frames += port.in.frames + port.out.frames;
    return frames;
}

void Live::check() {
    check(recorder_, plan_.record);
    check(capture_, plan_.capture);
}

template <class Writer> void Live::check(std::optional<Writer>& writer, const std::string& path) {
    if (!writer || writer->check()) return;
    writer.reset();
    note(path + ": its reader has left; the session goes on, and nothing more is written there");
}

std::vector<std::string> Live::written() const {
    std::vector<std::string> names;
    if (recorder_) names.emplace_back("record");
    if (capture_) names.emplace_back("capture");
    return names;
}

void Live::finish(uint64_t cycle, const std::string& report) {
    const Record end{cycle, Record::kEnd, 0, {report.begin(), report.end()}};
    if (recorder_) {
        recorder_->add(end);
        recorder_->flush();
    }
    if (capture_) capture_->settle(UINT64_MAX);
    if (left_ && left_->next()) {
        const Record& recorded = *left_->next();
        const bool whole = recorded.kind == Record::kEnd && recorded.cycle == cycle;
        if (whole && !(recorded == end)) differ("their reports are not the same");
        if (recorded.kind == Record::kLeft && recorded.cycle <= cycle)
            differ("the recording has " + at(recorded) + ", the replay has none");
    }
    check();
    if (wire_) wire_->close();
}
