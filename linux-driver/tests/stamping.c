/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches the hardware's stamps of received frames on and off.
 *
 *     stamping INTERFACE on|off
 */
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int main(int argc, char **argv)
{
	struct hwtstamp_config config = { .tx_type = HWTSTAMP_TX_OFF };
	struct ifreq ifr = { .ifr_data = (char *)&config };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (argc != 3 || strlen(argv[1]) >= IFNAMSIZ)
		return 2;
	config.rx_filter = strcmp(argv[2], "on") ? HWTSTAMP_FILTER_NONE : HWTSTAMP_FILTER_ALL;
	strcpy(ifr.ifr_name, argv[1]);
	if (fd < 0 || ioctl(fd, SIOCSHWTSTAMP, &ifr)) {
		perror("stamping: SIOCSHWTSTAMP");
		return 1;
	}
	return 0;
}
