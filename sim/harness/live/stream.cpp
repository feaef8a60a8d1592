// SPDX-License-Identifier: BSD-2-Clause
#include "stream.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "error.h"

namespace {

bool is_pipe(const std::string& path) {
    struct stat about;
    return ::stat(path.c_str(), &about) == 0 && S_ISFIFO(about.st_mode);
}

}  // namespace

Stream::Stream(const std::string& path) : path_(path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file < 0 && errno == ENXIO && is_pipe(path)) {
        failed_ = EPIPE;
        return;
    }
    // Only opening is non-blocking: a reader may be slow.
    if (file >= 0) ::fcntl(file, F_SETFL, 0);
    file_.reset(file < 0 ? nullptr : ::fdopen(file, "wb"));
    if (!file_) throw file_error(path, "cannot be written");
}

void Stream::write(const void* octets, size_t size) {
    if (!failed_ && std::fwrite(octets, 1, size, file_.get()) != size) failed_ = errno;
}

void Stream::flush() {
    if (!failed_ && std::fflush(file_.get()) != 0) failed_ = errno;
}

bool Stream::check() const {
    if (!failed_) return true;
    if (failed_ == EPIPE) return false;
    errno = failed_;
    throw file_error(path_, "cannot be written");
}

void Stream::little(uint64_t value, unsigned octets) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < octets; ++i) bytes[i] = value >> 8 * i & 0xff;
    write(bytes, octets);
}
