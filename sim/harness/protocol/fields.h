// SPDX-License-Identifier: BSD-2-Clause
// Fields of a command. Raise an Error that names the field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "error.h"

// A whole number from 0; `otherwise` if the field is missing and that is allowed.
inline uint64_t natural(const nlohmann::ordered_json& json, const std::string& field,
                        std::optional<uint64_t> otherwise = {}, uint64_t most = INT64_MAX) {
    if (!json.contains(field)) {
        if (otherwise) return *otherwise;
        throw Error(field + ": is missing");
    }
    const auto& value = json[field];
    if (!value.is_number_unsigned() || value.get<uint64_t>() > most)
        throw Error(field + ": " + value.dump() + " is not a whole number from 0 to " + std::to_string(most));
    return value.get<uint64_t>();
}

inline void require(bool good, const std::string& line) {
    if (!good) throw Error(line);
}

// True or false; false if the field is missing.
inline bool flag(const nlohmann::ordered_json& json, const std::string& field) {
    if (!json.contains(field)) return false;
    if (!json[field].is_boolean()) throw Error(field + ": " + json[field].dump() + " is neither true nor false");
    return json[field].get<bool>();
}

inline std::string text(const nlohmann::ordered_json& json, const std::string& field) {
    if (!json.contains(field) || !json[field].is_string()) throw Error(field + ": is missing, or no text");
    return json[field].get<std::string>();
}
