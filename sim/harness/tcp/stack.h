// SPDX-License-Identifier: BSD-2-Clause
// lwIP with an interface at every port, in simulated time. lwIP has but one state, so there is one of these at a time.
#pragma once

#include <functional>
#include <memory>

#include "tester/frame.h"

class Stack {
public:
    // Takes a frame for a port, without FCS.
    using Output = std::function<void(unsigned port, Octets frame)>;

    // `window`: octets that each of its connections can receive ahead of its reader. `start`: the cycle.
    Stack(uint32_t window, uint64_t start, Output output);
    ~Stack();  // without a word to the other ends
    Stack(const Stack&) = delete;

    // Of lwIP's time stamps, and the callbacks'.
    static void set_now(uint64_t cycle);
    static uint64_t now();

    // A frame with good FCS came in at a port.
    void input(unsigned port, const Octets& frame);
    // The next cycle in which lwIP's timers are due, and what to call then.
    uint64_t due() const { return due_; }
    void tick();
    // Whether any connection is still open, or closing (but for those that only wait for old segments: TIME-WAIT).
    bool active() const;

private:
    struct Interfaces;
    std::unique_ptr<Interfaces> interfaces_;
    Output output_;
    uint64_t due_;
    uint64_t ticks_ = 0;
    uint16_t identification_ = 0;
};
