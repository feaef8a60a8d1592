// SPDX-License-Identifier: BSD-2-Clause
#include "replay.h"

#include <algorithm>

uint64_t Replay::List::next_start(uint64_t line_end) const {
    if (finished()) return kNever;
    const ReplayFrame& frame = frames_[next_];
    const auto offset = static_cast<unsigned __int128>(frame.nanoseconds) * kSysClkHz / 1000000000;
    return std::max(start_ + static_cast<uint64_t>(offset), line_end + rate_.cycles(frame.gap));
}

Packet Replay::List::take(uint64_t start) {
    const ReplayFrame& frame = frames_[next_++];
    return {start, with_preamble(frame.octets), frame.error};
}

Replay::Replay(ReplayPlan plan, uint64_t start, const LineRate& rate) : Traffic(start), plan_(std::move(plan)) {
    for (auto& [port, frames] : plan_.in) lists_.emplace(port, List(std::move(frames), start, rate));
    for (const auto& [port, path] : plan_.out) out_[port];
    for (const auto& [port, path] : plan_.answers) answers_[port];
}

PacketSource* Replay::source(unsigned port) {
    const auto found = lists_.find(port);
    return found == lists_.end() ? nullptr : &found->second;
}

std::vector<Departure> Replay::sent(Departure departure) {
    if (const auto found = out_.find(departure.port); found != out_.end()) {
        // A frame may have been leaving when the replay began.
        const uint64_t early = nanoseconds(start() - std::min(start(), departure.start), kSysClkHz);
        const uint64_t late = nanoseconds(departure.start - std::min(start(), departure.start), kSysClkHz);
        found->second.add(plan_.epoch + late - std::min(early, plan_.epoch + late), departure.frame);
    }
    return {std::move(departure)};
}

void Replay::answering(unsigned port, uint64_t cycle, const Octets& frame) {
    if (const auto found = answers_.find(port); found != answers_.end())
        found->second.add(plan_.epoch + nanoseconds(cycle - start(), kSysClkHz), frame);
}

uint64_t Replay::offered(unsigned port) const {
    const auto found = lists_.find(port);
    return found == lists_.end() ? 0 : found->second.offered();
}

bool Replay::finished(uint64_t) const {
    return std::all_of(lists_.begin(), lists_.end(), [](const auto& entry) { return entry.second.finished(); });
}

void Replay::save_captures() const {
    for (const auto& [port, file] : out_) file.save(plan_.out.at(port));
    for (const auto& [port, file] : answers_) file.save(plan_.answers.at(port));
}
