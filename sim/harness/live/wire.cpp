// SPDX-License-Identifier: BSD-2-Clause
#include "wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "error.h"
#include "interrupt.h"

namespace {

constexpr char kMagic[] = "ModeWire";
constexpr size_t kMagicSize = sizeof kMagic - 1;
constexpr size_t kGreetingSize = kMagicSize + 8 + 8 + 4;  // start, delay, Mb/s
constexpr size_t kStatementSize = 8 + 8 + 8 + 4;          // next, seen, end, the number of words that follow
constexpr size_t kWordSize = 8 + 4 + 1 + 1;               // cycle, data, octets, whether it is a frame's last
constexpr unsigned kLeastLooks = 4, kMostLooks = 256;  // at the socket, before a wait gives up its core
constexpr int kWait = 10;         // milliseconds

void put(std::string& octets, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) octets += static_cast<char>(value >> 8 * i & 0xff);
}
uint64_t get(const std::string& octets, size_t& at, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(octets[at++])} << 8 * i;
    return value;
}

}  // namespace

Wire::Wire(const Plan& plan, uint64_t start, const LineRate& rate, std::function<void(const Departure&)> arrived)
    : plan_(plan), rate_(rate), start_(start), arrived_(std::move(arrived)) {
    std::string greeting(kMagic, kMagicSize);
    put(greeting, start, 8);
    put(greeting, plan.delay, 8);
    put(greeting, rate.mbps(), 4);
    send(greeting);
}

// Words -------------------------------------------------------------------------------------------------

void Wire::leave(const Word& word, uint64_t cycle) {
    unsent_.push_back({cycle, word});
    unseen_.push_back(cycle + lookahead());
}

// A frame's times are those of its first and last bit here.
Word Wire::take() {
    const Coming coming = coming_.front();
    coming_.pop_front();
    if (const auto frame = receiver_.receive(coming.word, plan_.port, coming.cycle + plan_.delay, rate_))
        arrived_(*frame);
    return coming.word;
}

// Time --------------------------------------------------------------------------------------------------

uint64_t Wire::horizon() const {
    if (my_end_) return agreed() ? kNever : *my_end_;
    // The other box may also react at once to words that it has not received yet.
    const uint64_t next = unseen_.empty() ? their_next_ : std::min(their_next_, unseen_.front());
    return next > kNever - lookahead() ? kNever : next + lookahead() - 1;
}

void Wire::end(uint64_t cycle) {
    if (my_end_) return;
    my_end_ = std::max(cycle, their_end_.value_or(0));
    tell(cycle + 1);
}

std::optional<uint64_t> Wire::agreed() const {
    if (!my_end_ || !their_end_) return std::nullopt;
    return std::max(*my_end_, *their_end_);
}

void Wire::close() const {
    if (!my_end_) return;
    ::shutdown(plan_.socket, SHUT_WR);
    char octets[1 << 12];
    while (::recv(plan_.socket, octets, sizeof octets, 0) > 0) {}
}

// The other box -------------------------------------------------------------------------------------------

void Wire::tell(uint64_t next) {
    const Statement statement{next, seen_, my_end_.value_or(kNever)};
    if (unsent_.empty() && told_ == statement) return;
    std::string octets;
    put(octets, statement.next, 8);
    put(octets, statement.seen, 8);
    put(octets, statement.end, 8);
    put(octets, unsent_.size(), 4);
    for (const auto& [cycle, word] : unsent_) {
        put(octets, cycle, 8);
        put(octets, word.data, 4);
        put(octets, word.bytes, 1);
        put(octets, word.last, 1);
    }
    sent_ += unsent_.size();
    unsent_.clear();
    told_ = statement;
    send(octets);
}

void Wire::send(const std::string& octets) const {
    for (size_t done = 0; done < octets.size();) {
        const ssize_t size = ::send(plan_.socket, octets.data() + done, octets.size() - done, MSG_NOSIGNAL);
        if (size >= 0) done += size;
        else if (errno == EINTR) stop_if_interrupted();
        else if (agreed()) return;  // the other box has ended, as agreed
        else require_other();
    }
}

bool Wire::receive() {
    char octets[1 << 14];
    bool any = false;
    for (;;) {
        const ssize_t size = ::recv(plan_.socket, octets, sizeof octets, MSG_DONTWAIT);
        if (size > 0) {
            heard_.append(octets, size);
            continue;
        }
        const bool gone = size == 0 || (errno != EAGAIN && errno != EINTR);
        for (size_t used; (used = understand(heard_)) != 0; any = true) heard_.erase(0, used);
        if (gone && !their_end_) require_other();
        return any;
    }
}

void Wire::wait() {
    // A box with a core of its own answers within microseconds; one without a core needs this one's.
    for (unsigned look = 0; look < looks_; ++look) {
        if (!receive()) continue;
        looks_ = std::min(2 * looks_, kMostLooks);
        return;
    }
    looks_ = std::max(looks_ / 2, kLeastLooks);
    pollfd input = {plan_.socket, POLLIN, 0};
    ::poll(&input, 1, kWait);
    receive();
}

// The length of the first complete message in the received octets; 0: none is complete.
size_t Wire::understand(const std::string& octets) {
    if (!greeted_) {
        if (octets.size() < kGreetingSize) return 0;
        understand_greeting(octets);
        greeted_ = true;
        return kGreetingSize;
    }
    if (octets.size() < kStatementSize) return 0;
    size_t at = 0;
    const uint64_t next = get(octets, at, 8), seen = get(octets, at, 8), end = get(octets, at, 8);
    const uint64_t words = get(octets, at, 4);
    if (octets.size() < kStatementSize + words * kWordSize) return 0;
    for (uint64_t n = 0; n < words; ++n) {
        const uint64_t cycle = get(octets, at, 8);
        Word word{};
        word.data = get(octets, at, 4);
        word.bytes = get(octets, at, 1);
        word.last = get(octets, at, 1) != 0;
        // A word arrives with its last octet, and the pads show one word per cycle.
        last_arrival_ = std::max(cycle + plan_.delay + rate_.cycles(word.bytes), last_arrival_ + 1);
        coming_.push_back({last_arrival_, cycle, word});
    }
    seen_ += words;
    their_next_ = next;
    while (sent_ + unsent_.size() - unseen_.size() < seen) unseen_.pop_front();
    if (end != kNever) their_end_ = end;
    return at;
}

void Wire::understand_greeting(const std::string& octets) const {
    if (octets.compare(0, kMagicSize, kMagic) != 0) throw Error("wire: its other end is not a simulator");
    size_t at = kMagicSize;
    const uint64_t start = get(octets, at, 8), delay = get(octets, at, 8), mbps = get(octets, at, 4);
    if (start != start_)
        throw Error("wire: this box starts at cycle " + std::to_string(start_) + ", the other one at " +
                    std::to_string(start) + "; run the earlier one up to there");
    if (delay != plan_.delay || mbps != rate_.mbps())
        throw Error("wire: delay and rate are not the same at both ends; give both the same ones");
}

void Wire::require_other() const { throw Error("wire: the other box is gone, and this one can't go on without it"); }
