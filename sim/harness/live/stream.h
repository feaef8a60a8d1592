// SPDX-License-Identifier: BSD-2-Clause
// A file that grows while a live session runs: what was written stays, however the session ends.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

class Stream {
public:
    explicit Stream(const std::string& path);
    void write(const void* octets, size_t size);
    void write16(uint16_t value) { little(value, 2); }
    void write32(uint32_t value) { little(value, 4); }
    void write64(uint64_t value) { little(value, 8); }
    void flush();
    // Raises an Error if anything could not be written: a cycle under way is no time for that.
    void check() const;

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    int failed_ = 0;  // errno of the first failure

    void little(uint64_t value, unsigned octets);
};
