// SPDX-License-Identifier: BSD-2-Clause
// The medium at one port, in whole octets: times of frames, words into the device, words out of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "frame.h"

constexpr uint64_t kNever = UINT64_MAX;

// Clock cycles that octets take on the line. Exact: 0.8 cycles an octet at 1000 Mb/s and 100 MHz.
class LineRate {
public:
    LineRate(unsigned mbps, uint64_t sys_clk_hz);
    // Cycles until `octets` have passed, rounded up.
    uint64_t cycles(uint64_t octets) const { return (octets * numerator_ + denominator_ - 1) / denominator_; }
    // Start of frame k when each takes `octets × scale / part` of the line, rounded down.
    uint64_t slot(uint64_t k, uint64_t octets, uint64_t scale, uint64_t part) const {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(k) * octets * numerator_ * scale /
                                     (static_cast<unsigned __int128>(denominator_) * part));
    }
    bool exact() const { return denominator_ == 1; }
    uint64_t mbps() const { return mbps_; }

private:
    uint64_t mbps_;
    uint64_t numerator_, denominator_;
};

// A word at the pads: 1 to 4 octets, the first one on the wire in bits 7:0.
struct Word {
    uint32_t data;
    uint8_t bytes;
    bool last, error;
};

// A packet for the device: starts with its preamble at a cycle.
struct Packet {
    uint64_t start = 0;
    Octets octets;  // preamble, SFD, frame
    bool error = false;

    template <class Archive> void state(Archive& archive) { archive(start, octets, error); }
};
// Preamble and SFD before a frame.
Octets with_preamble(const Octets& frame);

// Supplies packets in order.
class PacketSource {
public:
    virtual ~PacketSource() = default;
    // When the next packet starts, given when the line became free (end of the latest octet); kNever: none left.
    virtual uint64_t next_start(uint64_t line_end) const = 0;
    virtual Packet take(uint64_t start) = 0;
    // Whether its packets have no fixed cycles: then answers have priority.
    virtual bool yields() const { return false; }
};

// Words from another source, each with a cycle: at most one in a cycle.
class WordSource {
public:
    virtual ~WordSource() = default;
    virtual uint64_t due() const = 0;  // the cycle of the next one; kNever: unknown
    virtual Word take() = 0;
};

// Towards the device: shows each word at the cycle when its last octet has arrived. Scheduled packets keep their cycles;
// answers (ARP) use gaps between them.
class Sender {
public:
    // The next cycle in which the pads change, or kNever.
    uint64_t due() const { return words_ ? std::min(due_, words_->due()) : due_; }
    // To be called in the due cycle: the word that the pads show, or none.
    std::optional<Word> drive(uint64_t cycle, const LineRate& rate);

    void schedule(PacketSource* source, uint64_t cycle, const LineRate& rate);  // null: end of packets
    void follow(WordSource* words) { words_ = words; }  // instead of packets; null: end of words
    void answer(const Octets& frame, uint64_t cycle, const LineRate& rate);
    uint64_t line_end() const { return line_end_; }
    bool busy() const { return !packet_.octets.empty() || !answers_.empty(); }

    template <class Archive> void state(Archive& archive) {
        archive(packet_, sent_, driven_, line_end_, due_, answers_);
    }

private:
    PacketSource* source_ = nullptr;
    WordSource* words_ = nullptr;
    Packet packet_;  // in progress; no octets: none
    uint64_t sent_ = 0;  // its octets that have been sent
    bool driven_ = false;  // a word is on the pads
    uint64_t line_end_ = 0, due_ = kNever;
    std::deque<Octets> answers_;

    void plan(uint64_t cycle, const LineRate& rate);
    uint64_t answer_start(uint64_t cycle, const LineRate& rate) const;
    bool begin(uint64_t cycle, const LineRate& rate);
    std::optional<Word> relay(uint64_t cycle);
};

// A frame that left the device. `start` and `end`: first bit of the destination address, last bit of the FCS.
struct Departure {
    unsigned port;
    uint64_t start, end;
    bool preamble_ok, gap_ok;
    Octets frame;
};

// From the device: collects words into frames.
class Receiver {
public:
    std::optional<Departure> receive(const Word& word, unsigned port, uint64_t cycle, const LineRate& rate);

    template <class Archive> void state(Archive& archive) { archive(octets_, start_, line_end_, first_); }

private:
    static constexpr size_t kLongest = 1 << 16;  // limit for a device that never ends a frame
    Octets octets_;
    uint64_t start_ = 0, line_end_ = 0;
    bool first_ = true;
};
