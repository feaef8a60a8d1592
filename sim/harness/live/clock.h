// SPDX-License-Identifier: BSD-2-Clause
// The clock of a live session: simulated, and wall-clock.
#pragma once

#include "live.h"
#include "simulation.h"
#include "window.h"

class LiveClock {
public:
    LiveClock(Simulation& simulation, Live& live)
        : simulation_(simulation), live_(live), pace_(live.plan().pace, simulation.cycle()) {
        if (live.plan().window != LivePlan::kNobody) window_.emplace(live.plan().window, simulation, live);
    }

    // Whether the session's last cycle has been reached, its pipe was closed, or it was `asked` to end. A replay with a page
    // stops at its last cycle until the page is closed. With a wire, both boxes end in the same cycle, also if a guest powers
    // off: then over() throws Ended.
    bool over(bool asked = false);
    // Reads the inputs, and runs for some milliseconds: of real time if the guest is busy.
    void step();
    // Waits for real time to catch up, for `least` at least, or until a host has a frame or `other` can be read.
    void rest(int other, Pace::Seconds least = Pace::Seconds(0));

private:
    Simulation& simulation_;
    Live& live_;
    Pace pace_;
    std::optional<Window> window_;
    std::optional<Ended> ended_;  // with a wire: the session continues until the other box is informed

    void run(uint64_t limit);
    void run_wired(Wire& wire, uint64_t limit);
    std::optional<double> ratio() const;
    bool serve();
};
