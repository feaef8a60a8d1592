// SPDX-License-Identifier: BSD-2-Clause
// Checkpoint files: a header that names the build, then the state, compressed with a checksum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Compresses in memory, and decompresses trusted content.
std::vector<uint8_t> pack(const std::vector<uint8_t>& state);
std::vector<uint8_t> unpack(const std::vector<uint8_t>& packed);

// Writes `state` atomically. Returns the file's size.
size_t write_checkpoint(const std::string& path, const std::vector<uint8_t>& state);

// The verified state. Raises an Error with kBadCheckpoint and the reason.
std::vector<uint8_t> read_checkpoint(const std::string& path);
