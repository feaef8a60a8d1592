// SPDX-License-Identifier: BSD-2-Clause
#include "ends.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lwip/priv/tcp_priv.h"
#include "stream/pattern.h"
#include "tcp/stack.h"

namespace {

constexpr uint64_t kAhead = 1 << 16;  // octets queued in lwIP: enough for the window that an acknowledgement opens
constexpr size_t kPortion = 1 << 15;  // octets written at once
constexpr int kFirstTimeout = 1000 / TCP_SLOW_INTERVAL;  // RFC 6298: one second; lwIP: three

ip_addr_t address(const IpAddress& ip) {
    ip_addr_t out;
    IP_ADDR4(&out, ip[0], ip[1], ip[2], ip[3]);
    return out;
}

// Whether lwIP still works on it. It frees a connection without a callback when both directions are closed.
bool active(const tcp_pcb* pcb, const void* owner) {
    for (const tcp_pcb* one = tcp_active_pcbs; one; one = one->next)
        if (one == pcb && one->callback_arg == owner) return true;
    return false;
}

}  // namespace

// Both ends -------------------------------------------------------------------------------------------

void End::adopt(tcp_pcb* pcb) {
    pcb_ = pcb;
    tcp_arg(pcb, this);
    tcp_err(pcb, on_failed);
    tcp_recv(pcb, on_received);
    tcp_sent(pcb, on_acknowledged);
    ip_set_option(pcb, SOF_KEEPALIVE);
    pcb->rto = pcb->sv = kFirstTimeout;
}

void End::move(uint64_t octets) {
    octets_ += octets;
    moved_(octets);
}

void End::advance() {
    if (pcb_ && !closing_) go_on();
    if (!pcb_ || !closing_ || active(pcb_, this)) return;
    pcb_ = nullptr;
    outcome_ = Outcome::kClosed;
}

err_t End::leave(Outcome outcome) {
    outcome_ = outcome;
    tcp_err(pcb_, nullptr);
    tcp_abandon(std::exchange(pcb_, nullptr), outcome == Outcome::kReset);
    return ERR_ABRT;  // means to lwIP that the connection is gone
}

err_t End::on_received(void* self, tcp_pcb*, pbuf* packet, err_t) { return static_cast<End*>(self)->received(packet); }

err_t End::on_acknowledged(void* self, tcp_pcb*, u16_t octets) { return static_cast<End*>(self)->acknowledged(octets); }

void End::on_failed(void* self, err_t why) { static_cast<End*>(self)->failed(why); }

void End::failed(err_t why) {
    pcb_ = nullptr;  // lwIP has freed it
    if (why == ERR_CLSD) outcome_ = Outcome::kClosed;
    else if (why == ERR_RST) outcome_ = connected_cycle_ ? Outcome::kReset : Outcome::kRefused;
    else outcome_ = Outcome::kTimedOut;
}

// Sending ---------------------------------------------------------------------------------------------

void Sending::connect(const IpAddress& from, uint16_t from_port, const IpAddress& to, uint16_t to_port) {
    const ip_addr_t own = address(from), other = address(to);
    adopt(tcp_new());
    tcp_bind(pcb_, &own, from_port);
    tcp_connect(pcb_, &other, to_port, on_connected);
}

err_t Sending::on_connected(void* self, tcp_pcb*, err_t) {
    static_cast<Sending*>(self)->connected_cycle_ = Stack::now();
    return ERR_OK;
}

err_t Sending::acknowledged(uint64_t octets) {
    move(octets);
    return vanish_after_ && octets_ >= *vanish_after_ ? leave(Outcome::kVanished) : ERR_OK;
}

err_t Sending::received(pbuf* packet) {
    if (!packet) {
        other_ended_ = true;
    } else {  // an unexpected connection
        tcp_recved(pcb_, packet->tot_len);
        pbuf_free(packet);
    }
    return ERR_OK;
}

bool Sending::write() {
    std::array<uint8_t, kPortion> portion;
    const size_t size = std::min<uint64_t>(kPortion, all_ - written_);
    if (size == 0 || pcb_->snd_lbb - pcb_->snd_nxt >= kAhead || tcp_sndbuf(pcb_) < size) return false;
    for (size_t n = 0; n < size; ++n) portion[n] = pattern_octet(key_, written_ + n);
    const bool last = written_ + size == all_;
    if (tcp_write(pcb_, portion.data(), size, TCP_WRITE_FLAG_COPY | (last ? 0 : TCP_WRITE_FLAG_MORE)) != ERR_OK)
        return false;
    written_ += size;
    return true;
}

// lwIP sends what the windows allow, so it gets more octets as long as it accepts them.
void Sending::go_on() {
    if (!connected_cycle_) return;
    while (write()) {
        if (written_ == all_) break;
        if (pcb_->snd_lbb - pcb_->snd_nxt >= kAhead) tcp_output(pcb_);
    }
    if (written_ == all_ && !ended_) ended_ = tcp_shutdown(pcb_, 0, 1) == ERR_OK;
    tcp_output(pcb_);
    if (!ended_ || !other_ended_ || octets_ < all_) return;
    closing_ = true;
    tcp_close(pcb_);
}

// Receiving -------------------------------------------------------------------------------------------

void Receiving::accept(tcp_pcb* pcb) {
    adopt(pcb);
    connected_cycle_ = Stack::now();
}

err_t Receiving::received(pbuf* packet) {
    if (!packet) {
        other_ended_ = true;
        moved_(0);  // the end of a stream counts, too
        return ERR_OK;
    }
    uint64_t at = octets_;
    for (const pbuf* part = packet; part; at += part->len, part = part->next)
        compare(static_cast<const uint8_t*>(part->payload), part->len, at);
    const uint64_t size = packet->tot_len;
    pbuf_free(packet);
    unread_ += size;
    move(size);
    if (habits_.reset_after && octets_ >= *habits_.reset_after) return leave(Outcome::kReset);
    if (habits_.vanish_after && octets_ >= *habits_.vanish_after) return leave(Outcome::kVanished);
    if (habits_.stall && !stalled_until_ && octets_ >= habits_.stall->after)
        stalled_until_ = Stack::now() + habits_.stall->cycles;
    go_on();
    return ERR_OK;
}

void Receiving::compare(const uint8_t* octets, size_t size, uint64_t at) {
    if (!key_) return;
    for (size_t n = 0; n < size; ++n) {
        if (octets[n] == pattern_octet(*key_, at + n)) continue;
        if (!first_corrupted_) first_corrupted_ = at + n;
        ++corrupted_;
    }
}

bool Receiving::stalled() const { return stalled_until_ && Stack::now() < *stalled_until_; }

uint64_t Receiving::due() const { return pcb_ && stalled() ? *stalled_until_ : UINT64_MAX; }

void Receiving::go_on() {
    if (stalled()) return;
    for (; unread_; unread_ -= std::min<uint64_t>(unread_, 0xffff))
        tcp_recved(pcb_, std::min<uint64_t>(unread_, 0xffff));
    // Not within received(): lwIP still has to report the end of the stream.
    if (!other_ended_ || pcb_->state != CLOSE_WAIT) return;
    closing_ = true;
    tcp_close(pcb_);
}
