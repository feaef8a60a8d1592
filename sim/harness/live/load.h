// SPDX-License-Identifier: BSD-2-Clause
// The line into a port: a host's frames, and between them test frames at some load, which have lower priority.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "tester/generator.h"
#include "tester/waiting.h"

class LoadedLine final : public PacketSource {
public:
    LoadedLine(unsigned port, const LineRate& rate, WaitingFrames::Taken host, WaitingFrames::Taken load)
        : port_(port), rate_(rate), host_(rate, std::move(host)), taken_(std::move(load)) {}

    WaitingFrames& host() { return host_; }
    // From that cycle on, until the next call; 0: none. The frames differ from those of other loads.
    void load(uint64_t cycle, uint64_t ppm, uint64_t frame_bytes) {
        generator_.reset();
        if (!ppm) return;
        Offer offer;
        offer.frame_bytes = frame_bytes;
        offer.frames = UINT32_MAX;  // eight hours at 1 Gb/s
        offer.load_ppm = ppm;
        generator_.emplace(port_, (port_ + 1) % kPorts, offer, cycle, rate_, /*seed=*/cycle);
    }

    uint64_t next_start(uint64_t line_end) const override {
        const uint64_t next = generator_ ? generator_->next_start(line_end) : kNever;
        return std::min(host_.next_start(line_end),
                        next == kNever ? next : std::max(next, line_end + rate_.cycles(kGap)));
    }
    Packet take(uint64_t start) override {
        if (host_.next_start(0) <= start) return host_.take(start);
        Packet packet = generator_->take(start);
        taken_(start, {packet.octets.begin() + kPreamble, packet.octets.end()});
        return packet;
    }
    bool yields() const override { return true; }

    template <class Archive> void state(Archive& archive) {
        bool loaded = generator_.has_value();
        archive(host_, loaded);
        if (!loaded) return generator_.reset();
        if (!generator_) load(0, 1, kMinFrame);  // any load: its state is overwritten
        archive(*generator_);
    }

private:
    unsigned port_;
    LineRate rate_;
    WaitingFrames host_;
    std::optional<Generator> generator_;
    WaitingFrames::Taken taken_;
};
