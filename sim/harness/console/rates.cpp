// SPDX-License-Identifier: BSD-2-Clause
#include "rates.h"

#include <cstring>

namespace {

// The events of all ports whose names begin with this.
uint64_t sum(const Counters& counters, const char* begin) {
    uint64_t total = 0;
    for (const auto& port : counters.events)
        for (unsigned event = 0; event < kEvents; ++event)
            if (std::strncmp(kEventNames[event], begin, std::strlen(begin)) == 0) total += port[event];
    return total;
}

}  // namespace

std::string Rates::line() {
    const uint64_t cycles = simulation_.cycle() - cycle_;
    if (!cycles) return "";
    const Simulation::Snapshot now = simulation_.snapshot();
    const Counters events = now.counters - before_.counters;
    uint64_t forwarded = 0;
    for (unsigned port = 0; port < kPorts; ++port) forwarded += (now.egress[port] - before_.egress[port]).test;
    cycle_ = simulation_.cycle();
    before_ = now;
    const auto rate = [&](uint64_t count) { return static_cast<unsigned long long>(count * kSysClkHz / cycles); };
    char text[160];
    std::snprintf(text, sizeof text, "%.2f s: %llu received, %llu forwarded, %llu dropped, %llu interrupts per second",
                  static_cast<double>(cycle_) / kSysClkHz, rate(sum(events, "rx_completed")), rate(forwarded),
                  rate(sum(events, "rx_drop_")), rate(sum(events, "rx_interrupt") + sum(events, "tx_interrupt")));
    return text;
}
