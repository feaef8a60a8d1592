// SPDX-License-Identifier: BSD-2-Clause
// Where hart 0 spends its time: a histogram of program counters by privilege.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

class Profiler {
public:
    // Takes a sample each `every` cycles, or of every retired instruction if that is 1. A sample
    // belongs to the next instruction that retires: the one that the hart was working on.
    void start(uint64_t every);
    bool running() const { return every_ != 0; }

    // Ends, and writes lines "privilege pc count", most frequent first. Atomic.
    void stop(const std::string& path);

    // Called in every cycle.
    void cycle(bool waiting, bool retired, uint32_t pc, uint8_t privilege) {
        if (every_ > 1 && ++since_ == every_) {
            since_ = 0;
            if (waiting) ++idle_;
            else ++pending_;
        }
        if (!retired) return;
        const uint64_t count = every_ == 1 ? 1 : pending_;
        if (count) histogram_[uint64_t{privilege} << 32 | pc] += count;
        pending_ = 0;
    }

private:
    uint64_t every_ = 0, since_ = 0, pending_ = 0, idle_ = 0;
    std::unordered_map<uint64_t, uint64_t> histogram_;
};
