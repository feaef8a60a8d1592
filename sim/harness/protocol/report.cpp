// SPDX-License-Identifier: BSD-2-Clause
#include "report.h"

#include <algorithm>

using Json = nlohmann::ordered_json;

Json events_report(const Counters& counters, unsigned port) {
    Json out = Json::object();
    for (unsigned event = 0; event < kEvents; ++event) out[kEventNames[event]] = counters.events[port][event];
    return out;
}

Json withdrawn_report(const Counters& counters, unsigned port) {
    const auto sum = [&](uint32_t sources) {
        int64_t all = 0;
        for (unsigned source = 0; source <= kSources; ++source)
            if (sources >> source & 1) all += counters.withdrawn[source];
        return all;
    };
    return {{"rx", sum(kLines[port][0])}, {"tx", sum(kLines[port][1])}};
}

Json egress_report(const Egress& egress) {
    return {{"frames", egress.frames},
            {"test", egress.test},
            {"arp", egress.arp},
            {"other", egress.other},
            {"bad_fcs", egress.bad_fcs},
            {"bad_preamble", egress.bad_preamble},
            {"short_gap", egress.short_gap},
            {"unrecognised", egress.unrecognised},
            {"answered", egress.answered}};
}

Json order_statistics(const std::vector<uint64_t>& percentiles) {
    if (percentiles.empty()) return nullptr;
    return {{"min", percentiles[0]}, {"median", percentiles[50]}, {"p99", percentiles[99]}, {"max", percentiles[100]}};
}

std::vector<uint64_t> percentiles_if_any(const std::vector<uint64_t>& values) {
    return values.empty() ? values : percentiles(values);
}

namespace {

void append(std::vector<uint64_t>& all, const std::vector<uint64_t>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

// Of each part of the window that has ended.
Json least_outstanding(const Trial& trial, const Checker& checker, uint64_t now) {
    Json out = Json::array();
    for (unsigned part = 0; part < Trial::kParts && trial.part(part + 1) <= now; ++part)
        out.push_back(checker.least_outstanding(trial.part(part), trial.part(part + 1)));
    return out;
}

Json pause(const std::optional<std::pair<uint64_t, uint64_t>>& pause) {
    if (!pause) return nullptr;
    return {{"start_cycle", pause->first}, {"end_cycle", pause->second}};
}

// For the frames that entered at a port; `out`: the port where they leave.
Json direction_report(const Trial& trial, const Trial::Direction& direction, const Egress& out, uint64_t now) {
    const Checker::Counts& counts = direction.checker.counts();
    const uint64_t offered = direction.generator.offered();
    const uint64_t begin = trial.window_begin(), end = std::max(begin, std::min(trial.window_end(), now));
    const auto lost = direction.checker.last_lost();
    return {
        {"offered", offered},
        {"forwarded", counts.forwarded},
        {"lost", offered - counts.forwarded},
        {"corrupted",
         counts.length + counts.addresses + counts.header + counts.payload + out.bad_fcs + out.unrecognised},
        {"corruption",
         {{"length", counts.length},
          {"addresses", counts.addresses},
          {"header", counts.header},
          {"payload", counts.payload},
          {"fcs", out.bad_fcs},
          {"unrecognised", out.unrecognised}}},
        {"reordered", counts.reordered},
        {"duplicated", counts.duplicated},
        {"last_lost_cycle", lost ? Json(*lost) : Json(nullptr)},
        {"longest_pause", pause(direction.checker.longest_pause())},
        {"latency_cycles", order_statistics(percentiles_if_any(direction.checker.latencies()))},
        {"window",
         {{"offered", direction.generator.offered_by(end) - direction.generator.offered_by(begin)},
          {"forwarded", direction.checker.forwarded_within(begin, end)},
          {"least_outstanding", least_outstanding(trial, direction.checker, now)}}},
    };
}

}  // namespace

Json counters_report(const Counters& counters) {
    Json ports = Json::array();
    for (unsigned port = 0; port < kPorts; ++port)
        ports.push_back({{"events", events_report(counters, port)}, {"withdrawn", withdrawn_report(counters, port)}});
    return {{"idle_cycles", counters.idle}, {"claims", counters.claims}, {"ports", ports}};
}

Json uses_report(const Model::Uses& uses) {
    Json out = Json::object();
    for (unsigned client = 0; client < kClients; ++client)
        for (unsigned use = 0; use < kUses; ++use) out[kClientNames[client]][kUseNames[use]] = uses[client][use];
    return out;
}

Json cost_report(const CallTree::Cost& cost) {
    Json causes;
    for (unsigned cause = 0; cause < kCauses; ++cause) causes[kCauseNames[cause]] = cost.cycles[cause];
    return {{"cycles", cost.total()}, {"causes", causes}, {"interrupts_enabled", cost.interrupts}};
}

Json trial_progress(const Trial& trial) {
    uint64_t offered = 0, forwarded = 0, frames = 0;
    for (unsigned port = 0; port < kPorts; ++port) {
        const Trial::Direction* direction = trial.direction(port);
        if (!direction) continue;
        frames += direction->generator.offer().all_frames();
        offered += direction->generator.offered();
        forwarded += direction->checker.counts().forwarded;
    }
    return {{"offered", offered}, {"forwarded", forwarded}, {"frames", frames}};
}

Json replay_progress(const Replay&) { return Json::object(); }

Json trial_report(const Simulation& simulation, const Trial& trial, bool quiet) {
    const auto now = simulation.snapshot();
    const Counters whole = now.counters - simulation.at_start().counters;
    const Counters window = simulation.window();
    Json ports = Json::array();
    std::vector<uint64_t> latencies, probes;  // of both directions
    for (unsigned port = 0; port < kPorts; ++port) {
        const Trial::Direction* direction = trial.direction(port);
        Json report = Json::object();
        if (direction) {
            const unsigned out = direction->generator.out_port();
            report = direction_report(trial, *direction, now.egress[out] - simulation.at_start().egress[out],
                                      simulation.cycle());
            append(latencies, direction->checker.latencies());
            append(probes, direction->checker.probe_latencies());
        }
        report["events"] = events_report(whole, port);
        report["window_events"] = events_report(window, port);
        report["withdrawn"] = withdrawn_report(whole, port);
        report["left"] = egress_report(now.egress[port] - simulation.at_start().egress[port]);
        ports.push_back(report);
    }
    const auto percentiles = percentiles_if_any(latencies);
    return {{"start_cycle", trial.start()},
            {"offered_cycle", trial.offered_cycle()},
            {"end_cycle", simulation.cycle()},
            {"quiet", quiet},
            {"ports", ports},
            {"latency_cycles", order_statistics(percentiles)},
            {"latency_percentiles", percentiles},
            {"probe_latency_cycles", order_statistics(percentiles_if_any(probes))},
            {"window",
             {{"start_cycle", trial.window_begin()},
              {"end_cycle", trial.window_end()},
              {"idle_cycles", window.idle},
              {"claims", window.claims}}},
            {"idle_cycles", whole.idle}};
}

Json replay_report(const Simulation& simulation, const Replay& replay, bool quiet) {
    const auto now = simulation.snapshot();
    const Counters whole = now.counters - simulation.at_start().counters;
    Json ports = Json::array();
    for (unsigned port = 0; port < kPorts; ++port)
        ports.push_back({{"offered", replay.offered(port)},
                         {"events", events_report(whole, port)},
                         {"withdrawn", withdrawn_report(whole, port)},
                         {"left", egress_report(now.egress[port] - simulation.at_start().egress[port])}});
    return {{"start_cycle", replay.start()}, {"end_cycle", simulation.cycle()}, {"quiet", quiet}, {"ports", ports}};
}
