// SPDX-License-Identifier: BSD-2-Clause
#include "tcp_json.h"

#include "fields.h"
#include "trial_json.h"
#include "report.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMostOctets = uint64_t{4} << 30;

// Plan --------------------------------------------------------------------------------------------------

uint64_t within(const Json& json, const char* field, std::optional<uint64_t> otherwise, uint64_t least, uint64_t most) {
    const uint64_t value = natural(json, field, otherwise);
    require(least <= value && value <= most, std::string(field) + ": " + std::to_string(value) + " is not within " +
                                                 std::to_string(least) + " to " + std::to_string(most));
    return value;
}

template <class Value>
Value choice(const Json& json, const std::string& what, const char* field, std::optional<Value> otherwise,
             const std::vector<std::pair<std::string, Value>>& choices) {
    if (!json.contains(field) && otherwise) return *otherwise;
    const std::string chosen = text(json, field);
    std::string names;
    for (const auto& [name, value] : choices) {
        if (name == chosen) return value;
        names += (names.empty() ? "" : ", ") + name;
    }
    throw Error(what + field + " '" + chosen + "' is none of " + names);
}

SegmentFault parse_fault(const Json& json) {
    SegmentFault fault;
    fault.kind = choice<SegmentFault::Kind>(json, "faults: ", "kind", {},
                                            {{"drop", SegmentFault::kDrop},
                                             {"damage", SegmentFault::kDamage},
                                             {"scramble", SegmentFault::kScramble},
                                             {"duplicate", SegmentFault::kDuplicate},
                                             {"swap", SegmentFault::kSwap}});
    fault.segments = choice<SegmentFault::Segments>(
        json, "faults: ", "segments", SegmentFault::kAll,
        {{"data", SegmentFault::kData}, {"other", SegmentFault::kOther}, {"all", SegmentFault::kAll}});
    fault.way = choice<Way>(json, "faults: ", "way", {}, {{"in", kIn}, {"out", kOut}});
    fault.port = natural(json, "port", {}, kPorts - 1);
    fault.frame = natural(json, "frame");
    fault.every = natural(json, "every", 0);
    return fault;
}

std::optional<uint64_t> parse_after(const Json& command, const char* field) {
    if (!command.contains(field)) return std::nullopt;
    require(command[field].is_object(), std::string(field) + ": is no object with 'after'");
    return within(command[field], "after", {}, 1, kMostOctets);
}

Receiving::Habits parse_habits(const Json& command, bool receives) {
    Receiving::Habits habits;
    for (const char* field : {"stall", "reset"})
        require(receives || !command.contains(field),
                std::string(field) + ": with 'in' the guest receives, not the tester");
    if (const auto after = parse_after(command, "stall"))
        habits.stall = Stall{*after, within(command["stall"], "cycles", {}, 1, INT64_MAX)};
    habits.reset_after = parse_after(command, "reset");
    habits.vanish_after = parse_after(command, "vanish");
    return habits;
}

// Report ------------------------------------------------------------------------------------------------

const char* state(const Talk::Connection& connection) {
    switch (connection.outcome()) {
        case Outcome::kClosed: return "closed";
        case Outcome::kRefused: return "refused";
        case Outcome::kReset: return "reset";
        case Outcome::kTimedOut: return "timed out";
        case Outcome::kVanished: return "vanished";
        case Outcome::kNone: break;
    }
    return connection.connected_cycle() ? "open" : "connecting";
}

Json error(const Talk& talk, const Talk::Connection& connection) {
    const TalkPlan& plan = talk.plan();
    const std::string at = "after " + std::to_string(connection.octets()) + " octets";
    switch (connection.outcome()) {
        case Outcome::kRefused: return "nobody listens at TCP port " + std::to_string(plan.tcp_port);
        case Outcome::kReset:
            return plan.habits.reset_after ? "reset " + at + ", as asked" : "reset by the other end " + at;
        case Outcome::kTimedOut:
            return connection.connected_cycle() ? Json("the other end answers no more " + at) : Json("nobody answers");
        case Outcome::kVanished: return "the tester answers no more " + at + ", as asked";
        case Outcome::kClosed:
            if (plan.octets && connection.octets() != plan.octets)
                return "closed " + at + " of " + std::to_string(plan.octets);
            break;
        case Outcome::kNone: break;
    }
    return nullptr;
}

template <class Value> Json or_null(const std::optional<Value>& value) { return value ? Json(*value) : Json(nullptr); }

Json connection_report(const Talk& talk, size_t number) {
    const Talk::Connection& connection = talk.connections()[number];
    const Receiving* receiving = connection.receiving.get();
    return {{"number", number},
            {"state", state(connection)},
            {"octets", connection.octets()},
            {"checked", receiving && receiving->compared()},
            {"corrupted", receiving ? receiving->corrupted() : 0},
            {"first_corrupted", receiving ? or_null(receiving->first_corrupted()) : Json(nullptr)},
            {"connected_cycle", or_null(connection.connected_cycle())},
            {"closed_cycle", or_null(connection.ended_cycle)},
            {"error", error(talk, connection)}};
}

Json ways(const std::array<uint64_t, 2>& values) { return {{"in", values[kIn]}, {"out", values[kOut]}}; }

Json figures_report(const Meter::Figures& figures) {
    Json window;
    if (figures.window)
        window = {{"mean", figures.window->mean}, {"min", figures.window->min}, {"max", figures.window->max}};
    return {{"segments", ways(figures.segments)},
            {"octets", ways(figures.octets)},
            {"acks", ways(figures.others)},
            {"retransmitted", ways(figures.again)},
            {"window", window},
            {"round_trip_cycles", order_statistics(percentiles_if_any(figures.round_trips))}};
}

bool has_window(const Talk& talk) {
    return talk.window().begin && talk.window().end && *talk.window().begin <= *talk.window().end;
}

Json window_report(const Simulation& simulation, const Talk& talk) {
    Json parts = Json::array();
    for (unsigned part = 0; part <= Talk::kParts; ++part) parts.push_back(talk.part(part));
    return {{"start_cycle", *talk.window().begin},     {"end_cycle", *talk.window().end},
            {"octets", talk.window_octets()},          {"parts", parts},
            {"idle_cycles", simulation.window().idle}, {"claims", simulation.window().claims}};
}

}  // namespace

TalkPlan parse_talk(const Json& command) {
    TalkPlan plan;
    plan.direction = choice<TalkPlan::Direction>(
        command, "", "direction", {},
        {{"in", TalkPlan::kTowards}, {"out", TalkPlan::kFrom}, {"through", TalkPlan::kThrough}});
    const bool from = plan.direction == TalkPlan::kFrom;
    plan.connections = within(command, "connections", 1, 1, kMostConnections);
    plan.port = natural(command, "port", 0, kPorts - 1);
    plan.tcp_port = within(command, "tcp_port", 5001, 1, 49151);
    plan.window = within(command, "window", 1 << 20, kLeastWindow, kMostWindow);
    plan.seed = natural(command, "seed", 1, UINT32_MAX);
    plan.check = !command.contains("check") || flag(command, "check");
    // Only without comparison may the guest decide the number of octets.
    plan.octets = within(command, "octets", {}, from && !plan.check ? 0 : 1, kMostOctets);
    plan.begin = natural(command, "begin", 0);
    require(!plan.octets || !plan.begin, "begin: the window begins with a fifth of the octets; give it with octets 0");
    plan.refuse = flag(command, "refuse");
    require(!plan.refuse || plan.direction == TalkPlan::kThrough,
            "refuse: the tester is at both ends with 'through' only");
    require(plan.direction != TalkPlan::kThrough || kPorts > 1, "direction: 'through' needs a second port");
    plan.habits = parse_habits(command, plan.direction != TalkPlan::kTowards);
    for (const Json& json : command.value("faults", Json::array())) plan.faults.push_back(parse_fault(json));
    plan.pcap = parse_folder(command, "pcap");
    return plan;
}

Json talk_progress(const Talk& talk) {
    return {{"octets", talk.octets()}, {"all_octets", talk.plan().octets * talk.connections().size()}};
}

Json talk_report(const Simulation& simulation, const Talk& talk, bool quiet) {
    const auto now = simulation.snapshot();
    const Counters whole = now.counters - simulation.at_start().counters;
    const bool windowed = has_window(talk);
    Json connections = Json::array(), ports = Json::array();
    for (size_t number = 0; number < talk.connections().size(); ++number)
        connections.push_back(connection_report(talk, number));
    for (unsigned port = 0; port < kPorts; ++port) {
        Json report = figures_report(talk.meter().figures(port, 0, UINT64_MAX));
        report["steady"] = windowed
                               ? figures_report(talk.meter().figures(port, *talk.window().begin, *talk.window().end))
                               : Json(nullptr);
        report["events"] = events_report(whole, port);
        report["window_events"] = windowed ? events_report(simulation.window(), port) : Json(nullptr);
        report["left"] = egress_report(now.egress[port] - simulation.at_start().egress[port]);
        ports.push_back(report);
    }
    const char* directions[] = {"in", "out", "through"};
    return {{"direction", directions[talk.plan().direction]},
            {"start_cycle", talk.start()},
            {"end_cycle", simulation.cycle()},
            {"quiet", quiet},
            {"done", talk.done()},
            {"octets", talk.octets()},
            {"window", windowed ? window_report(simulation, talk) : Json(nullptr)},
            {"connections", connections},
            {"ports", ports},
            {"idle_cycles", whole.idle}};
}
