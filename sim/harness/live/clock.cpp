// SPDX-License-Identifier: BSD-2-Clause
#include "clock.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace {

constexpr double kSlice = 1 << 20;         // cycles per step while a guest sleeps: 10 ms; else less
constexpr Pace::Seconds kMostEarly(0.02);  // that simulated time may run ahead, when frames end a rest
constexpr Pace::Seconds kStill(0.02);      // between checks for the end of a pause
constexpr Pace::Seconds kLongestRun(0.02);  // between checks of the console, with a wire
using Clock = std::chrono::steady_clock;

bool closed(int pipe) {
    pollfd input = {pipe, POLLIN, 0};
    char byte;
    return ::poll(&input, 1, 0) > 0 && ::read(pipe, &byte, 1) <= 0;
}

}  // namespace

bool LiveClock::over(bool asked) {
    const LivePlan& plan = live_.plan();
    asked = asked || (plan.until_closed != LivePlan::kNobody && closed(plan.until_closed));
    const bool finished = live_.finished(simulation_.cycle());
    Wire* const wire = live_.wire();
    if (!wire) return (finished && !(window_ && window_->looked_at_replay())) || asked;
    if (finished || asked || (ended_ && !live_.replaying())) wire->end(simulation_.cycle());
    if (finished && ended_) throw Ended(*ended_);
    return finished;
}

// Simulated seconds per second; none: no limit.
std::optional<double> LiveClock::ratio() const {
    const auto slower = window_ ? window_->ratio() : std::nullopt;
    if (live_.replaying()) return window_ && window_->stop() != kNever ? std::nullopt : slower;  // a jump takes no time
    return std::min(live_.plan().pace, slower.value_or(live_.plan().pace));
}

void LiveClock::step() {
    if (window_ && !serve()) return;
    if (!live_.wire()) live_.look_soon();  // with a wire, the other box knows when that is due
    const uint64_t cycle = simulation_.cycle();
    const auto slice = static_cast<uint64_t>(kSlice * std::min(ratio().value_or(1), 1.0));
    const uint64_t limit = std::min(cycle + slice + 1, live_.plan().until.value_or(kNever));
    run(window_ ? std::min(limit, std::max(window_->stop(), cycle + 1)) : limit);
    live_.check();
    if (!window_) return;
    window_->reached(simulation_.cycle());
    window_->show();
}

void LiveClock::run(uint64_t limit) {
    Wire* const wire = live_.wire();
    if (!wire) return simulation_.run(limit);
    try {
        run_wired(*wire, limit);
    } catch (const Ended& ended) { ended_ = ended; }
    wire->tell(simulation_.next_output());
}

// Like Simulation::run(), in steps that are safe with respect to the other box. It gets a step's words before the first of
// them can arrive.
void LiveClock::run_wired(Wire& wire, uint64_t limit) {
    const auto begin = Clock::now();
    do {
        wire.receive();
        if (wire.asked_to_end()) wire.end(simulation_.cycle());
        if (const auto end = wire.agreed()) {
            live_.end_at(*end);
            limit = std::min(limit, *end);
        }
        const uint64_t next = simulation_.next_output();
        const uint64_t step = std::min({limit, wire.horizon(), next - 1 + wire.lookahead()});
        if (simulation_.cycle() < step) {
            simulation_.run(step);
            if (simulation_.stopped()) return;
            if (wire.awaited(simulation_.cycle())) wire.tell(simulation_.next_output());
        } else if (simulation_.cycle() < limit) {
            wire.tell(next);
            wire.wait();
            if (simulation_.progress) simulation_.progress(simulation_.cycle());
        }
    } while (simulation_.cycle() < limit && Clock::now() - begin < kLongestRun);
}

// Whether the session continues.
bool LiveClock::serve() {
    const auto before = ratio();
    const uint64_t cycle = simulation_.cycle();
    window_->serve();
    if (ratio() != before || simulation_.cycle() != cycle) pace_ = Pace(ratio().value_or(1), simulation_.cycle());
    if (!window_->paused()) return true;
    window_->show();
    if (simulation_.progress) simulation_.progress(simulation_.cycle());  // may stop the session
    window_->wait(kStill);
    pace_ = Pace(ratio().value_or(1), simulation_.cycle());
    return false;
}

void LiveClock::rest(int other, Pace::Seconds least) {
    if (!ratio() || (window_ && window_->paused())) return;
    const Pace::Seconds early = std::max(pace_.early(simulation_.cycle()), least);
    if (early <= Pace::Seconds(0)) return;
    live_.wait(early, other);
    const Pace::Seconds still = pace_.early(simulation_.cycle());
    if (still > kMostEarly) std::this_thread::sleep_for(still - kMostEarly);
}
