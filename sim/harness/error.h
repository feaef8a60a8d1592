// SPDX-License-Identifier: BSD-2-Clause
// An error that ends a run: one line for the user, and the exit status.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

enum Status { kDone = 0, kFailed = 1, kUsage = 2, kBadCheckpoint = 3, kInterrupted = 128 };

struct Error : std::runtime_error {
    explicit Error(const std::string& line, Status status = kFailed) : std::runtime_error(line), status(status) {}
    Status status;
};

// The guest powered off, or asked for a reset.
struct Ended : Error {
    using Error::Error;
};

// "FILE: cannot be written: No space left on device; free some space and try again"
inline Error file_error(const std::string& path, const std::string& what) {
    const int code = errno;
    std::string line = path + ": " + what + ": " + std::strerror(code);
    if (code == ENOSPC || code == EDQUOT) line += "; free some space and try again";
    if (code == ENOENT || code == ENOTDIR) line += "; check the path";
    return Error(line);
}
