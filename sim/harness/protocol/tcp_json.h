// SPDX-License-Identifier: BSD-2-Clause
// TCP connections in the JSON of the protocol: the plan (an Error names a wrong field), and the report.
#pragma once

#include <nlohmann/json.hpp>

#include "simulation.h"
#include "tcp/talk.h"

TalkPlan parse_talk(const nlohmann::ordered_json& command);
nlohmann::ordered_json talk_progress(const Talk& talk);
nlohmann::ordered_json talk_report(const Simulation& simulation, const Talk& talk, bool quiet);
