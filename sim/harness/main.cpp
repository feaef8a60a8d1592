// SPDX-License-Identifier: BSD-2-Clause
// moderato-sim: the command line of README.md.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <map>

#include "error.h"
#include "interrupt.h"
#include "protocol/fields.h"
#include "protocol/live_json.h"
#include "protocol/trial_json.h"
#include "protocol/script.h"
#include "simulation.h"
#include "console/terminal.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr char kUsageText[] =
    "usage: moderato-sim [--load FILE@ADDRESS]... [--restore FILE] [--console FILE] [--ungated]\n"
    "                    [--udp-echo] (--script FILE|- | --interactive [--prompt TEXT] [--offer JSON | --live JSON])\n"
    "       moderato-sim --build-id";

struct Options {
    std::vector<std::pair<std::string, uint32_t>> load;
    std::string restore, console, script, prompt, offer, live;
    bool interactive = false, build_id = false, ungated = false, udp_echo = false;
};

std::pair<std::string, uint32_t> parse_load(const std::string& text) {
    const size_t at = text.rfind('@');
    size_t used = 0;
    try {
        if (at != std::string::npos && at > 0) {
            const unsigned long long address = std::stoull(text.substr(at + 1), &used, 0);
            if (used == text.size() - at - 1 && address <= UINT32_MAX)
                return {text.substr(0, at), static_cast<uint32_t>(address)};
        }
    } catch (const std::logic_error&) {}
    throw Error("--load " + text + ": is not FILE@ADDRESS, such as Image@0x40000000", kUsage);
}

Options parse(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string name = words[i];
        const auto value = [&]() -> std::string {
            if (i + 1 >= count) throw Error(name + ": its value is missing\n" + kUsageText, kUsage);
            return words[++i];
        };
        if (name == "--load") options.load.push_back(parse_load(value()));
        else if (name == "--restore") options.restore = value();
        else if (name == "--console") options.console = value();
        else if (name == "--script") options.script = value();
        else if (name == "--interactive") options.interactive = true;
        else if (name == "--prompt") options.prompt = value();
        else if (name == "--offer") options.offer = value();
        else if (name == "--live") options.live = value();
        else if (name == "--udp-echo") options.udp_echo = true;
        else if (name == "--ungated") options.ungated = true;
        else if (name == "--build-id") options.build_id = true;
        else throw Error(name + ": there is no such option\n" + kUsageText, kUsage);
    }
    if (!options.build_id && options.interactive != options.script.empty())
        throw Error(std::string("give either --script or --interactive\n") + kUsageText, kUsage);
    for (const auto& [name, text] : {std::pair("--offer", options.offer), std::pair("--live", options.live)})
        if (!text.empty() && !options.interactive)
            throw Error(std::string(name) + ": is for --interactive; a script has a command for it", kUsage);
    if (!options.offer.empty() && !options.live.empty())
        throw Error("--offer: the tester offers nothing where --live has hosts; give one of them", kUsage);
    return options;
}

// Traffic during the user's console: `text` has the fields of a command.
template <class Kind, class Plan>
Kind* begin(Simulation& simulation, const char* option, const std::string& text, Plan (*parse)(const Json&)) try {
    if (text.empty()) return nullptr;
    const auto command = Json::parse(text);
    Plan plan = parse(command);
    if (command.contains("link_mbps")) simulation.set_link(parse_link(command, "link_mbps"));
    return &simulation.begin<Kind>(std::move(plan));
} catch (const nlohmann::json::exception& error) {
    throw Error(std::string(option) + ": is not understood: " + reason(error), kUsage);
}

// Ends a session, and prints its counts and the names of its files.
void finish_live(Simulation& simulation, Live& live) {
    const std::string summary = live_summary(simulation, live);
    const std::map<std::string, std::string> files = {{"capture", live.plan().capture}, {"record", live.plan().record}};
    const Json reply = end_live(simulation, live);
    std::cerr << '\n';
    for (const Json& note : reply["notes"]) std::cerr << "moderato: " << note.get<std::string>() << '\n';
    std::cerr << "moderato: " << summary << std::endl;
    std::string written;
    for (const Json& name : reply["written"])
        written += (written.empty() ? "" : ", ") + files.at(name.get<std::string>());
    if (!written.empty()) std::cerr << "moderato: wrote " << written << std::endl;
}

// The console of a live session, whose recording is completed even if a signal ends this program.
void interact_live(Simulation& simulation, const std::string& prompt, Live& live) {
    try {
        interact(simulation, prompt, &live);
    } catch (const Error& error) {
        if (error.status == kInterrupted) finish_live(simulation, live);
        throw;
    }
    finish_live(simulation, live);
}

void run(const Options& options) {
    Simulation simulation;
    if (options.ungated) simulation.ungate();
    if (options.udp_echo) simulation.echo_udp();
    if (!options.console.empty()) simulation.console().log_to(options.console);
    if (!options.restore.empty()) simulation.restore(options.restore);
    for (const auto& [path, address] : options.load) simulation.load(address, path);
    begin<Trial>(simulation, "--offer", options.offer, parse_trial);
    Live* const live = begin<Live>(simulation, "--live", options.live, parse_live);
    if (live) return interact_live(simulation, options.prompt, *live);
    if (options.interactive) return interact(simulation, options.prompt);
    Script script(simulation);
    if (options.script == "-") return script.run(std::cin);
    std::ifstream file(options.script);
    if (!file) throw file_error(options.script, "cannot be read");
    script.run(file);
    if (file.bad()) throw file_error(options.script, "cannot be read");
}

// Otherwise a file could get the number of a descriptor that the caller closed, and output would be written to it.
void open_standard_descriptors() {
    int lowest;
    do lowest = ::open("/dev/null", O_RDWR);
    while (lowest >= 0 && lowest <= STDERR_FILENO);
    ::close(lowest);
}

}  // namespace

int main(int count, char** words) {
    open_standard_descriptors();
    try {
        const Options options = parse(count, words);
        if (options.build_id) {
            std::cout << kBuildId << std::endl;
            return kDone;
        }
        catch_interrupts();
        run(options);
        stop_if_interrupted();
        return kDone;
    } catch (const Error& error) {
        if (error.status != kInterrupted) std::cerr << "moderato-sim: " << error.what() << std::endl;
        return error.status == kInterrupted ? kInterrupted + interrupted_by() : error.status;
    } catch (const std::bad_alloc&) {
        std::cerr << "moderato-sim: there is not enough memory" << std::endl;
        return kFailed;
    } catch (const std::exception& error) {
        std::cerr << "moderato-sim: internal error: " << error.what() << std::endl;
        return kFailed;
    }
}
