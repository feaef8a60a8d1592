// SPDX-License-Identifier: BSD-2-Clause
// The tester at the PHY side of all ports: drives the lines, sorts what leaves, answers ARP and ping.
#pragma once

#include <array>
#include <vector>

#include "soc_config.h"
#include "line.h"

// What left one port, since reset.
struct Left {
    uint64_t frames = 0;
    uint64_t test = 0, arp = 0, other = 0;                           // good FCS, by kind
    uint64_t bad_fcs = 0, unrecognised = 0;                          // damaged frames
    uint64_t bad_preamble = 0, short_gap = 0;                        // damage around a frame
    uint64_t answered = 0;                                           // by the tester itself
    Left operator-(const Left& earlier) const;
};

// What a trial or a replay does with the lines while it is attached.
class Traffic {
public:
    virtual ~Traffic() = default;
    virtual PacketSource* source(unsigned port) = 0;  // null: nothing to send there
    // A frame left: the frames that shall be judged (a trial may break one on purpose).
    virtual std::vector<Departure> left(Departure departure) = 0;
    // Judges a test frame. False: it is none of this traffic's.
    virtual bool judge(TestFrame identity, const Departure& departure) = 0;
    virtual bool judges() const = 0;
};

class Tester {
public:
    Tester() : rate_(100, kSysClkHz) {}

    void set_rate(const LineRate& rate) { rate_ = rate; }
    const LineRate& rate() const { return rate_; }
    void echo_udp() { udp_echo_ = true; }

    void attach(Traffic* traffic, uint64_t cycle);
    void detach(uint64_t cycle) { attach(nullptr, cycle); }
    bool attached() const { return traffic_ != nullptr; }

    // The next cycle in which drive() has something to do.
    uint64_t due() const;
    Sender& sender(unsigned port) { return senders_[port]; }
    // A word left the device.
    void word(const Word& word, unsigned port, uint64_t cycle);

    const Left& left(unsigned port) const { return left_[port]; }
    // When every line into the device is free for a minimum gap.
    uint64_t free_at(uint64_t cycle) const;
    bool answering() const;

    template <class Archive> void state(Archive& archive) {
        archive(rate_);
        for (unsigned port = 0; port < kPorts; ++port) archive(senders_[port], receivers_[port], left_[port]);
    }

private:
    LineRate rate_;
    std::array<Sender, kPorts> senders_;
    std::array<Receiver, kPorts> receivers_;
    std::array<Left, kPorts> left_;
    Traffic* traffic_ = nullptr;
    bool udp_echo_ = false;

    void judge(const Departure& departure, uint64_t cycle);
};
