// SPDX-License-Identifier: BSD-2-Clause
// Frames that wait for a line, which sends them one after the other.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>

#include "line.h"

class WaitingFrames final : public PacketSource {
public:
    // Called when the line begins a frame, with the cycle in which its packet starts.
    using Taken = std::function<void(uint64_t start, const Octets& frame)>;

    WaitingFrames(const LineRate& rate, Taken taken) : rate_(rate), taken_(std::move(taken)) {}
    // `frame` has its FCS, and starts at this cycle or later.
    void add(uint64_t cycle, Octets frame) { waiting_.push_back({cycle, std::move(frame)}); }
    size_t size() const { return waiting_.size(); }

    uint64_t next_start(uint64_t line_end) const override {
        return waiting_.empty() ? kNever : std::max(waiting_.front().cycle, line_end + rate_.cycles(kGap));
    }
    Packet take(uint64_t start) override {
        const Octets frame = std::move(waiting_.front().octets);
        waiting_.pop_front();
        taken_(start, frame);
        return {start, with_preamble(frame), false};
    }
    bool yields() const override { return true; }

    template <class Archive> void state(Archive& archive) { archive(waiting_); }

private:
    struct Waiting {
        uint64_t cycle;
        Octets octets;
        template <class Archive> void state(Archive& archive) { archive(cycle, octets); }
    };
    LineRate rate_;
    Taken taken_;
    std::deque<Waiting> waiting_;
};
