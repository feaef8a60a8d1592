// SPDX-License-Identifier: BSD-2-Clause
// The times at which functions are entered and left, WFI begins and ends, and the MACs report events.
#pragma once

#include "call_stack.h"
#include "soc_config.h"

class Timeline {
public:
    // Begins after cycle `start`.
    Timeline(const Symbols& symbols, bool wanted, uint64_t start) : symbols_(symbols), wanted_(wanted), since_(start) {}

    // The rows, in the order of their cycles.
    void retire(uint64_t cycle, const Frames& frames) {
        if (wanted_ && (frames.back().serial != top_ || frames.size() != shown_.size() || idle_end_)) change(frames);
        since_ = cycle;
    }
    void idle(uint64_t cycle) {
        if (!wanted_) return;
        if (!idle_end_) idle_begin_ = cycle - 1;
        idle_end_ = cycle;
    }
    void event(uint64_t cycle, unsigned port, unsigned event);

    // Lines "cycle > function", "cycle <" and "cycle ! port event", sorted by cycle. A cycle stands for its end: a function
    // that is entered at n takes cycles from n + 1 on.
    std::string text() const;

private:
    enum class Kind : char { kEnter = '>', kLeave = '<', kEvent = '!' };
    struct Row {
        uint64_t cycle;
        Kind kind;
        uint32_t what;  // function or -1 for WFI; port << 8 | event
    };
    const Symbols& symbols_;
    bool wanted_;
    std::vector<Row> rows_, events_;  // each in order
    Frames shown_;
    uint64_t top_ = 0, since_;  // the innermost shown frame; the latest instruction
    uint64_t idle_begin_ = 0, idle_end_ = 0;

    void change(const Frames& frames);
};
