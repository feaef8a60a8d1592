// SPDX-License-Identifier: BSD-2-Clause
// The tester at the PHY side of all ports: drives the lines, classifies departures, answers ARP and ping.
#pragma once

#include <array>
#include <vector>

#include "soc_config.h"
#include "line.h"
#include "traffic.h"

// Frames that left one port, since reset.
struct Egress {
    uint64_t frames = 0;
    uint64_t test = 0, arp = 0, other = 0;                           // good FCS, by kind
    uint64_t bad_fcs = 0, unrecognised = 0;                          // damaged frames
    uint64_t bad_preamble = 0, short_gap = 0;                        // damage around a frame
    uint64_t answered = 0;                                           // by the tester itself
    Egress operator-(const Egress& earlier) const;
};

class Tester {
public:
    Tester() : rate_(100, kSysClkHz) {}

    void set_rate(const LineRate& rate) { rate_ = rate; }
    const LineRate& rate() const { return rate_; }
    void echo_udp() { udp_echo_ = true; }

    void attach(Traffic* traffic, uint64_t cycle);
    void detach(uint64_t cycle) { attach(nullptr, cycle); }

    // The next cycle in which drive() has something to do.
    uint64_t due() const;
    Sender& sender(unsigned port) { return senders_[port]; }
    // A word left the device.
    void receive(const Word& word, unsigned port, uint64_t cycle);

    const Egress& egress(unsigned port) const { return egress_[port]; }
    // The time at which every line into the device has been free for a minimum gap.
    uint64_t free_at(uint64_t cycle) const;
    bool answering() const;

    template <class Archive> void state(Archive& archive) {
        archive(rate_);
        for (unsigned port = 0; port < kPorts; ++port) archive(senders_[port], receivers_[port], egress_[port]);
    }

private:
    LineRate rate_;
    std::array<Sender, kPorts> senders_;
    std::array<Receiver, kPorts> receivers_;
    std::array<Egress, kPorts> egress_;
    Traffic* traffic_ = nullptr;
    bool udp_echo_ = false;

    void judge(const Departure& departure, uint64_t cycle);
};
