// SPDX-License-Identifier: BSD-2-Clause
// Checkpoint files: a header that names the build, then the state, compressed with a checksum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Compressed, in memory; and back, which nobody has changed.
std::vector<uint8_t> pack(const std::vector<uint8_t>& state);
std::vector<uint8_t> unpack(const std::vector<uint8_t>& packed);

// Writes `state` atomically. Returns the file's size.
size_t write_checkpoint(const std::string& path, const std::vector<uint8_t>& state);

// The state, verified. Raises an Error with kBadCheckpoint that says what is wrong with the file.
std::vector<uint8_t> read_checkpoint(const std::string& path);
