// SPDX-License-Identifier: BSD-2-Clause
// Where the harts' time goes meanwhile: what a running profile was charged since the last report.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiler/profiler.h"

class Stacks {
public:
    // Per hart: functions with their callers not reported yet, and the cycles of all, except waiting.
    // README.md has the fields.
    nlohmann::ordered_json tell(const Profiler& profiler);
    // It arrived. Else the next report repeats it.
    void told() { told_ = telling_; }

private:
    static constexpr size_t kMostNodes = 1000;  // at a time: a message has an end
    using Busy = std::vector<uint64_t>;  // cycles, of each node that was reported
    std::array<Busy, kHarts> told_, telling_;
};
