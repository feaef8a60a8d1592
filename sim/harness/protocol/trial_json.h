// SPDX-License-Identifier: BSD-2-Clause
// Plans of trials and replays, from the JSON of the protocol. Raise an Error that names the wrong field.
#pragma once

#include <nlohmann/json.hpp>

#include "tester/replay.h"
#include "tester/trial.h"

// An existing folder, or empty if the field is missing.
std::string parse_folder(const nlohmann::ordered_json& command, const char* field);
unsigned parse_link(const nlohmann::ordered_json& command, const char* field);
TrialPlan parse_trial(const nlohmann::ordered_json& command);
ReplayPlan parse_replay(const nlohmann::ordered_json& command);
