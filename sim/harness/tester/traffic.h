// SPDX-License-Identifier: BSD-2-Clause
// The tester's temporary work: a trial, a replay, TCP connections, a live session.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "line.h"

class Traffic {
public:
    // The steady state, as far as its first and last cycle are known.
    struct Window {
        std::optional<uint64_t> begin, end;
    };

    explicit Traffic(uint64_t start) : start_(start) {}
    virtual ~Traffic() = default;

    uint64_t start() const { return start_; }
    // Why no other traffic may begin, and the remedy.
    virtual const char* busy() const = 0;
    virtual Window window() const { return {}; }
    // Whether it sends no more unsolicited frames after a cycle.
    virtual bool finished(uint64_t cycle) const = 0;
    // The last cycle in which it sends, if known in advance; else 0.
    virtual uint64_t last_cycle() const { return 0; }

    // The next cycle in which advance() has work: it sees events up to the end of the previous cycle.
    virtual uint64_t due() const { return kNever; }
    // Returns whether a line may have a new packet.
    virtual bool advance(uint64_t) { return false; }

    virtual PacketSource* source(unsigned port) = 0;  // null: none for this port
    virtual WordSource* words(unsigned) { return nullptr; }  // words from another simulator, instead of packets
    // A word left the device in that cycle.
    virtual void left(unsigned /*port*/, const Word&, uint64_t /*cycle*/) {}
    // Called with a complete frame: returns the frames to check (a trial may damage one on purpose).
    virtual std::vector<Departure> sent(Departure departure) = 0;
    // Whether the tester's stations answer: not if hosts have their addresses.
    virtual bool answered() const { return true; }
    // An answer enters the port as soon as its line is free.
    virtual void answering(unsigned /*port*/, uint64_t /*cycle*/, const Octets& /*frame*/) {}
    // Whether runs must return regularly before their limit, for other work.
    virtual bool returns() const { return false; }
    // Keys for the console, after advance().
    virtual std::string keys() { return {}; }
    // Whether a test frame is valid, if this traffic checks them. False: it is not a frame of this traffic.
    virtual bool judges() const { return false; }
    virtual bool judge(TestFrame, const Departure&) { return false; }

    // Events of the device in a cycle: the line of a source of the PLIC changed; a MAC reported an event.
    virtual void switched(uint64_t, unsigned /*source*/, bool /*up*/) {}
    virtual void happened(uint64_t, unsigned /*port*/, unsigned /*event*/) {}

    // Writes the captures.
    virtual void save_captures() const = 0;

private:
    uint64_t start_;
};
