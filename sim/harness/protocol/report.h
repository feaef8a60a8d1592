// SPDX-License-Identifier: BSD-2-Clause
// Reports in the JSON of the protocol.
#pragma once

#include <nlohmann/json.hpp>

#include "simulation.h"

nlohmann::ordered_json counters_report(const Counters& counters);
nlohmann::ordered_json cost_report(const CallTree::Cost& cost);
nlohmann::ordered_json trial_progress(const Trial& trial);
nlohmann::ordered_json trial_report(const Simulation& simulation, bool quiet);
nlohmann::ordered_json replay_report(const Simulation& simulation, bool quiet);
