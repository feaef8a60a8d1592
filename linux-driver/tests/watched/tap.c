// SPDX-License-Identifier: BSD-2-Clause
/* A tap on all interfaces, in the guest: the kernel clones each frame for it. It reads the first octets
 * of each, and never ends.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <sys/socket.h>

int main(void)
{
	int tap = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	char octets[64];

	while (recv(tap, octets, sizeof(octets), 0) >= 0)
		;
	return 1;
}
