// SPDX-License-Identifier: BSD-2-Clause
#include "tester.h"

#include <algorithm>

#include "answer.h"

Egress Egress::operator-(const Egress& earlier) const {
    Egress out = *this;
    out.frames -= earlier.frames;
    out.test -= earlier.test;
    out.arp -= earlier.arp;
    out.other -= earlier.other;
    out.bad_fcs -= earlier.bad_fcs;
    out.unrecognised -= earlier.unrecognised;
    out.bad_preamble -= earlier.bad_preamble;
    out.short_gap -= earlier.short_gap;
    out.answered -= earlier.answered;
    return out;
}

void Tester::attach(Traffic* traffic, uint64_t cycle) {
    traffic_ = traffic;
    for (unsigned port = 0; port < kPorts; ++port) {
        senders_[port].schedule(traffic ? traffic->source(port) : nullptr, cycle, rate_);
        senders_[port].follow(traffic ? traffic->words(port) : nullptr);
    }
}

uint64_t Tester::due() const {
    uint64_t due = kNever;
    for (const Sender& sender : senders_) due = std::min(due, sender.due());
    return due;
}

void Tester::receive(const Word& word, unsigned port, uint64_t cycle) {
    if (traffic_) traffic_->left(port, word, cycle);
    auto departure = receivers_[port].receive(word, port, cycle, rate_);
    if (!departure) return;
    if (!traffic_) return judge(*departure, cycle);
    for (const Departure& seen : traffic_->sent(std::move(*departure))) judge(seen, cycle);
}

void Tester::judge(const Departure& departure, uint64_t cycle) {
    Egress& egress = egress_[departure.port];
    ++egress.frames;
    egress.bad_preamble += !departure.preamble_ok;
    egress.short_gap += !departure.gap_ok;
    if (!fcs_ok(departure.frame)) {
        ++egress.bad_fcs;
    } else if (traffic_ && traffic_->judges() && is_test_frame(departure.frame)) {
        const auto identity = identify(departure.frame);
        ++(identity && traffic_->judge(*identity, departure) ? egress.test : egress.unrecognised);
    } else {
        ++(ether_type(departure.frame) == kEtherTypeArp ? egress.arp : egress.other);
        if (traffic_ && !traffic_->answered()) return;
        if (const auto back = answer(departure.frame, departure.port, udp_echo_)) {
            ++egress.answered;
            if (traffic_) traffic_->answering(departure.port, cycle, *back);
            senders_[departure.port].answer(*back, cycle, rate_);
        }
    }
}

uint64_t Tester::free_at(uint64_t cycle) const {
    for (const Sender& sender : senders_) cycle = std::max(cycle, sender.line_end() + rate_.cycles(kGap));
    return cycle;
}

bool Tester::answering() const {
    return std::any_of(senders_.begin(), senders_.end(), [](const Sender& sender) { return sender.busy(); });
}
