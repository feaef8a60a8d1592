// SPDX-License-Identifier: BSD-2-Clause
// The tester's ends of a connection, programs on lwIP: one sends a stream, one receives and compares it.
#pragma once

#include <functional>
#include <optional>

#include "lwip/tcp.h"
#include "tester/frame.h"

enum class Outcome { kNone, kClosed, kRefused, kReset, kTimedOut, kVanished };

// A pause of one end, after a number of octets of its own connection.
struct Stall {
    uint64_t after = 0, cycles = 0;
};

class End {
public:
    using Moved = std::function<void(uint64_t octets)>;

    explicit End(Moved moved) : moved_(std::move(moved)) {}
    virtual ~End() = default;
    End(const End&) = delete;

    // None while it is open. Closed: both directions are closed and acknowledged.
    Outcome outcome() const { return outcome_; }
    std::optional<uint64_t> connected_cycle() const { return connected_cycle_; }
    uint64_t octets() const { return octets_; }  // moved
    // After lwIP's turn: continues, and checks whether lwIP has finished the connection.
    void advance();
    // The next cycle in which it has work of its own.
    virtual uint64_t due() const { return UINT64_MAX; }

protected:
    tcp_pcb* pcb_ = nullptr;
    uint64_t octets_ = 0;
    Outcome outcome_ = Outcome::kNone;
    std::optional<uint64_t> connected_cycle_;
    bool closing_ = false;  // only lwIP has work left
    Moved moved_;

    void adopt(tcp_pcb* pcb);
    void move(uint64_t octets);
    err_t leave(Outcome outcome);  // with a reset if that is the outcome, else without a segment
    virtual void go_on() = 0;
    virtual err_t received(pbuf* packet) = 0;  // null: the other end has closed its direction
    virtual err_t acknowledged(uint64_t) { return ERR_OK; }

private:
    static err_t on_received(void* self, tcp_pcb*, pbuf* packet, err_t);
    static err_t on_acknowledged(void* self, tcp_pcb*, u16_t octets);
    static void on_failed(void* self, err_t why);
    void failed(err_t why);
};

// Connects, sends the pattern (soc/linux/stream/pattern.h), closes. Acknowledged octets count.
class Sending final : public End {
public:
    Sending(uint32_t key, uint64_t octets, std::optional<uint64_t> vanish_after, Moved moved)
        : End(std::move(moved)), key_(key), all_(octets), vanish_after_(vanish_after) {}
    void connect(const IpAddress& from, uint16_t from_port, const IpAddress& to, uint16_t to_port);

private:
    uint32_t key_;
    uint64_t all_, written_ = 0;
    std::optional<uint64_t> vanish_after_;
    bool ended_ = false, other_ended_ = false;

    static err_t on_connected(void* self, tcp_pcb*, err_t);
    void go_on() override;
    err_t received(pbuf* packet) override;
    err_t acknowledged(uint64_t octets) override;
    bool write();
};

// Receives and compares, until the other end closes.
class Receiving final : public End {
public:
    struct Habits {
        std::optional<Stall> stall;
        std::optional<uint64_t> vanish_after, reset_after;
    };
    // Without a key nothing is compared.
    Receiving(std::optional<uint32_t> key, Habits habits, Moved moved)
        : End(std::move(moved)), key_(key), habits_(habits) {}
    void accept(tcp_pcb* pcb);

    bool compared() const { return key_.has_value(); }
    uint64_t corrupted() const { return corrupted_; }
    std::optional<uint64_t> first_corrupted() const { return first_corrupted_; }
    bool ended() const { return other_ended_; }  // the stream has come to its end
    uint64_t due() const override;

private:
    std::optional<uint32_t> key_;
    Habits habits_;
    uint64_t corrupted_ = 0, unread_ = 0;
    std::optional<uint64_t> first_corrupted_, stalled_until_;
    bool other_ended_ = false;

    void go_on() override;
    err_t received(pbuf* packet) override;
    void compare(const uint8_t* octets, size_t size, uint64_t at);
    bool stalled() const;
};
