// SPDX-License-Identifier: BSD-2-Clause
#include "live_json.h"

#include <algorithm>

#include "fields.h"
#include "report.h"

namespace {

using Json = nlohmann::ordered_json;

Json passed(const Live::Passed& passed) { return {{"frames", passed.frames}, {"octets", passed.octets}}; }

std::string file(const Json& command, const char* field) {
    return command.contains(field) ? text(command, field) : std::string();
}

// The start is the cycle after the current one: a session without a cycle ends before its start.
uint64_t begun(const Simulation& simulation, const Live& live) { return std::min(live.start(), simulation.cycle()); }

}  // namespace

LivePlan parse_live(const Json& command) {
    LivePlan plan;
    const Json hosts = command.value("hosts", Json::array());
    require(hosts.is_array() && hosts.size() <= kPorts,
            "hosts: not a list of at most " + std::to_string(kPorts) + " descriptors");
    for (unsigned port = 0; port < hosts.size(); ++port) {
        if (hosts[port].is_null()) continue;
        plan.hosts[port] = natural(Json{{"hosts", hosts[port]}}, "hosts", {}, INT32_MAX);
    }
    if (command.contains("wire")) {
        const Json& wire = command["wire"];
        require(wire.is_object(), "wire: is no object with port, socket and delay");
        plan.wire = {static_cast<unsigned>(natural(wire, "port", {}, kPorts - 1)),
                     static_cast<int>(natural(wire, "socket", {}, INT32_MAX)),
                     natural(wire, "delay", {}, Wire::kMostDelay)};
        require(plan.hosts[plan.wire->port] == LivePlan::kNobody, "wire: a host is at its port; leave one of them out");
    }
    plan.keys = file(command, "keys");
    plan.replay = file(command, "replay");
    plan.record = file(command, "record");
    plan.capture = file(command, "capture");
    plan.symbols = file(command, "symbols");
    plan.about = command.value("about", Json::object()).dump();
    plan.pace = command.value("pace", 1.0);
    require(plan.pace >= Pace::kLeast, "pace: has to be 0.000001 at least");
    if (command.contains("window")) plan.window = natural(command, "window", {}, INT32_MAX);
    if (command.contains("until_closed")) plan.until_closed = natural(command, "until_closed", {}, INT32_MAX);
    if (command.contains("until")) plan.until = natural(command, "until");
    if (command.contains("from")) plan.from = natural(command, "from");
    require(plan.replay.empty() || (hosts.empty() && plan.record.empty() && plan.keys.empty()),
            "replay: a recording takes the hosts' place, and is not recorded again");
    require(plan.replay.empty() || plan.until, "until: is missing; it says where the replay ends");
    require(!plan.from || !plan.replay.empty(), "from: is of a replay");
    return plan;
}

Json live_progress(const Live& live) {
    Json ports = Json::array();
    for (unsigned port = 0; port < kPorts; ++port)
        ports.push_back({{"in", live.port(port).in.frames}, {"out", live.port(port).out.frames}});
    return {{"ports", ports}};
}

Json live_report(const Simulation& simulation, const Live& live, bool) {
    const auto now = simulation.snapshot();
    const Counters whole = now.counters - simulation.at_start().counters;
    Json counters = counters_report(whole);
    Json ports = Json::array();
    for (unsigned number = 0; number < kPorts; ++number) {
        const Live::Port& port = live.port(number);
        Json report = {{"in", passed(port.in)}, {"out", passed(port.out)}, {"dropped", port.dropped}};
        report.update(counters["ports"][number]);
        report["left"] = egress_report(now.egress[number] - simulation.at_start().egress[number]);
        ports.push_back(report);
    }
    return {{"start_cycle", begun(simulation, live)},
            {"end_cycle", simulation.cycle()},
            {"keys", live.keys_typed()},
            {"ports", ports},
            {"idle_cycles", whole.idle},
            {"claims", whole.claims}};
}

std::string live_summary(const Simulation& simulation, const Live& live) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3f",
                  static_cast<double>(simulation.cycle() - begun(simulation, live)) / kSysClkHz);
    std::string line = std::string(seconds) + " s simulated";
    for (unsigned number = 0; number < kPorts; ++number) {
        const Live::Port& port = live.port(number);
        line += "; port " + std::to_string(number) + ": " + std::to_string(port.in.frames) + " frames in, " +
                std::to_string(port.out.frames) + " out, " + std::to_string(port.dropped) + " dropped";
    }
    return line;
}

Json end_live(Simulation& simulation, Live& live) {
    const Json report = live_report(simulation, live, true);
    Json reply = report;
    reply["undelivered"] = Json::array();
    for (unsigned port = 0; port < kPorts; ++port) reply["undelivered"].push_back(live.port(port).undelivered);
    const auto ending = simulation.end();
    live.finish(simulation.cycle(), report.dump());
    reply["written"] = live.written();
    reply["notes"] = live.take_notes();
    if (live.replaying()) reply["difference"] = live.difference().empty() ? Json(nullptr) : Json(live.difference());
    return reply;
}
