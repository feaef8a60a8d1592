/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the kernel over netlink, for a program that runs elsewhere: sends the request on its standard
 * input, and prints what is received, in hexadecimal, a line for each time, until the request has
 * been answered.
 *
 *     netlink PROTOCOL < REQUEST
 */
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static _Alignas(NLMSG_ALIGNTO) unsigned char buffer[128 * 1024];

int main(int argc, char **argv)
{
	static const int options[] = { NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK };
	const struct nlmsghdr *message;
	int netlink, on = 1, done = 0;
	ssize_t length;

	if (argc != 2)
		return 2;
	netlink = socket(AF_NETLINK, SOCK_RAW, atoi(argv[1]));
	for (size_t n = 0; n < sizeof(options) / sizeof(*options); n++)
		setsockopt(netlink, SOL_NETLINK, options[n], &on, sizeof(on));
	length = read(STDIN_FILENO, buffer, sizeof(buffer));
	if (length <= 0 || send(netlink, buffer, length, 0) < 0) {
		perror("netlink");
		return 1;
	}
	while (!done) {
		int left = length = recv(netlink, buffer, sizeof(buffer), 0);

		if (length < 0) {
			perror("netlink");
			return 1;
		}
		for (message = (void *)buffer; NLMSG_OK(message, left);
		     message = NLMSG_NEXT(message, left))
			done |= message->nlmsg_type == NLMSG_ERROR ||
				message->nlmsg_type == NLMSG_DONE;
		for (ssize_t n = 0; n < length; n++)
			printf("%02x", buffer[n]);
		puts("");
	}
	return 0;
}
