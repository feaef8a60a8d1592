/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A group of next hops whose hardware counts packets, which iproute2 6.1 does not know of:
 *
 *     nexthops make	group 9 of next hop 1
 *     nexthops count	asks for the packets of each next hop
 */
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Of Linux 6.9 */
#define OP_FLAGS		14
#define HW_STATS_ENABLE		16
#define DUMP_STATS		1
#define DUMP_HW_STATS		2

static _Alignas(NLMSG_ALIGNTO) char buffer[8192];
static struct nlmsghdr *const message = (void *)buffer;

static void put(unsigned short type, const void *data, size_t length)
{
	struct rtattr *attribute = (void *)(buffer + NLMSG_ALIGN(message->nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(length);
	memcpy(RTA_DATA(attribute), data, length);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

int main(int argc, char **argv)
{
	const struct nexthop_grp member = { .id = 1 };
	const unsigned int group = 9, enable = 1, flags = DUMP_STATS | DUMP_HW_STATS;
	int make = argc > 1 && !strcmp(argv[1], "make");
	int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct nlmsgerr *error = NLMSG_DATA(message);

	message->nlmsg_len = NLMSG_LENGTH(sizeof(struct nhmsg));
	message->nlmsg_type = make ? RTM_NEWNEXTHOP : RTM_GETNEXTHOP;
	message->nlmsg_flags = NLM_F_REQUEST | (make ? NLM_F_ACK | NLM_F_CREATE : 0);
	put(NHA_ID, &group, sizeof(group));
	if (make) {
		put(NHA_GROUP, &member, sizeof(member));
		put(HW_STATS_ENABLE, &enable, sizeof(enable));
	} else {
		put(OP_FLAGS, &flags, sizeof(flags));
	}
	if (send(netlink, message, message->nlmsg_len, 0) < 0 ||
	    recv(netlink, buffer, sizeof(buffer), 0) < 0) {
		perror("nexthops");
		return 1;
	}
	if (message->nlmsg_type == NLMSG_ERROR && error->error) {
		fprintf(stderr, "nexthops: %s\n", strerror(-error->error));
		return 1;
	}
	return 0;
}
