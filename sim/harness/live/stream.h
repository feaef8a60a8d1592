// SPDX-License-Identifier: BSD-2-Clause
// A file that grows during a live session: written content stays, however the session ends.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

class Stream {
public:
    // Does not wait for a pipe's reader: without one, the pipe counts as closed by it.
    explicit Stream(const std::string& path);
    void write(const void* octets, size_t size);
    void write16(uint16_t value) { little(value, 2); }
    void write32(uint32_t value) { little(value, 4); }
    void write64(uint64_t value) { little(value, 8); }
    void flush();
    // Whether all was written. False: the reader has closed the pipe. Raises an Error for other failures, but not within a
    // cycle.
    bool check() const;

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    int failed_ = 0;  // errno of the first failure

    void little(uint64_t value, unsigned octets);
};
