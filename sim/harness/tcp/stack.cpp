// SPDX-License-Identifier: BSD-2-Clause
#include "stack.h"

#include <array>

#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/sys.h"
#include "soc_config.h"
#include "tester/octets.h"

namespace {

constexpr uint64_t kMillisecond = kSysClkHz / 1000;
constexpr uint16_t kMtu = 1500;

uint64_t now_cycle = 0;

ip4_addr_t address(const IpAddress& ip) {
    ip4_addr_t out;
    IP4_ADDR(&out, ip[0], ip[1], ip[2], ip[3]);
    return out;
}

void forget_all(tcp_pcb*& list) {
    while (list) {
        tcp_err(list, nullptr);
        tcp_abandon(list, 0);
    }
}

}  // namespace

struct Stack::Interfaces {
    Stack& stack;
    std::array<netif, kPorts> all{};

    static err_t output(netif* interface, pbuf* packet, const ip4_addr_t*) {
        const auto port = static_cast<unsigned>(interface->num);
        Stack& stack = *static_cast<Stack*>(interface->state);
        Octets frame(kIp + packet->tot_len);
        put(frame, kDestination, guest(port).mac);
        put(frame, kSource, tester(port).mac);
        put16(&frame[kEtherType], kEtherTypeIp);
        pbuf_copy_partial(packet, &frame[kIp], packet->tot_len, 0);
        // lwIP's counters continue from the connections of earlier runs.
        put16(&frame[kIp + 4], stack.identification_++);
        finish_ip(frame);
        frame.resize(std::max(frame.size(), kMinFrame - kFcs));
        stack.output_(port, std::move(frame));
        return ERR_OK;
    }

    static err_t begin(netif* interface) {
        interface->mtu = kMtu;
        interface->output = output;
        return ERR_OK;
    }
};

// Functions that lwIP requires (lwipopts.h).
extern "C" {

uint32_t tcp_window, tcp_window_scale;

u32_t sys_now() { return now_cycle / kMillisecond; }

uint32_t tcp_first_sequence(uint16_t local_port, uint16_t remote_port) {
    return (local_port * 0x9e3779b9u ^ remote_port * 0x85ebca6bu) + static_cast<uint32_t>(now_cycle);
}

netif* tcp_way_out(const ip4_addr* source) {
    netif* interface;
    NETIF_FOREACH(interface)
    if (ip4_addr_cmp(netif_ip4_addr(interface), source)) return interface;
    return nullptr;
}
}

Stack::Stack(uint32_t window, uint64_t start, Output output)
    : interfaces_(new Interfaces{*this}), output_(std::move(output)), due_(start + TCP_TMR_INTERVAL * kMillisecond) {
    set_now(start);
    tcp_window = window;
    for (tcp_window_scale = 0; window >> tcp_window_scale > 0xffff;) ++tcp_window_scale;
    tcp_ticks = 1;  // as in the first run; lwIP mistakes 0 for no time
    static const bool once = (tcp_init(), true);
    (void)once;
    const ip4_addr_t mask = address({255, 255, 255, 0}), none = address({0, 0, 0, 0});
    for (unsigned port = 0; port < kPorts; ++port) {
        netif& interface = interfaces_->all[port];
        const ip4_addr_t own = address(tester(port).ip);
        netif_add(&interface, &own, &mask, &none, this, Interfaces::begin, ip4_input);
        interface.num = port;
        netif_set_up(&interface);
        netif_set_link_up(&interface);
    }
}

Stack::~Stack() {
    forget_all(tcp_active_pcbs);
    forget_all(tcp_tw_pcbs);
    forget_all(tcp_bound_pcbs);
    while (tcp_listen_pcbs.pcbs) tcp_close(tcp_listen_pcbs.pcbs);
    for (netif& interface : interfaces_->all) netif_remove(&interface);
}

void Stack::set_now(uint64_t cycle) { now_cycle = cycle; }

uint64_t Stack::now() { return now_cycle; }

void Stack::input(unsigned port, const Octets& frame) {
    const size_t size = frame.size() - kIp - kFcs;
    pbuf* packet = pbuf_alloc(PBUF_RAW, size, PBUF_RAM);
    pbuf_take(packet, &frame[kIp], size);
    ip4_input(packet, &interfaces_->all[port]);
}

void Stack::tick() {
    due_ += TCP_TMR_INTERVAL * kMillisecond;
    // Like tcp_tmr(), whose counter would continue from an earlier run.
    tcp_fasttmr();
    if (ticks_++ % 2) tcp_slowtmr();
}

bool Stack::active() const { return tcp_active_pcbs != nullptr; }
