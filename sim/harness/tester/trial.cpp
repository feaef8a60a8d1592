// SPDX-License-Identifier: BSD-2-Clause
#include "trial.h"

#include <algorithm>

class Trial::Recorder final : public PacketSource {
public:
    Recorder(PacketSource& source, PcapWriter& file, const LineRate& rate)
        : source_(source), file_(file), rate_(rate) {}
    uint64_t next_start(uint64_t line_end) const override { return source_.next_start(line_end); }
    Packet take(uint64_t start) override {
        Packet packet = source_.take(start);
        file_.add(nanoseconds(start + rate_.cycles(kPreamble), kSysClkHz),
                  {packet.octets.begin() + kPreamble, packet.octets.end()});
        return packet;
    }

private:
    PacketSource& source_;
    PcapWriter& file_;
    LineRate rate_;
};

Trial::Trial(const TrialPlan& plan, uint64_t start, const LineRate& rate) : Traffic(start), plan_(plan) {
    for (const auto& [port, offer] : plan.offers) {
        const Generator generator(port, (port + 1) % kPorts, offer, start, rate, plan.seed);
        const uint64_t fifth = generator.last_bit((offer.all_frames() + 4) / 5 - 1);
        const uint64_t all = generator.last_bit(offer.all_frames() - 1);
        window_begin_ = std::max(window_begin_, fifth);
        window_end_ = std::min(window_end_, all);
        offered_cycle_ = std::max(offered_cycle_, all);
        directions_[port] = std::make_unique<Direction>(generator, plan.device);
    }
    // Directions that hardly overlap have no common steady state: the window is empty.
    window_end_ = std::max(window_end_, window_begin_);
    for (const Fault& fault : plan.faults) faults_.add(fault);
    if (plan.pcap.empty()) return;
    for (unsigned port = 0; port < kPorts; ++port) {
        in_[port], out_[port];
        if (directions_.count(port))
            recorders_[port] = std::make_unique<Recorder>(directions_[port]->generator, in_[port], rate);
    }
}

Trial::~Trial() = default;

// When the counters include events up to the ends of the window.
uint64_t Trial::due() const {
    for (const uint64_t end : {window_begin_, window_end_})
        if (reached_ <= end) return end + 1;
    return kNever;
}

bool Trial::advance(uint64_t cycle) {
    reached_ = cycle;
    return false;
}

PacketSource* Trial::source(unsigned port) {
    if (const auto found = recorders_.find(port); found != recorders_.end()) return found->second.get();
    const auto found = directions_.find(port);
    return found == directions_.end() ? nullptr : &found->second->generator;
}

const Trial::Direction* Trial::direction(unsigned port) const {
    const auto found = directions_.find(port);
    return found == directions_.end() ? nullptr : found->second.get();
}

std::vector<Departure> Trial::sent(Departure departure) {
    if (const auto found = out_.find(departure.port); found != out_.end())
        found->second.add(nanoseconds(departure.start, kSysClkHz), departure.frame);
    return faults_.pass(std::move(departure));
}

bool Trial::judge(TestFrame identity, const Departure& departure) {
    const auto found = directions_.find(identity.port);
    return found != directions_.end() && found->second->generator.out_port() == departure.port &&
           found->second->checker.check(identity.sequence, departure);
}

void Trial::save_captures() const {
    for (const auto& [port, file] : in_) file.save(plan_.pcap + "/port" + std::to_string(port) + "-in.pcap");
    for (const auto& [port, file] : out_) file.save(plan_.pcap + "/port" + std::to_string(port) + "-out.pcap");
}
