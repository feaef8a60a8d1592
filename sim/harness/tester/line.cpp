// SPDX-License-Identifier: BSD-2-Clause
#include "line.h"

#include <algorithm>
#include <numeric>

LineRate::LineRate(unsigned mbps, uint64_t sys_clk_hz) : mbps_(mbps) {
    const uint64_t bits_per_octet = 8 * sys_clk_hz, bits_per_second = mbps * uint64_t{1000000};
    const uint64_t divisor = std::gcd(bits_per_octet, bits_per_second);
    numerator_ = bits_per_octet / divisor;
    denominator_ = bits_per_second / divisor;
}

Octets with_preamble(const Octets& frame) {
    Octets octets(kPreamble - 1, 0x55);
    octets.push_back(0xd5);
    octets.insert(octets.end(), frame.begin(), frame.end());
    return octets;
}

// Sender ------------------------------------------------------------------------------------------

void Sender::schedule(PacketSource* source, uint64_t cycle, const LineRate& rate) {
    source_ = source;
    if (packet_.octets.empty()) plan(cycle, rate);
}

void Sender::answer(const Octets& frame, uint64_t cycle, const LineRate& rate) {
    answers_.push_back(frame);
    if (packet_.octets.empty()) plan(cycle, rate);
}

// The line is free (but the latest word may still be on the pads): determines what begins next.
void Sender::plan(uint64_t cycle, const LineRate& rate) {
    const uint64_t scheduled = source_ ? source_->next_start(line_end_) : kNever;
    due_ = std::min(answer_start(cycle, rate), scheduled == kNever ? kNever : std::max(scheduled, cycle + 1));
    if (driven_) due_ = std::min(due_, cycle + 1);
}

// The time at which the first answer can start without delaying a scheduled packet, or kNever.
uint64_t Sender::answer_start(uint64_t cycle, const LineRate& rate) const {
    if (answers_.empty()) return kNever;
    const uint64_t start = std::max(cycle + 1, line_end_ + rate.cycles(kGap));
    const uint64_t end = start + rate.cycles(kPreamble + answers_.front().size() + kGap);
    return !source_ || source_->yields() || end <= source_->next_start(line_end_) ? start : kNever;
}

bool Sender::begin(uint64_t cycle, const LineRate& rate) {
    const uint64_t scheduled = source_ ? source_->next_start(line_end_) : kNever;
    const bool yields = source_ && source_->yields() && !answers_.empty();
    if (scheduled <= cycle && !yields) {
        packet_ = source_->take(scheduled);
    } else if (answer_start(cycle - 1, rate) == cycle) {
        packet_ = {cycle, with_preamble(answers_.front()), false};
        answers_.pop_front();
    } else {
        return false;
    }
    sent_ = 0;
    line_end_ = packet_.start + rate.cycles(packet_.octets.size());
    return true;
}

std::optional<Word> Sender::drive(uint64_t cycle, const LineRate& rate) {
    driven_ = false;
    if (packet_.octets.empty() && !begin(cycle, rate)) {
        plan(cycle, rate);
        return words_ ? relay(cycle) : std::nullopt;
    }
    const uint64_t size = packet_.octets.size();
    const auto arrival = [&] { return packet_.start + rate.cycles(std::min(sent_ + 4, size)); };
    std::optional<Word> word;
    if (arrival() <= cycle) {
        word = Word{0, static_cast<uint8_t>(std::min<uint64_t>(4, size - sent_)), sent_ + 4 >= size, packet_.error};
        for (unsigned i = 0; i < word->bytes; ++i) word->data |= uint32_t{packet_.octets[sent_ + i]} << 8 * i;
        sent_ += word->bytes;
        driven_ = true;
    }
    if (sent_ == size) {
        packet_.octets.clear();
        plan(cycle, rate);
    } else {
        due_ = driven_ ? cycle + 1 : arrival();
    }
    return word;
}

std::optional<Word> Sender::relay(uint64_t cycle) {
    if (words_->due() > cycle) return std::nullopt;
    driven_ = true;
    due_ = std::min(due_, cycle + 1);
    line_end_ = cycle;
    return words_->take();
}

// Receiver ----------------------------------------------------------------------------------------

std::optional<Departure> Receiver::receive(const Word& word, unsigned port, uint64_t cycle, const LineRate& rate) {
    if (octets_.empty()) start_ = cycle;
    for (unsigned i = 0; i < word.bytes && octets_.size() < kLongest; ++i) octets_.push_back(word.data >> 8 * i & 0xff);
    if (!word.last) return std::nullopt;

    Departure out;
    out.port = port;
    out.start = start_ + rate.cycles(kPreamble);
    out.end = cycle + rate.cycles(word.bytes);
    const Octets preamble = with_preamble({});
    out.preamble_ok = octets_.size() >= kPreamble && std::equal(preamble.begin(), preamble.end(), octets_.begin());
    // If an octet is not a whole number of cycles, the device's clock rounds by up to one cycle.
    out.gap_ok = first_ || start_ + !rate.exact() >= line_end_ + rate.cycles(kGap) - !rate.exact();
    out.frame.assign(octets_.begin() + std::min(kPreamble, octets_.size()), octets_.end());
    line_end_ = out.end;
    first_ = false;
    octets_.clear();
    return out;
}
