// SPDX-License-Identifier: BSD-2-Clause
// Whole files: read at once; written to a temporary name and renamed, so that a file is complete or absent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

std::vector<uint8_t> read_file(const std::string& path);

void write_file(const std::string& path, const void* content, size_t size);

inline void write_file(const std::string& path, const std::vector<uint8_t>& content) {
    write_file(path, content.data(), content.size());
}
