// SPDX-License-Identifier: BSD-2-Clause
#include "timeline.h"

#include <algorithm>
#include <iterator>

namespace {

constexpr uint32_t kIdle = ~0u;

}  // namespace

// Leaves frames that are gone, enters new ones; another task has another stack.
void Timeline::change(const Frames& frames) {
    const auto same = [](const auto& a, const auto& b) { return a.serial == b.serial; };
    const auto [gone, added] = std::mismatch(shown_.begin(), shown_.end(), frames.begin(), frames.end(), same);
    for (auto frame = gone; frame != shown_.end(); ++frame) rows_.push_back({since_, Kind::kLeave, 0});
    for (auto frame = added; frame != frames.end(); ++frame) rows_.push_back({since_, Kind::kEnter, frame->function});
    shown_.erase(gone, shown_.end());
    shown_.insert(shown_.end(), added, frames.end());
    top_ = frames.back().serial;
    if (!idle_end_) return;
    rows_.push_back({idle_begin_, Kind::kEnter, kIdle});
    rows_.push_back({idle_end_, Kind::kLeave, 0});
    idle_end_ = 0;
}

void Timeline::event(uint64_t cycle, unsigned port, unsigned event) {
    if (wanted_) events_.push_back({cycle, Kind::kEvent, port << 8 | event});
}

std::string Timeline::text() const {
    // A function's entry is recorded one instruction late; events are recorded at once.
    std::vector<Row> rows;
    std::merge(rows_.begin(), rows_.end(), events_.begin(), events_.end(), std::back_inserter(rows),
               [](auto& a, auto& b) { return a.cycle < b.cycle; });
    std::string text;
    for (const Row& row : rows) {
        text += std::to_string(row.cycle) + " " + static_cast<char>(row.kind);
        if (row.kind == Kind::kEnter) text += " " + (row.what == kIdle ? "[idle]" : symbols_.name(row.what));
        if (row.kind == Kind::kEvent) text += " " + std::to_string(row.what >> 8) + " " + kEventNames[row.what & 0xff];
        text += "\n";
    }
    return text;
}
