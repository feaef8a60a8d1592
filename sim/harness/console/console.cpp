// SPDX-License-Identifier: BSD-2-Clause
#include "console.h"

#include <cerrno>
#include <utility>

#include "error.h"

void Console::log_to(const std::string& path) {
    log_.reset(std::fopen(path.c_str(), "ab"));
    if (!log_) throw file_error(path, "cannot be written");
    std::setvbuf(log_.get(), nullptr, _IOLBF, 4096);
    log_path_ = path;
}

void Console::flush_log() {
    if (log_ && std::fflush(log_.get()) != 0) log_failed_ = errno;
    if (!log_failed_) return;
    errno = std::exchange(log_failed_, 0);
    throw file_error(log_path_, "cannot be written");
}

bool Console::printed(uint8_t byte) {
    if (output_.size() >= 2 * kKept) output_.erase(0, kKept);
    output_ += static_cast<char>(byte);
    // Clears the stream's error: the next fflush() would not report what could not be written.
    if (log_ && std::putc(byte, log_.get()) == EOF) log_failed_ = errno;
    if (echo) echo(byte);
    return !expected_.empty() && output_.size() >= expected_.size() &&
           output_.compare(output_.size() - expected_.size(), expected_.size(), expected_) == 0;
}

bool Console::expect(const std::string& text) {
    expected_ = text;
    return output_.find(text) != std::string::npos;
}

std::string Console::consume(const std::string& text) {
    const size_t found = text.empty() ? std::string::npos : output_.find(text);
    const size_t end = found == std::string::npos ? output_.size() : found + text.size();
    const std::string head = output_.substr(0, end);
    output_.erase(0, end);
    return head;
}

void Console::type(const std::string& text, uint64_t cycle) {
    if (typed_.empty()) due_ = std::max(due_, cycle + 1);
    typed_ += text;
}

std::optional<uint8_t> Console::next(bool ready, uint64_t cycle) {
    due_ = cycle + kPace;
    if (!ready) return std::nullopt;
    const uint8_t byte = typed_.front();
    typed_.erase(0, 1);
    return byte;
}
