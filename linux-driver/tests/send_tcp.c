/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hands TCP segments of any length to a device that is to cut them, as TCP does, but without a peer:
 *
 *     send_tcp INTERFACE MSS LENGTH...
 *
 * sends one for each LENGTH, in octets of payload, on a packet socket. Octet n of the stream is
 * 7 * n + n / 256 modulo 256; the first has sequence number 0xfffff000.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DELAY_US 50000	/* until the bench listens */

struct frame {
	struct virtio_net_hdr offload;
	struct ethhdr eth;
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t payload[60000];
} __attribute__((packed));

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* RFC 1071, not inverted, for an even number of octets */
static uint16_t sum(uint32_t total, const void *from, unsigned int octets)
{
	for (unsigned int i = 0; i < octets; i += 2) {
		uint16_t half;

		memcpy(&half, (const char *)from + i, sizeof(half));
		total += half;
	}
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

int main(int argc, char **argv)
{
	static struct frame f;
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	int s = socket(AF_PACKET, SOCK_RAW, 0), on = 1;
	uint32_t n = 0;

	if (argc < 4)
		return 2;
	to.sll_ifindex = if_nametoindex(argv[1]);
	if (s < 0 || bind(s, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(s, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)))
		die(argv[1]);

	f.offload.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f.offload.csum_start = sizeof(f.eth) + sizeof(f.ip);
	f.offload.csum_offset = offsetof(struct tcphdr, check);
	f.offload.hdr_len = f.offload.csum_start + sizeof(f.tcp);
	memset(&f.eth, 2, 2 * ETH_ALEN);
	f.eth.h_proto = htons(ETH_P_IP);
	f.ip.version = 4;
	f.ip.ihl = 5;
	f.ip.ttl = 64;
	f.ip.protocol = IPPROTO_TCP;
	f.ip.saddr = inet_addr("198.18.0.1");
	f.ip.daddr = inet_addr("198.18.0.2");
	f.tcp.source = htons(1);
	f.tcp.dest = htons(2);
	f.tcp.doff = 5;
	f.tcp.ack = f.tcp.psh = f.tcp.fin = 1;
	f.tcp.res2 = 2;	/* CWR */
	usleep(DELAY_US);
	for (int i = 3; i < argc; i++) {
		unsigned int mss = atoi(argv[2]), len = atoi(argv[i]);
		unsigned int tcp_len = sizeof(f.tcp) + len;

		f.offload.gso_type = len > mss ? VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN : 0;
		f.offload.gso_size = len > mss ? mss : 0;
		f.ip.id = htons(100 * i);
		f.ip.tot_len = htons(sizeof(f.ip) + tcp_len);
		f.tcp.seq = htonl(0xfffff000 + n);
		f.ip.check = 0;
		f.ip.check = ~sum(0, &f.ip, sizeof(f.ip));
		/* The pseudo-header's, to which the device adds the rest */
		f.tcp.check = sum(htons(IPPROTO_TCP) + htons(tcp_len), &f.ip.saddr, 8);
		for (unsigned int k = 0; k < len; k++, n++)
			f.payload[k] = 7 * n + n / 256;
		len += sizeof(f) - sizeof(f.payload);
		if (write(s, &f, len) != (ssize_t)len)
			die("write");
	}
	return 0;
}
