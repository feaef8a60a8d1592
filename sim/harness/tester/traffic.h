// SPDX-License-Identifier: BSD-2-Clause
// What the tester has to do with the device for a while: a trial, a replay, connections over TCP.
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
    // Why nothing else may begin, and what to do about it.
    virtual const char* busy() const = 0;
    virtual Window window() const { return {}; }
    // Whether it sends no more unsolicited frames, as of a cycle.
    virtual bool finished(uint64_t cycle) const = 0;
    // The last cycle in which it sends, if that is known before; else 0.
    virtual uint64_t last_cycle() const { return 0; }

    // The next cycle in which advance() has something to do: what happened up to the end of the cycle before.
    virtual uint64_t due() const { return kNever; }
    // Returns whether a line may have something else to take.
    virtual bool advance(uint64_t) { return false; }

    virtual PacketSource* source(unsigned port) = 0;  // null: nothing to send there
    virtual WordSource* words(unsigned) { return nullptr; }  // or words from another simulator instead
    // A word left the device in that cycle,
    virtual void left(unsigned /*port*/, const Word&, uint64_t /*cycle*/) {}
    // and by now a whole frame: the frames that shall be judged (a trial may break one on purpose).
    virtual std::vector<Departure> sent(Departure departure) = 0;
    // Whether the tester's own stations answer: not if somebody else is there in their place.
    virtual bool answered() const { return true; }
    // They do: the frame enters the port as soon as its line is free.
    virtual void answering(unsigned /*port*/, uint64_t /*cycle*/, const Octets& /*frame*/) {}
    // Whether a run shall return now and then before its limit, for what else there is to see to.
    virtual bool returns() const { return false; }
    // What it types at the console, after advance().
    virtual std::string keys() { return {}; }
    // Whether it judges test frames, and if so one. False: the frame does not belong to this traffic.
    virtual bool judges() const { return false; }
    virtual bool judge(TestFrame, const Departure&) { return false; }

    // What the device did in a cycle: the line of a source of the PLIC changed; a MAC said that something happened.
    virtual void switched(uint64_t, unsigned /*source*/, bool /*up*/) {}
    virtual void happened(uint64_t, unsigned /*port*/, unsigned /*event*/) {}

    // Writes what was to be captured.
    virtual void save_captures() const = 0;

private:
    uint64_t start_;
};
