// SPDX-License-Identifier: BSD-2-Clause
// A file that grows while a live session runs: what was written stays, however the session ends.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

class Stream {
public:
    // Waits for nobody to read a pipe: it is then as if the reader had left.
    explicit Stream(const std::string& path);
    void write(const void* octets, size_t size);
    void write16(uint16_t value) { little(value, 2); }
    void write32(uint32_t value) { little(value, 4); }
    void write64(uint64_t value) { little(value, 8); }
    void flush();
    // Whether all was written. False: it is a pipe whose reader has left. Raises an Error for any other failure, which a
    // cycle in progress is no time for.
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
