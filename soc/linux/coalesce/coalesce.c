/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows or sets coalescing parameters for which ethtool needs netlink. The guest's ethtool has none:
 *
 *     coalesce INTERFACE rx|tx profile [USECS,FRAMES ...]
 *     coalesce INTERFACE rx|tx cqe-mode [on|off]
 *
 * The first is `ethtool -C INTERFACE rx-profile ...` of ethtool 6.11: the profiles that the kernel's
 * DIM chooses from. The second is `cqe-mode-rx on`: rx-usecs restarts with each frame.
 */
#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static _Alignas(NLMSG_ALIGNTO) char buffer[4096];
static struct nlmsghdr *const message = (void *)buffer;
static int netlink;

static void die(const char *what, int error)
{
	fprintf(stderr, "coalesce: %s: %s\n", what, strerror(error));
	exit(1);
}

static void usage(void)
{
	fputs("usage: coalesce INTERFACE rx|tx profile [USECS,FRAMES ...]\n"
	      "       coalesce INTERFACE rx|tx cqe-mode [on|off]\n",
	      stderr);
	exit(2);
}

/* Requests */

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

	if (message->nlmsg_len + NLA_HDRLEN + NLA_ALIGN(length) > sizeof(buffer))
		usage();
	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + length;
	if (length)
		memcpy((char *)attribute + NLA_HDRLEN, data, length);
	message->nlmsg_len += NLA_ALIGN(attribute->nla_len);
	return attribute;
}

static struct nlattr *nest(uint16_t type)
{
	return put(type | NLA_F_NESTED, NULL, 0);
}

static void end_nest(struct nlattr *attribute)
{
	attribute->nla_len = buffer + message->nlmsg_len - (char *)attribute;
}

/* Leaves the answer in the buffer */
static void ask(const char *what)
{
	struct nlmsgerr *error = NLMSG_DATA(message);
	ssize_t length;

	if (send(netlink, buffer, message->nlmsg_len, 0) < 0)
		die(what, errno);
	length = recv(netlink, buffer, sizeof(buffer), 0);
	if (length < 0)
		die(what, errno);
	if (message->nlmsg_type == NLMSG_ERROR && error->error)
		die(what, -error->error);
}

/* Answers: an attribute of a type among `length` octets at `first` */

static struct nlattr *payload(struct nlattr *attribute, int *length)
{
	*length = attribute->nla_len - NLA_HDRLEN;
	return (void *)((char *)attribute + NLA_HDRLEN);
}

static struct nlattr *next(struct nlattr *attribute, int *length)
{
	*length -= NLA_ALIGN(attribute->nla_len);
	return (void *)((char *)attribute + NLA_ALIGN(attribute->nla_len));
}

static struct nlattr *find(struct nlattr *first, int length, uint16_t type)
{
	for (; length >= NLA_HDRLEN; first = next(first, &length))
		if ((first->nla_type & NLA_TYPE_MASK) == type)
			return first;
	return NULL;
}

static struct nlattr *answered(uint16_t type)
{
	struct nlattr *first = (void *)((char *)NLMSG_DATA(message) + GENL_HDRLEN);

	return find(first, message->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), type);
}

static uint32_t number(struct nlattr *in, uint16_t type)
{
	int length;
	struct nlattr *first = payload(in, &length), *found = find(first, length, type);

	return found ? *(uint32_t *)payload(found, &length) : 0;
}

/* Commands */

static uint16_t ethtool_family(void)
{
	struct nlattr *id;
	int length;

	begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	put(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME, sizeof(ETHTOOL_GENL_NAME));
	ask(ETHTOOL_GENL_NAME);
	id = answered(CTRL_ATTR_FAMILY_ID);
	if (!id)
		die(ETHTOOL_GENL_NAME, ENOENT);
	return *(uint16_t *)payload(id, &length);
}

static void put_interface(const char *name)
{
	struct nlattr *header = nest(ETHTOOL_A_COALESCE_HEADER);

	put(ETHTOOL_A_HEADER_DEV_NAME, name, strlen(name) + 1);
	end_nest(header);
}

static void set_profiles(uint16_t type, char **profiles)
{
	struct nlattr *all = nest(type);

	for (; *profiles; profiles++) {
		struct nlattr *one = nest(ETHTOOL_A_PROFILE_IRQ_MODERATION);
		char *end;
		uint32_t usecs = strtoul(*profiles, &end, 10), frames;

		if (*end != ',')
			usage();
		frames = strtoul(end + 1, &end, 10);
		if (*end)
			usage();
		put(ETHTOOL_A_IRQ_MODERATION_USEC, &usecs, sizeof(usecs));
		put(ETHTOOL_A_IRQ_MODERATION_PKTS, &frames, sizeof(frames));
		end_nest(one);
	}
	end_nest(all);
}

static void show_profiles(uint16_t type)
{
	struct nlattr *all = answered(type), *one;
	int length;

	if (!all)
		die("profiles", EOPNOTSUPP);
	for (one = payload(all, &length); length >= NLA_HDRLEN; one = next(one, &length))
		printf("%u,%u\n", number(one, ETHTOOL_A_IRQ_MODERATION_USEC),
		       number(one, ETHTOOL_A_IRQ_MODERATION_PKTS));
}

static void set_mode(uint16_t type, char **word)
{
	uint8_t on = !strcmp(word[0], "on");

	if (word[1] || (!on && strcmp(word[0], "off")))
		usage();
	put(type, &on, sizeof(on));
}

static void show_mode(uint16_t type)
{
	struct nlattr *mode = answered(type);
	int length;

	if (!mode)
		die("cqe-mode", EOPNOTSUPP);
	puts(*(uint8_t *)payload(mode, &length) ? "on" : "off");
}

static const struct {
	const char *name;
	uint16_t rx, tx;
	void (*set)(uint16_t type, char **words);
	void (*show)(uint16_t type);
} settings[] = {
	{ "profile", ETHTOOL_A_COALESCE_RX_PROFILE, ETHTOOL_A_COALESCE_TX_PROFILE, set_profiles,
	  show_profiles },
	{ "cqe-mode", ETHTOOL_A_COALESCE_USE_CQE_MODE_RX, ETHTOOL_A_COALESCE_USE_CQE_MODE_TX,
	  set_mode, show_mode },
};

int main(int argc, char **argv)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	unsigned int which;
	uint16_t family, type;

	if (argc < 4)
		usage();
	which = strcmp(argv[3], settings[0].name) ? 1 : 0;
	if (strcmp(argv[3], settings[which].name))
		usage();
	if (!strcmp(argv[2], "rx"))
		type = settings[which].rx;
	else if (!strcmp(argv[2], "tx"))
		type = settings[which].tx;
	else
		usage();

	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (netlink < 0 || connect(netlink, (struct sockaddr *)&kernel, sizeof(kernel)))
		die("netlink", errno);
	family = ethtool_family();
	begin(family, argv[4] ? ETHTOOL_MSG_COALESCE_SET : ETHTOOL_MSG_COALESCE_GET);
	put_interface(argv[1]);
	if (argv[4]) {
		settings[which].set(type, argv + 4);
		message->nlmsg_flags |= NLM_F_ACK;
	}
	ask(argv[1]);
	if (!argv[4])
		settings[which].show(type);
	return 0;
}
