// SPDX-License-Identifier: BSD-2-Clause
#include "history.h"

#include <algorithm>
#include <utility>

#include "state/checkpoint.h"

History::History(Simulation& simulation, Live& live) : simulation_(simulation), live_(live) { keep(); }

void History::reached() {
    if (Clock::now() - latest_ < apart_ * taken_ || simulation_.cycle() <= kept_.back().cycle) return;
    if (kept_.size() == kMost) thin();
    keep();
}

void History::back(uint64_t cycle) {
    const auto behind = std::upper_bound(kept_.begin(), kept_.end(), cycle,
                                         [](uint64_t cycle, const Kept& kept) { return cycle < kept.cycle; });
    const std::vector<uint8_t> state = unpack(std::prev(behind)->state);
    Loader loader(state);
    simulation_.state(loader);
    live_.state(loader);
    simulation_.restored();
}

void History::keep() {
    const auto begin = Clock::now();
    Saver saver;
    simulation_.state(saver);
    live_.state(saver);
    kept_.push_back({simulation_.cycle(), pack(saver.take())});
    latest_ = Clock::now();
    taken_ = latest_ - begin;
}

void History::thin() {
    size_t left = 1;  // the first state is always kept
    for (size_t number = 2; number < kept_.size(); number += 2) kept_[left++] = std::move(kept_[number]);
    kept_.resize(left);
    apart_ *= 2;
}
