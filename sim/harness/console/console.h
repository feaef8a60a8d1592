// SPDX-License-Identifier: BSD-2-Clause
// The guest's console: output that no command has consumed yet, and keys that are still to be typed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

class Console {
public:
    static constexpr uint64_t kNever = UINT64_MAX;
    // Cycles between two typed bytes; while the UART's FIFO is full, the next one waits longer.
    static constexpr uint64_t kPace = 1000;

    void log_to(const std::string& path);
    // Raises an Error if output since the previous call could not be written.
    void flush_log();
    std::function<void(uint8_t)> echo;  // also gets every printed byte, if set

    // Printing: by the guest. True if this byte completes the expected text.
    bool printed(uint8_t byte);
    // Looks for `text` in the output so far; if it is not there, printed() finds it later.
    bool expect(const std::string& text);
    void forget_expected() { expected_.clear(); }
    const std::string& output() const { return output_; }  // not consumed
    // All output up to the end of the first `text`, or all output; it is consumed.
    std::string consume(const std::string& text = "");

    // Typing: by the user. `due` is the cycle of the next byte, or kNever.
    void type(const std::string& text, uint64_t cycle);
    bool typing() const { return !typed_.empty(); }
    uint64_t due() const { return typed_.empty() ? kNever : due_; }
    std::optional<uint8_t> next(bool ready, uint64_t cycle);

    template <class Archive> void state(Archive& archive) { archive(output_, typed_, due_); }

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    static constexpr size_t kKept = 8 << 20;  // unconsumed output, the latest

    std::string output_, expected_, typed_;
    uint64_t due_ = 0;
    std::unique_ptr<std::FILE, Close> log_;
    std::string log_path_;
    int log_failed_ = 0;  // errno of a failed write to the log, until it is reported
};
