// SPDX-License-Identifier: BSD-2-Clause
// Live sessions in the JSON of the protocol: the plan (an Error names a wrong field), and the report.
#pragma once

#include <nlohmann/json.hpp>

#include "simulation.h"
#include "live/live.h"

LivePlan parse_live(const nlohmann::ordered_json& command);
nlohmann::ordered_json live_progress(const Live& live);
nlohmann::ordered_json live_report(const Simulation& simulation, const Live& live, bool quiet);
// A one-line summary for the end of a session.
std::string live_summary(const Simulation& simulation, const Live& live);
// Ends the session in progress; returns its report, and additional fields.
nlohmann::ordered_json end_live(Simulation& simulation, Live& live);
