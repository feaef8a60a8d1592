// SPDX-License-Identifier: BSD-2-Clause
#include "script.h"

#include <sys/resource.h>

#include <csignal>
#include <iostream>

#include "fields.h"
#include "interrupt.h"
#include "live_json.h"
#include "live/clock.h"
#include "trial_json.h"
#include "report.h"
#include "tcp_json.h"

namespace {

constexpr uint64_t kQuiet = 1000000, kLimit = 500000000;

double cpu_seconds() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void print(const Script::Json& json) {
    // The guest may print any octets; those that are not UTF-8 become U+FFFD.
    std::cout << json.dump(-1, ' ', false, Script::Json::error_handler_t::replace) << std::endl;
    if (!std::cout) throw Error("standard output cannot be written: nobody reads the replies");
}

}  // namespace

const std::map<std::string, Script::Handler> Script::kHandlers = {
    {"run", &Script::do_run},         {"send", &Script::do_send},       {"expect", &Script::do_expect},
    {"console", &Script::do_console}, {"mailbox", &Script::do_mailbox}, {"link", &Script::do_link},
    {"trial", &Script::do_trial},     {"offer", &Script::do_offer},     {"collect", &Script::do_collect},
    {"status", &Script::do_status},   {"replay", &Script::do_replay},   {"counters", &Script::do_counters},
    {"profile", &Script::do_profile}, {"save", &Script::do_save},       {"restore", &Script::do_restore},
    {"talk", &Script::do_talk},       {"live", &Script::do_live},       {"wave", &Script::do_wave},
    {"quit", &Script::do_quit},
};

Script::Script(Simulation& simulation) : simulation_(simulation) {
    simulation_.progress = [this](uint64_t cycle) { progress(cycle); };
}

void Script::run(std::istream& commands) {
    for (std::string line; !quit_ && std::getline(commands, line);)
        if (line.find_first_not_of(" \t\r") != std::string::npos) print(execute(line));
}

Script::Json Script::execute(const std::string& line) {
    Json reply = {{"do", nullptr}, {"ok", true}};
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    shown_ = begin;
    first_cycle_ = simulation_.cycle();
    of_ = 0;
    // The reply has the first error.
    const auto attempt = [&reply](const auto& part) {
        try {
            part();
        } catch (const Json::exception& error) {
            reply["ok"] = false;
            reply.emplace("error", "the command is not understood: " + reason(error));
        } catch (const Error& error) {
            if (error.status == kInterrupted) throw;
            reply["ok"] = false;
            reply.emplace("error", error.what());
        }
    };
    attempt([&] {
        const Json command = Json::parse(line);
        name_ = text(command, "do");
        reply["do"] = name_;
        const auto handler = kHandlers.find(name_);
        if (handler == kHandlers.end()) throw Error("there is no command '" + name_ + "'; see sim/harness/README.md");
        (this->*handler->second)(command, reply);
    });
    streaming_ = false;
    printed_.clear();
    simulation_.console().echo = nullptr;
    attempt([&] { simulation_.console().flush_log(); });
    reply["cycle"] = simulation_.cycle();
    reply["wall_seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    reply["cpu_seconds"] = cpu_seconds() - cpu;
    return reply;
}

void Script::progress(uint64_t cycle) {
    stop_if_interrupted();
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::milliseconds(printed_.empty() ? 500 : 100)) return;
    shown_ = now;
    Json state = {{"do", name_}, {"cycle", cycle}, {"cycles", cycle - first_cycle_}, {"of", of_}};
    if (simulation_.traffic()) state.update(under_way_.progress());
    if (streaming_) state["printed"] = take_printed();
    print({{"progress", state}});
}

// From now on guest output is reported at once, if the command asks for that.
void Script::stream(const Json& command) {
    if (!flag(command, "stream")) return;
    streaming_ = true;
    printed_ = simulation_.console().output();
    simulation_.console().echo = [this](uint8_t byte) { printed_ += static_cast<char>(byte); };
}

// The output in hexadecimal digits: the guest may print any octets.
std::string Script::take_printed() {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string taken;
    for (const uint8_t octet : printed_) taken += {kDigits[octet >> 4], kDigits[octet & 0xf]};
    printed_.clear();
    return taken;
}

// The last cycle for a command, from its field with a number of cycles.
uint64_t Script::limit(const Json& command, uint64_t otherwise) {
    of_ = natural(command, "max_cycles", otherwise);
    return simulation_.cycle() + of_;
}

void Script::refuse_beside_traffic() const {
    if (const Traffic* traffic = simulation_.traffic()) throw Error(traffic->busy());
}

template <class Kind, class Plan>
Kind& Script::begin(const Json& command, Plan (*parse)(const Json&), Json (*progress)(const Kind&),
                    Json (*report)(const Simulation&, const Kind&, bool)) {
    refuse_beside_traffic();
    Plan plan = parse(command);
    under_way_.quiet = natural(command, "quiet_cycles", kQuiet);
    under_way_.limit = limit(command, kLimit);
    const unsigned before = simulation_.tester().rate().mbps();
    if (command.contains("link_mbps")) simulation_.set_link(parse_link(command, "link_mbps"));
    try {
        Kind& kind = simulation_.begin<Kind>(std::move(plan));
        under_way_.progress = [&kind, progress] { return progress(kind); };
        under_way_.report = [this, &kind, report](bool quiet) { return report(simulation_, kind, quiet); };
        return kind;
    } catch (const Error&) {  // such as of a file: a failed command changes nothing
        simulation_.set_link(before);
        throw;
    }
}

// Commands ------------------------------------------------------------------------------------------

void Script::do_run(const Json& command, Json&) {
    of_ = natural(command, "cycles");
    simulation_.run(simulation_.cycle() + of_);
}

void Script::do_send(const Json& command, Json&) { simulation_.type(text(command, "text")); }

void Script::do_expect(const Json& command, Json& reply) {
    const std::string wanted = text(command, "text");
    if (wanted.empty()) throw Error("text: is empty");
    stream(command);
    bool found = false;
    try {
        found = simulation_.expect(wanted, limit(command, kLimit));
    } catch (const Error&) {  // such as when the guest powers off: the output before that
        if (streaming_) reply["printed"] = take_printed();
        throw;
    }
    if (!found) {
        reply["ok"] = false;
        reply["error"] = "the guest did not print '" + wanted + "' in " + std::to_string(of_) + " cycles";
    }
    reply["output"] = simulation_.console().consume(found ? wanted : "");
    if (streaming_) reply["printed"] = take_printed();
}

void Script::do_console(const Json&, Json& reply) { reply["output"] = simulation_.console().consume(); }

void Script::do_mailbox(const Json& command, Json& reply) {
    reply["bytes"] = simulation_.mailbox(natural(command, "address", {}, UINT32_MAX), text(command, "file"));
}

void Script::do_link(const Json& command, Json&) {
    refuse_beside_traffic();  // its frames are timed for the rate at its start
    simulation_.set_link(parse_link(command, "mbps"));
}

void Script::do_trial(const Json& command, Json& reply) {
    do_offer(command, reply);
    do_collect(command, reply);
}

void Script::do_offer(const Json& command, Json& reply) {
    const Trial& trial = begin(command, parse_trial, trial_progress, trial_report);
    reply["start_cycle"] = trial.start();
    reply["window"] = {{"start_cycle", trial.window_begin()}, {"end_cycle", trial.window_end()}};
}

void Script::do_talk(const Json& command, Json& reply) {
    reply["start_cycle"] = begin(command, parse_talk, talk_progress, talk_report).start();
}

void Script::do_replay(const Json& command, Json& reply) {
    begin(command, parse_replay, replay_progress, replay_report);
    do_collect(command, reply);
}

void Script::do_live(const Json& command, Json& reply) {
    stream(command);
    Live& live = begin(command, parse_live, live_progress, live_report);
    of_ = live.plan().until ? *live.plan().until - std::min(simulation_.cycle(), *live.plan().until) : 0;
    try {
        for (LiveClock clock(simulation_, live); !clock.over(); clock.rest(live.plan().until_closed)) {
            clock.step();
            if (const auto notes = live.take_notes(); !notes.empty())
                print({{"progress", {{"do", name_}, {"cycle", simulation_.cycle()}, {"notes", notes}}}});
        }
    } catch (const Ended& ended) {
        reply["ended"] = ended.what();
    } catch (const Error&) {  // the recording cannot be continued
        simulation_.end();
        throw;
    }
    simulation_.console().consume();
    if (streaming_) reply["printed"] = take_printed();
    reply.update(end_live(simulation_, live));
}

void Script::do_collect(const Json&, Json& reply) {
    if (!simulation_.traffic()) throw Error("no trial is in progress, and no connection is open; offer or talk first");
    of_ = under_way_.limit > simulation_.cycle() ? under_way_.limit - simulation_.cycle() : 0;
    const bool quiet = simulation_.run_until_quiet(under_way_.quiet, under_way_.limit);
    reply.update(under_way_.report(quiet));
    simulation_.end()->save_captures();
}

void Script::do_status(const Json&, Json& reply) {
    if (!simulation_.traffic()) throw Error("no trial is in progress, and no connection is open; offer one first");
    reply.update(under_way_.report(false));
}

void Script::do_counters(const Json&, Json& reply) {
    reply.update(counters_report(simulation_.counters()));
    reply["slept_cycles"] = simulation_.slept();
}

void Script::do_profile(const Json& command, Json& reply) {
    const Profiler& profiler = simulation_.profiler();
    if (!command.contains("stop")) {
        const auto file = [&](const char* field) { return command.contains(field) ? text(command, field) : ""; };
        const auto functions = command.value("functions", std::vector<std::string>());
        if (functions.empty() != file("calls").empty())
            throw Error("calls: a file, and the list of its functions, go together");
        simulation_.start_profile({text(command, "symbols"), file("timeline"), file("calls"), functions},
                                  flag(command, "window"));
        return;
    }
    profiler.require_running();
    reply["harts"] = Json::array();
    for (unsigned hart = 0; hart < kHarts; ++hart) reply["harts"].push_back({{"lost", profiler.lost(hart)}});
    const auto costs = simulation_.stop_profile(text(command, "stop"));
    for (unsigned hart = 0; hart < kHarts; ++hart) reply["harts"][hart].update(cost_report(costs.harts[hart]));
    reply["memory"] = uses_report(costs.memory);
}

void Script::do_wave(const Json& command, Json& reply) {
    if (flag(command, "stop")) {
        reply["cycles"] = simulation_.end_wave();
        return;
    }
    WavePlan plan = {text(command, "file"),
                     command.contains("texts") ? text(command, "texts") : "",
                     natural(command, "from"),
                     natural(command, "until"),
                     {},
                     {}};
    plan.signals = command.value("signals", plan.signals);
    plan.gaps = command.value("gaps", plan.gaps);
    simulation_.begin_wave(plan);
}

void Script::do_save(const Json& command, Json& reply) { reply["bytes"] = simulation_.save(text(command, "file")); }

void Script::do_restore(const Json& command, Json&) { simulation_.restore(text(command, "file")); }

void Script::do_quit(const Json&, Json&) { quit_ = true; }
