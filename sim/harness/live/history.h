// SPDX-License-Identifier: BSD-2-Clause
// States of a replay, to go back to. From each of them, the same cycles follow as the first time.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "live.h"
#include "simulation.h"

class History {
public:
    // Keeps the present state, the first one.
    History(Simulation& simulation, Live& live);
    // Keeps the state that was reached, if that takes little time compared with the time since the last one.
    void reached();
    // To the latest state at or before a cycle; there is none before the first one.
    void back(uint64_t cycle);
    uint64_t first() const { return kept_.front().cycle; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr size_t kMost = 32;  // of some megabytes; then every second one goes
    static constexpr unsigned kApart = 40;  // times as long as it takes to keep one, at first

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
