/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints a packet socket's metadata of each received GSO packet of TCP over IPv4, a line each:
 *
 *     tap INTERFACE
 *
 * octets, flags of struct virtio_net_hdr, where the checksum starts and lies, and the sum of the
 * pseudo-header and of what the packet has for a checksum: 0xffff if that is the pseudo-header's only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

static struct {
	struct virtio_net_hdr offload;
	struct ethhdr eth;
	struct iphdr ip;
	struct tcphdr tcp;
	uint8_t payload[66000];
} __attribute__((packed)) packet;

static uint32_t add(uint32_t sum, uint32_t value)
{
	sum += (value >> 16) + (value & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

int main(int argc, char **argv)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(argv[argc - 1]),
	};
	int s = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP)), on = 1, octets = 8 << 20;

	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &octets, sizeof(octets)) ||
	    setsockopt(s, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    bind(s, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	for (;;) {
		int length = recv(s, &packet, sizeof(packet), 0);
		uint32_t sum;

		if (length < 0)
			return 1;
		if (packet.offload.gso_type != VIRTIO_NET_HDR_GSO_TCPV4)
			continue;
		sum = add(0, ntohl(packet.ip.saddr));
		sum = add(sum, ntohl(packet.ip.daddr));
		sum = add(sum, IPPROTO_TCP + ntohs(packet.ip.tot_len) - 4 * packet.ip.ihl);
		sum = add(sum, 0xffff & ~ntohs(packet.tcp.check));
		printf("%d %d %d %d %d\n", length, packet.offload.flags, packet.offload.csum_start,
		       packet.offload.csum_offset, sum);
		fflush(stdout);
	}
}
