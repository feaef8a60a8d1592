// SPDX-License-Identifier: BSD-2-Clause
// Where the harts' time goes: the cycles that a running profile charged since the last report.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiler/profiler.h"

class Stacks {
public:
    // Per hart: functions with their callers that are not reported yet, and the cycles of all, except waiting.
    // README.md has the fields.
    nlohmann::ordered_json tell(const Profiler& profiler);
    // The report arrived. Otherwise the next one repeats its nodes.
    void told() { told_ = telling_; }

private:
    static constexpr size_t kMostNodes = 1000;  // per report: the length of a message is limited
    using Busy = std::vector<uint64_t>;  // cycles of each reported node
    std::array<Busy, kHarts> told_, telling_;
};
