// SPDX-License-Identifier: BSD-2-Clause
// Where the harts' time goes meanwhile: what a profile under way was charged since it was told last.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiler/profiler.h"

class Stacks {
public:
    // Of each hart: functions with their callers that were not told yet, and the cycles of all, but those of waiting.
    // README.md has the fields.
    nlohmann::ordered_json tell(const Profiler& profiler);
    // It was heard. Else the next one tells of the same, too.
    void told() { told_ = telling_; }

private:
    static constexpr size_t kMostNodes = 1000;  // at a time: a message has an end
    using Busy = std::vector<uint64_t>;  // cycles, of each node that was told
    std::array<Busy, kHarts> told_, telling_;
};
