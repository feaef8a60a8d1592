// SPDX-License-Identifier: BSD-2-Clause
// The fates of the frames that the tester offers while the user types.
#pragma once

#include <string>

#include "simulation.h"

class Rates {
public:
    explicit Rates(const Simulation& simulation)
        : simulation_(simulation), cycle_(simulation.cycle()), before_(simulation.snapshot()) {}
    // A line: both ports together, per simulated second since the previous line; empty if no time has passed.
    std::string line();

private:
    const Simulation& simulation_;
    uint64_t cycle_;
    Simulation::Snapshot before_;
};
