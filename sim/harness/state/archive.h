// SPDX-License-Identifier: BSD-2-Clause
// Saving and loading of state. A class lists its state once, for both directions:
//
//     template <class Archive> void state(Archive& archive) { archive(count_, text_, frames_); }
//
// The streams are Verilator's, so that the model's own state goes through the same one.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <vector>

#include "error.h"
#include "verilated_save.h"

class Saver final : public VerilatedSerialize {
public:
    Saver() { m_isOpen = true; }
    void flush() override {
        bytes_.insert(bytes_.end(), m_bufp, m_cp);
        m_cp = m_bufp;
    }
    // All saved octets; the archive is empty afterwards.
    std::vector<uint8_t> take() {
        flush();
        return std::move(bytes_);
    }
    template <class... Parts> void operator()(Parts&... parts) { (part(parts), ...); }

private:
    std::vector<uint8_t> bytes_;

    template <class T> void part(T& value) {
        if constexpr (std::is_trivially_copyable_v<T>) write(&value, sizeof value);
        else value.state(*this);
    }
    void part(std::string& text) { sequence(text); }
    template <class T> void part(std::vector<T>& items) { sequence(items); }
    template <class T> void part(std::deque<T>& items) { sequence(items); }
    template <class Items> void sequence(Items& items) {
        uint64_t size = items.size();
        part(size);
        for (auto& item : items) part(item);
    }
};

class Loader final : public VerilatedDeserialize {
public:
    explicit Loader(const std::vector<uint8_t>& bytes) : bytes_(bytes) {
        m_isOpen = true;
        m_cp = m_endp = m_bufp;
    }
    void fill() override {
        const size_t rest = m_endp - m_cp;
        std::memmove(m_bufp, m_cp, rest);
        const size_t more = std::min(bufferSize() - rest, bytes_.size() - position_);
        std::memcpy(m_bufp + rest, bytes_.data() + position_, more);
        position_ += more;
        m_cp = m_bufp;
        m_endp = m_bufp + rest + more;
    }
    // Whether exactly the saved octets have been read.
    bool finished() const { return position_ == bytes_.size() && m_cp == m_endp; }
    template <class... Parts> void operator()(Parts&... parts) { (part(parts), ...); }

private:
    const std::vector<uint8_t>& bytes_;
    size_t position_ = 0;

    template <class T> void part(T& value) {
        if constexpr (std::is_trivially_copyable_v<T>) read(&value, sizeof value);
        else value.state(*this);
    }
    void part(std::string& text) { sequence(text); }
    template <class T> void part(std::vector<T>& items) { sequence(items); }
    template <class T> void part(std::deque<T>& items) { sequence(items); }
    template <class Items> void sequence(Items& items) {
        uint64_t size = 0;
        part(size);
        if (size > bytes_.size()) throw Error("the checkpoint's content makes no sense", kBadCheckpoint);
        items.resize(size);
        for (auto& item : items) part(item);
    }
};
