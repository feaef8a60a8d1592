// SPDX-License-Identifier: BSD-2-Clause
#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

namespace {

struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

// Removes the incomplete file, also if an exception or a signal ends the run.
struct Unfinished {
    std::string path;
    ~Unfinished() {
        if (!path.empty()) ::unlink(path.c_str());
    }
};

}  // namespace

std::vector<uint8_t> read_file(const std::string& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat about;
    if (file.number < 0 || ::fstat(file.number, &about) < 0) throw file_error(path, "cannot be read");
    // The size of other kinds of files is unknown.
    if (!S_ISREG(about.st_mode)) throw Error(path + ": is no regular file; copy what comes from there into one");
    std::vector<uint8_t> content(about.st_size);
    for (size_t done = 0; done < content.size();) {
        const ssize_t count = ::read(file.number, content.data() + done, content.size() - done);
        if (count < 0) throw file_error(path, "cannot be read");
        if (count == 0) throw Error(path + ": became shorter while it was read; try again");
        done += count;
    }
    return content;
}

void write_file(const std::string& path, const void* content, size_t size) {
    Unfinished temporary{path + ".tmp" + std::to_string(::getpid())};
    {
        Descriptor file{::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
        if (file.number < 0) {
            const std::string unmade = std::move(temporary.path);
            temporary.path.clear();
            throw file_error(path, "cannot be written");
        }
        const auto* bytes = static_cast<const uint8_t*>(content);
        while (size) {
            const ssize_t count = ::write(file.number, bytes, size);
            if (count < 0) throw file_error(path, "cannot be written");
            bytes += count;
            size -= count;
        }
        const int number = file.number;
        file.number = -1;
        if (::close(number) < 0) throw file_error(path, "cannot be written");
    }
    if (::rename(temporary.path.c_str(), path.c_str()) < 0) throw file_error(path, "cannot be written");
    temporary.path.clear();
}
