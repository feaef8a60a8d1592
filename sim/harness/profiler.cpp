// SPDX-License-Identifier: BSD-2-Clause
#include "profiler.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "file.h"

void Profiler::start(uint64_t every) {
    *this = Profiler();
    every_ = every;
}

void Profiler::stop(const std::string& path) {
    std::vector<std::pair<uint64_t, uint64_t>> rows(histogram_.begin(), histogram_.end());
    std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    std::string text;
    char line[64];
    if (idle_) text += "idle - " + std::to_string(idle_) + "\n";
    for (const auto& [key, count] : rows) {
        std::snprintf(line, sizeof line, "%u 0x%08x %llu\n", static_cast<unsigned>(key >> 32),
                      static_cast<unsigned>(key), static_cast<unsigned long long>(count));
        text += line;
    }
    write_file(path, text.data(), text.size());
    *this = Profiler();
}
