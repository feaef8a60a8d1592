/* SPDX-License-Identifier: BSD-2-Clause */
/*
  * lwIP as the tester's TCP: raw API and IPv4 only. It must never limit a connection, so its queues are as long as its
  * window can be, and its memory is the host's. Options that are missing here have lwIP's defaults.
 */
#pragma once

#include <stdint.h>

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_TIMERS 0 /* stack.cpp calls them in the cycles when they are due */
#define LWIP_STATS 0

#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1
#define MEM_ALIGNMENT 8

/* The tester's own ARP and ICMP answer before lwIP. Each address has one interface, and no loopback. */
#define LWIP_ARP 0
#define LWIP_ICMP 0
#define LWIP_UDP 0
#define LWIP_RAW 0
#define IP_REASSEMBLY 0
#define IP_FRAG 0
#define IP_FORWARD 0
#define LWIP_NETIF_LOOPBACK 0
struct netif;
struct ip4_addr;
#ifdef __cplusplus
extern "C" {
#endif
struct netif* tcp_way_out(const struct ip4_addr* source);
uint32_t tcp_first_sequence(uint16_t local_port, uint16_t remote_port);
extern uint32_t tcp_window, tcp_window_scale;
#ifdef __cplusplus
}
#endif
#define LWIP_HOOK_IP4_ROUTE_SRC(source, destination) tcp_way_out(source)
/* Reproducible in each run: lwIP's own numbers continue from earlier connections. */
#define LWIP_HOOK_TCP_ISN(local_ip, local_port, remote_ip, remote_port) tcp_first_sequence(local_port, remote_port)

#define TCP_MSS 1460 /* of an MTU of 1500: 1448 octets of data and the time stamps */
#define LWIP_TCP_TIMESTAMPS 1
#define LWIP_TCP_SACK_OUT 1
#define LWIP_WND_SCALE 1
#define TCP_QUEUE_OOSEQ 1
/* Each `talk` chooses its window. (lwIP's init.c requires constants, only to check them: it is left out.) */
#define TCP_WND tcp_window
#define TCP_RCV_SCALE tcp_window_scale
#define TCP_SND_BUF (16 << 20)
#define TCP_SND_QUEUELEN 60000
#define LWIP_TCP_CALC_INITIAL_CWND(mss) (10U * (mss)) /* RFC 6928 */

/*
 * The slow timer, of twice this time, ticks each 100 ms: a retransmission comes after 200 to 300 ms, like Linux' (200 ms).
 * The fast one, of delayed acknowledgements, is 50 ms (Linux: 40).
 */
#define TCP_TMR_INTERVAL 50
/* The timeout for a peer without answers is 4.6 s (0.3 + 0.6 + 1.2 + 2.4, and a tick), or 4.1 s while connecting. */
#define TCP_MAXRTX 4
#define TCP_SYNMAXRTX 4
#define TCP_MSL 1000UL
/* An end that only receives detects a lost peer within the same time. */
#define LWIP_TCP_KEEPALIVE 1
#define TCP_KEEPIDLE_DEFAULT 3000UL
#define TCP_KEEPINTVL_DEFAULT 500UL
#define TCP_KEEPCNT_DEFAULT 3U
