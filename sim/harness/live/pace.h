// SPDX-License-Identifier: BSD-2-Clause
// Keeps simulated time from passing faster than `ratio` times wall-clock time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "soc_config.h"

class Pace {
public:
    using Seconds = std::chrono::duration<double>;
    static constexpr double kLeast = 1e-6;  // lower limit of ratio: 10 ms per cycle, so that no rest is too long

    Pace(double ratio, uint64_t cycle) : ratio_(ratio), cycle_(cycle) {}

    // How much too early a reached cycle is. Only the latest delay is compensated, such as a rest that was too long.
    Seconds early(uint64_t cycle) {
        const Seconds due(static_cast<double>(cycle - cycle_) / kSysClkHz / ratio_);
        const Seconds passed = Clock::now() - time_;
        if (passed - due <= kMadeUp) return std::max(due - passed, Seconds(0));
        cycle_ = cycle;
        time_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(kMadeUp);
        return Seconds(0);
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr Seconds kMadeUp{0.02};
    double ratio_;
    uint64_t cycle_;  // reached at
    Clock::time_point time_ = Clock::now();
};
