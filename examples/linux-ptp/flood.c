/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flood INTERFACE OCTETS [PRIORITY]: sends frames of OCTETS, without FCS, to a station that does not
 * exist, as fast as INTERFACE takes them, until it is ended
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdlib.h>
#include <sys/socket.h>

#define HEADER	     14
#define EXPERIMENTAL 0x88b5 /* EtherType of IEEE 802 for local experiments */

int main(int argc, char **argv)
{
	static const char payload[1500];
	int frames = socket(AF_PACKET, SOCK_DGRAM, 0);
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(EXPERIMENTAL),
		.sll_halen = 6,
		.sll_addr = { 2, 0, 0, 0, 0, 99 },
	};
	unsigned long octets;
	int priority;

	if (argc < 3 || frames < 0)
		return 1;
	to.sll_ifindex = if_nametoindex(argv[1]);
	octets = strtoul(argv[2], NULL, 0) - HEADER;
	priority = argc > 3 ? atoi(argv[3]) : 0;
	if (octets > sizeof(payload) ||
	    setsockopt(frames, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)))
		return 1;
	for (;;)
		sendto(frames, payload, octets, 0, (struct sockaddr *)&to, sizeof(to));
}
