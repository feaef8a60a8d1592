// SPDX-License-Identifier: BSD-2-Clause
// States of a replay to which it can go back. From each of them, the same cycles follow as the first time.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "live.h"
#include "simulation.h"

class History {
public:
    // Stores the current state, the first one.
    History(Simulation& simulation, Live& live);
    // Stores the current state if that takes little time, compared with the time since the last stored one.
    void reached();
    // Goes to the latest state at or before a cycle, which must not be before the first one.
    void back(uint64_t cycle);
    uint64_t first() const { return kept_.front().cycle; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr size_t kMost = 32;  // states of some megabytes each; at the limit every second one is removed
    static constexpr unsigned kApart = 40;  // times as long as storing a state takes, initially

    struct Kept {
        uint64_t cycle;
        std::vector<uint8_t> state;  // packed
    };
    Simulation& simulation_;
    Live& live_;
    std::vector<Kept> kept_;  // by cycle
    unsigned apart_ = kApart;
    Clock::time_point latest_;
    Clock::duration taken_;

    void keep();
    void thin();
};
