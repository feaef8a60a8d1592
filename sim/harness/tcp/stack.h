// SPDX-License-Identifier: BSD-2-Clause
// lwIP with an interface at every port, in simulated time. lwIP's state is global, so only one Stack can exist.
#pragma once

#include <functional>
#include <memory>

#include "tester/frame.h"

class Stack {
public:
    // Takes a frame for a port, without FCS.
    using Output = std::function<void(unsigned port, Octets frame)>;

    // `window`: octets that each of its connections can buffer for its reader. `start`: the cycle.
    Stack(uint32_t window, uint64_t start, Output output);
    ~Stack();  // sends nothing to the other ends
    Stack(const Stack&) = delete;

    // Of lwIP's time stamps, and the callbacks'.
    static void set_now(uint64_t cycle);
    static uint64_t now();

    // A frame with valid FCS arrived at a port.
    void input(unsigned port, const Octets& frame);
    // The next cycle in which lwIP's timers are due, and the call for them.
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
