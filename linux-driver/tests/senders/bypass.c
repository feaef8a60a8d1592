// SPDX-License-Identifier: BSD-2-Clause
/* Sends frames by an interface without its qdisc (PACKET_QDISC_BYPASS), until it is killed, also while the
 * interface is down or gone.
 */
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

int main(int argc, char **argv)
{
	static const unsigned char frame[60] = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
	const struct timespec moment = {.tv_nsec = 5000000};
	int on = 1, fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (argc != 2 || setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on))) {
		perror("bypass");
		return 1;
	}
	for (;;) {
		struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(argv[1])};

		sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to));
		nanosleep(&moment, NULL);
	}
}
