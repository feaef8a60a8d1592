// SPDX-License-Identifier: BSD-2-Clause
#include "stream.h"

#include "error.h"

Stream::Stream(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wbe")) {
    if (!file_) throw file_error(path, "cannot be written");
}

void Stream::write(const void* octets, size_t size) {
    if (!failed_ && std::fwrite(octets, 1, size, file_.get()) != size) failed_ = errno;
}

void Stream::flush() {
    if (!failed_ && std::fflush(file_.get()) != 0) failed_ = errno;
}

void Stream::check() const {
    if (!failed_) return;
    errno = failed_;
    throw file_error(path_, "cannot be written");
}

void Stream::little(uint64_t value, unsigned octets) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < octets; ++i) bytes[i] = value >> 8 * i & 0xff;
    write(bytes, octets);
}
