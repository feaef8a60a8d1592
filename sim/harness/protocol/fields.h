// SPDX-License-Identifier: BSD-2-Clause
// Fields of a command. Raise an Error that names the field.
#pragma once

#include <cctype>
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

// The JSON library's message, without its prefix "[json.exception.NAME.NUMBER] ".
inline std::string reason(const nlohmann::json::exception& error) {
    const std::string text = error.what();
    const size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
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

inline std::string parse_hex(const std::string& digits) {
    const auto digit = [](char c) -> int {
        const auto at = std::string("0123456789abcdef").find(static_cast<char>(std::tolower(c)));
        require(at != std::string::npos, std::string("hex: '") + c + "' is no hexadecimal digit");
        return static_cast<int>(at);
    };
    require(digits.size() % 2 == 0, "hex: odd number of digits");
    std::string octets;
    for (size_t i = 0; i < digits.size(); i += 2)
        octets += static_cast<char>(digit(digits[i]) << 4 | digit(digits[i + 1]));
    return octets;
}

// A text. JSON is UTF-8; file names and keys may be any octets, and are then {"hex": "…"}.
inline std::string as_text(const nlohmann::ordered_json& value, const char* field) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_object() && value.contains("hex") && value["hex"].is_string())
        return parse_hex(value["hex"].get<std::string>());
    throw Error(std::string(field) + ": is missing, or no text");
}

inline std::string text(const nlohmann::ordered_json& json, const char* field) {
    return as_text(json.contains(field) ? json[field] : nlohmann::ordered_json(), field);
}
