// SPDX-License-Identifier: BSD-2-Clause
// Reports in the JSON of the protocol.
#pragma once

#include <nlohmann/json.hpp>

#include "simulation.h"
#include "tester/replay.h"
#include "tester/trial.h"

// Parts of several reports: events at a port, its departures, order statistics of any number of values.
nlohmann::ordered_json events_report(const Counters& counters, unsigned port);
nlohmann::ordered_json egress_report(const Egress& egress);
nlohmann::ordered_json order_statistics(const std::vector<uint64_t>& percentiles);
std::vector<uint64_t> percentiles_if_any(const std::vector<uint64_t>& values);

nlohmann::ordered_json counters_report(const Counters& counters);
nlohmann::ordered_json cost_report(const CallTree::Cost& cost);
nlohmann::ordered_json uses_report(const Model::Uses& uses);
nlohmann::ordered_json trial_progress(const Trial& trial);
nlohmann::ordered_json replay_progress(const Replay& replay);
nlohmann::ordered_json trial_report(const Simulation& simulation, const Trial& trial, bool quiet);
nlohmann::ordered_json replay_report(const Simulation& simulation, const Replay& replay, bool quiet);
