/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `ethtool -S INTERFACE --all-groups` (stats), `ethtool -I -a INTERFACE` (pause) and the kernel's
 * ynl (qstats) ask for, which need netlink: prints the attributes of the answer, in hexadecimal.
 *
 *     groups INTERFACE stats|pause|qstats
 */
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netdev.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static _Alignas(NLMSG_ALIGNTO) unsigned char buffer[8192];
static struct nlmsghdr *const message = (void *)buffer;
static int netlink;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void begin(uint16_t family, uint8_t command)
{
	struct genlmsghdr *header = NLMSG_DATA(message);

	memset(buffer, 0, sizeof(buffer));
	message->nlmsg_len = NLMSG_LENGTH(sizeof(*header));
	message->nlmsg_type = family;
	message->nlmsg_flags = NLM_F_REQUEST;
	header->cmd = command;
	header->version = 1;
}

static struct nlattr *put(uint16_t type, const void *data, size_t length)
{
	struct nlattr *attribute = (void *)(buffer + message->nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + length;
	if (length)
		memcpy((char *)attribute + NLA_HDRLEN, data, length);
	message->nlmsg_len += NLA_ALIGN(attribute->nla_len);
	return attribute;
}

static void end_nest(struct nlattr *attribute)
{
	attribute->nla_len = buffer + message->nlmsg_len - (unsigned char *)attribute;
}

/* Leaves the answer in the buffer. Return: its attributes, and their length */
static unsigned char *ask(size_t *length)
{
	if (send(netlink, buffer, message->nlmsg_len, 0) < 0 ||
	    recv(netlink, buffer, sizeof(buffer), 0) < 0)
		die("netlink");
	if (message->nlmsg_type == NLMSG_ERROR) {
		fprintf(stderr, "error %d\n", ((struct nlmsgerr *)NLMSG_DATA(message))->error);
		exit(1);
	}
	*length = message->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
	return buffer + NLMSG_LENGTH(GENL_HDRLEN);
}

static uint16_t family(const char *name)
{
	size_t length;
	struct nlattr *attribute;

	begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	put(CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	attribute = (void *)ask(&length);
	while (attribute->nla_type != CTRL_ATTR_FAMILY_ID)
		attribute = (void *)((char *)attribute + NLA_ALIGN(attribute->nla_len));
	return *(uint16_t *)((char *)attribute + NLA_HDRLEN);
}

/* Of all queues of an interface, the first message of a dump */
static void ask_qstats(const char *interface)
{
	uint32_t index = if_nametoindex(interface);

	begin(family(NETDEV_FAMILY_NAME), NETDEV_CMD_QSTATS_GET);
	message->nlmsg_flags |= NLM_F_DUMP;
	put(NETDEV_A_QSTATS_IFINDEX, &index, sizeof(index));
}

static void ask_ethtool(const char *interface, int stats)
{
	uint32_t groups = 1 << ETHTOOL_STATS_ETH_MAC | 1 << ETHTOOL_STATS_ETH_CTRL |
			  1 << ETHTOOL_STATS_RMON;
	uint32_t size = ETHTOOL_STATS_RMON + 1, flags = ETHTOOL_FLAG_STATS;
	struct nlattr *nest;

	begin(family(ETHTOOL_GENL_NAME), stats ? ETHTOOL_MSG_STATS_GET : ETHTOOL_MSG_PAUSE_GET);
	nest = put((stats ? ETHTOOL_A_STATS_HEADER : ETHTOOL_A_PAUSE_HEADER) | NLA_F_NESTED, NULL, 0);
	put(ETHTOOL_A_HEADER_DEV_NAME, interface, strlen(interface) + 1);
	if (!stats)
		put(ETHTOOL_A_HEADER_FLAGS, &flags, sizeof(flags));
	end_nest(nest);
	if (stats) {
		nest = put(ETHTOOL_A_STATS_GROUPS | NLA_F_NESTED, NULL, 0);
		put(ETHTOOL_A_BITSET_NOMASK, NULL, 0);
		put(ETHTOOL_A_BITSET_SIZE, &size, sizeof(size));
		put(ETHTOOL_A_BITSET_VALUE, &groups, sizeof(groups));
		end_nest(nest);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	unsigned char *octets;
	size_t length;

	if (argc != 3)
		return 2;
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (netlink < 0 || connect(netlink, (struct sockaddr *)&kernel, sizeof(kernel)))
		die("netlink");
	if (!strcmp(argv[2], "qstats"))
		ask_qstats(argv[1]);
	else
		ask_ethtool(argv[1], !strcmp(argv[2], "stats"));
	octets = ask(&length);
	while (length--)
		printf("%02x", *octets++);
	puts("");
	return 0;
}
