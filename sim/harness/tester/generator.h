// SPDX-License-Identifier: BSD-2-Clause
// Offers the test frames of one port: frame k at an exact cycle.
#pragma once

#include <algorithm>

#include "line.h"

struct Offer {
    uint64_t frame_bytes = 0, frames = 0, phase = 0;
    uint64_t load_ppm = 0;  // of the line rate; 1000000: minimum gaps
    uint64_t burst_frames = 0, burst_ppm = 0;  // that load on average: frames at a higher one, then a pause
    uint64_t then_frames = 0, then_ppm = 0;  // then this many frames at another load
    uint64_t probe_every = 0;  // one frame in this many is a probe; 0: none
    uint64_t streams = 1;  // frames alternate between streams, each with its UDP source port
    uint64_t all_frames() const { return frames + then_frames; }
};

class Generator final : public PacketSource {
public:
    Generator(unsigned port, unsigned out_port, const Offer& offer, uint64_t start, const LineRate& rate, uint64_t seed)
        : port_(port), out_port_(out_port), offer_(offer), start_(start + offer.phase), rate_(rate), seed_(seed) {}

    uint64_t next_start(uint64_t) const override { return next_ < offer_.all_frames() ? packet_start(next_) : kNever; }
    Packet take(uint64_t start) override;

    // Cycle at the end of the last bit of frame k.
    uint64_t last_bit(uint64_t k) const { return packet_start(k) + rate_.cycles(kPreamble + offer_.frame_bytes); }
    uint64_t offered() const { return next_; }
    // Number of frames whose last bit has entered at a cycle.
    uint64_t offered_by(uint64_t cycle) const;
    const Offer& offer() const { return offer_; }
    bool probe(uint32_t sequence) const { return offer_.probe_every && (sequence + 1) % offer_.probe_every == 0; }
    uint16_t stream(uint32_t sequence) const { return sequence % offer_.streams; }
    // The frame as it enters.
    Octets frame(uint32_t sequence) const {
        return test_frame({static_cast<uint16_t>(port_), sequence}, out_port_, offer_.frame_bytes, seed_,
                          {probe(sequence) ? kExpedited : uint8_t{0}, stream(sequence)});
    }
    unsigned out_port() const { return out_port_; }

    template <class Archive> void state(Archive& archive) { archive(offer_, start_, seed_, next_); }

private:
    unsigned port_, out_port_;
    Offer offer_;
    uint64_t start_;
    LineRate rate_;
    uint64_t seed_, next_ = 0;

    uint64_t packet_start(uint64_t k) const {
        if (k >= offer_.frames) return start_ + slots(offer_.frames, offer_.load_ppm) + then(k - offer_.frames);
        const uint64_t in_burst = offer_.burst_frames ? k % offer_.burst_frames : 0;
        return start_ + slots(k - in_burst, offer_.load_ppm) + (in_burst ? slots(in_burst, offer_.burst_ppm) : 0);
    }
    uint64_t then(uint64_t k) const { return k ? slots(k, offer_.then_ppm) : 0; }
    uint64_t slots(uint64_t k, uint64_t ppm) const {
        return rate_.slot(k, kPreamble + offer_.frame_bytes + kGap, 1000000, ppm);
    }
};
