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

    // Whether the session's last cycle, or the end of its pipe, has come, or it was `asked` to end. A replay that a page
    // shows stops at its last cycle until that is closed. With a wire both boxes end in the same cycle, also if a
    // guest powers off: then it says so by an Ended.
    bool over(bool asked = false);
    // Looks at the inputs, and runs for some milliseconds, of real time if the guest is busy.
    void step();
    // Real time catches up, unless a host has a frame or `other` can be read; for `least` at least.
    void rest(int other, Pace::Seconds least = Pace::Seconds(0));

private:
    Simulation& simulation_;
    Live& live_;
    Pace pace_;
    std::optional<Window> window_;
    std::optional<Ended> ended_;  // with a wire: the session goes on until the other box knows

    void run(uint64_t limit);
    void run_wired(Wire& wire, uint64_t limit);
    std::optional<double> ratio() const;
    bool serve();
};
