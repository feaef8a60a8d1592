// SPDX-License-Identifier: BSD-2-Clause
#include "clock.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace {

constexpr double kSlice = 1 << 20;         // cycles of a step, of a guest that sleeps: 10 ms; others return earlier
constexpr Pace::Seconds kMostEarly(0.02);  // that frames, which end a rest, can make the simulated time be early

bool closed(int pipe) {
    pollfd input = {pipe, POLLIN, 0};
    char byte;
    return ::poll(&input, 1, 0) > 0 && ::read(pipe, &byte, 1) <= 0;
}

}  // namespace

bool LiveClock::over() const {
    const LivePlan& plan = live_.plan();
    return live_.finished(simulation_.cycle()) || (plan.until_closed != LivePlan::kNobody && closed(plan.until_closed));
}

void LiveClock::step() {
    live_.look_soon();
    const double slice = live_.replaying() ? kSlice : kSlice * std::min(live_.plan().pace, 1.0);
    const uint64_t limit = simulation_.cycle() + static_cast<uint64_t>(slice) + 1;
    simulation_.run(std::min(limit, live_.plan().until.value_or(limit)));
    live_.check();
}

void LiveClock::rest(int other, Pace::Seconds least) {
    if (live_.replaying()) return;
    const Pace::Seconds early = std::max(pace_.early(simulation_.cycle()), least);
    if (early <= Pace::Seconds(0)) return;
    live_.wait(early, other);
    const Pace::Seconds still = pace_.early(simulation_.cycle());
    if (still > kMostEarly) std::this_thread::sleep_for(still - kMostEarly);
}
