// SPDX-License-Identifier: BSD-2-Clause
#include "trial_json.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "fields.h"

namespace {

using Json = nlohmann::ordered_json;

// The elements of an array with one per port; null and missing ones are skipped.
template <class Use> void per_port(const Json& command, const char* field, Use use) {
    if (!command.contains(field)) return;
    const Json& list = command[field];
    require(list.is_array() && list.size() <= kPorts,
            std::string(field) + ": not a list of at most " + std::to_string(kPorts) + " ports");
    for (unsigned port = 0; port < list.size(); ++port)
        if (!list[port].is_null()) use(port, list[port]);
}

uint64_t parse_load(const Json& json) {  // ppm
    const double percent = json.value("load_percent", 100.0);
    require(percent >= 0.0001 && percent <= 100,
            "load_percent: " + std::to_string(percent) + " is not above 0 (0.0001 at least) and up to 100");
    return std::llround(percent * 10000);
}

uint64_t parse_frames(const Json& json) {
    const uint64_t frames = natural(json, "frames", {}, INT32_MAX);
    require(frames >= 1, "frames: must be at least 1");
    return frames;
}

Offer parse_offer(const Json& json) {
    Offer offer;
    offer.frame_bytes = natural(json, "frame_bytes");
    require(kMinFrame <= offer.frame_bytes && offer.frame_bytes <= kMaxFrame,
            "frame_bytes: " + std::to_string(offer.frame_bytes) + " is not within 64 to 1518");
    offer.load_ppm = parse_load(json);
    offer.frames = parse_frames(json);
    offer.phase = natural(json, "phase", 0);
    if (json.contains("burst")) {
        offer.burst_ppm = parse_load(json["burst"]);
        offer.burst_frames = parse_frames(json["burst"]);
        require(offer.burst_ppm >= offer.load_ppm, "burst: its load_percent is below the average");
    }
    offer.probe_every = natural(json, "probe_every", 0);
    offer.streams = natural(json, "streams", 1, kMostStreams);
    require(offer.streams >= 1, "streams: must be at least 1");
    if (json.contains("then")) {
        offer.then_ppm = parse_load(json["then"]);
        offer.then_frames = parse_frames(json["then"]);
    }
    return offer;
}

Fault parse_fault(const Json& json) {
    Fault fault;
    const std::string kind = text(json, "kind");
    const std::map<std::string, Fault::Kind> kinds = {
        {"flip", Fault::kFlip}, {"drop", Fault::kDrop}, {"duplicate", Fault::kDuplicate}, {"swap", Fault::kSwap}};
    require(kinds.count(kind), "faults: kind '" + kind + "' is none of flip, drop, duplicate, swap");
    fault.kind = kinds.at(kind);
    fault.port = natural(json, "port", {}, kPorts - 1);
    fault.frame = natural(json, "frame");
    if (fault.kind == Fault::kFlip) fault.octet = json.at("octet").get<int64_t>();
    fault.bit = natural(json, "bit", 0, 7);
    fault.repair_fcs = json.value("fcs", "") == "repair";
    return fault;
}

ReplayFrame parse_frame(const Json& json) {
    ReplayFrame frame;
    const std::string octets = parse_hex(text(json, "hex"));
    frame.octets = {octets.begin(), octets.end()};
    const auto fcs = json.value("fcs", std::string("good"));
    require(fcs == "good" || fcs == "bad" || fcs == "none", "fcs: '" + fcs + "' is none of good, bad, none");
    if (fcs != "none") append_fcs(frame.octets);
    if (fcs == "bad") frame.octets.back() ^= 0x80;
    frame.gap = natural(json, "gap", kGap);
    frame.error = json.value("error", false);
    return frame;
}

}  // namespace

std::string parse_folder(const Json& command, const char* field) {
    if (!command.contains(field)) return {};
    const std::string path = text(command, field);
    struct stat about;
    if (::stat(path.c_str(), &about) < 0) throw file_error(path, "cannot be written to");
    require(S_ISDIR(about.st_mode), path + ": is not a folder");
    return path;
}

unsigned parse_link(const Json& command, const char* field) {
    const uint64_t value = natural(command, field);
    require(value == 10 || value == 100 || value == 1000,
            std::string(field) + ": " + std::to_string(value) + " Mb/s is none of 10, 100, 1000");
    return value;
}

TrialPlan parse_trial(const Json& command) {
    TrialPlan plan;
    per_port(command, "ports", [&](unsigned port, const Json& json) { plan.offers[port] = parse_offer(json); });
    require(!plan.offers.empty(), "ports: nothing is offered to any port");
    const auto device = command.value("device", std::string("router"));
    require(device == "router" || device == "wire", "device: '" + device + "' is neither router nor wire");
    plan.device = device == "wire" ? Device::kWire : Device::kRouter;
    plan.seed = natural(command, "seed", 1);
    for (const Json& json : command.value("faults", Json::array())) plan.faults.push_back(parse_fault(json));
    plan.pcap = parse_folder(command, "pcap");
    return plan;
}

ReplayPlan parse_replay(const Json& command) {
    ReplayPlan plan;
    const auto timing = command.value("timing", std::string("timestamps"));
    require(timing == "timestamps" || timing == "back-to-back",
            "timing: '" + timing + "' is neither timestamps nor back-to-back");

    std::map<unsigned, std::vector<Captured>> files;
    uint64_t first = kNever;
    per_port(command, "in", [&](unsigned port, const Json& json) {
        if (json.is_array()) {
            for (const Json& frame : json) plan.in[port].push_back(parse_frame(frame));
            return;
        }
        files[port] = read_pcap(as_text(json, "in"));
        for (const Captured& captured : files[port]) first = std::min(first, captured.nanoseconds);
    });
    if (first != kNever) plan.epoch = first;
    for (auto& [port, captured] : files) {
        for (Captured& from : captured) {
            ReplayFrame frame;
            frame.octets = std::move(from.octets);
            if (!from.with_fcs) {
                frame.octets.resize(std::max(frame.octets.size(), kMinFrame - kFcs));
                append_fcs(frame.octets);
            }
            if (timing == "timestamps") frame.nanoseconds = from.nanoseconds - first;
            plan.in[port].push_back(std::move(frame));
        }
    }
    require(!plan.in.empty(), "in: nothing is played into any port");
    per_port(command, "out", [&](unsigned port, const Json& json) { plan.out[port] = as_text(json, "out"); });
    per_port(command, "answers",
             [&](unsigned port, const Json& json) { plan.answers[port] = as_text(json, "answers"); });
    return plan;
}
