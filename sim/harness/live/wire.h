// SPDX-License-Identifier: BSD-2-Clause
// A wire to a port of another simulator: each word arrives some cycles after it left, as if one clock drove both
// simulators.
//
// No box runs past a cycle in which a word of the other one could still arrive (conservative synchronisation: Chandy and
// Misra, CACM 24(4), 1981). A box's statement "from here, no word leaves before cycle n" holds unless a word arrives that
// it has not received. So the other box can run up to a sleeping box's next timer.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "tester/line.h"

class Wire final : public WordSource {
public:
    struct Plan {
        unsigned port;
        int socket;  // of a stream, to the other simulator's end
        uint64_t delay;  // cycles, the same in both directions
    };
    // Upper limit: words must fit into the socket's buffer while the other box does not read. 100 us at 100 MHz.
    static constexpr uint64_t kMostDelay = 10000;

    // `arrived` gets each frame when its last word arrives.
    Wire(const Plan& plan, uint64_t start, const LineRate& rate, std::function<void(const Departure&)> arrived);

    unsigned port() const { return plan_.port; }
    uint64_t due() const override { return coming_.empty() ? kNever : coming_.front().arrival; }
    Word take() override;
    // A word leaves this box in that cycle.
    void leave(const Word& word, uint64_t cycle);

    // Cycles from the one in which a word leaves to the first one in which it can arrive.
    uint64_t lookahead() const { return plan_.delay + rate_.cycles(1); }
    // The last cycle that this box may reach, as far as it is known.
    uint64_t horizon() const;

    // Reads the other box's messages; returns whether there were any. Raises an Error if it is gone, or does not fit.
    bool receive();
    // Like receive(), but waits for a message, for some milliseconds at most.
    void wait();
    // Sends words, and that no word leaves before cycle `next`, if no unknown word arrives.
    void tell(uint64_t next);
    // Whether the other box may be waiting for that.
    bool awaited(uint64_t cycle) const { return !unsent_.empty() || their_next_ <= cycle + 2 * lookahead(); }

    // This box is at a cycle, and wants to end; both boxes end at the later of their two cycles.
    void end(uint64_t cycle);
    bool asked_to_end() const { return their_end_.has_value(); }
    // The cycle at which both end, once it is agreed.
    std::optional<uint64_t> agreed() const;
    // This box has ended: waits until the other one has, too. Closing a socket with unread data would discard data in transit
    // to the other end, perhaps the agreed cycle.
    void close() const;

private:
    struct Leaving {
        uint64_t cycle;
        Word word;
    };
    struct Coming {
        uint64_t arrival, cycle;
        Word word;
    };
    // A box's message.
    struct Statement {
        uint64_t next, seen, end;  // kNever: it does not want to end
        bool operator==(const Statement& other) const {
            return next == other.next && seen == other.seen && end == other.end;
        }
    };

    Plan plan_;
    LineRate rate_;
    uint64_t start_;
    std::function<void(const Departure&)> arrived_;
    Receiver receiver_;

    std::deque<Leaving> unsent_;
    std::deque<uint64_t> unseen_;  // the first cycles in which words can arrive that the other box had not received
    uint64_t sent_ = 0, seen_ = 0;  // words
    std::deque<Coming> coming_;
    uint64_t last_arrival_ = 0;
    uint64_t their_next_ = 0;
    std::optional<uint64_t> my_end_, their_end_;
    std::optional<Statement> told_;
    std::string heard_;  // and not parsed yet
    bool greeted_ = false;
    unsigned looks_ = 64;

    void send(const std::string& octets) const;
    size_t understand(const std::string& octets);
    void understand_greeting(const std::string& octets) const;
    void require_other() const;
};
