// SPDX-License-Identifier: BSD-2-Clause
/* Lets Linux forward TCP and UDP flows by its flow table instead of the whole stack:
 *
 *	flowtable INTERFACE...			between these interfaces
 *	flowtable --offload INTERFACE...	also in hardware, if it accepts the flow
 *	flowtable --masquerade INTERFACE ...	packets leave here with this interface's address
 *	flowtable --off				only by the stack
 *
 * The program sends the messages of nft, whose libraries are unavailable here, for
 *
 *	table ip fast {
 *		flowtable flows {
 *			hook ingress priority 0; devices = { eth0, eth1 };
 *			flags offload; counter;		(with --offload)
 *		}
 *		chain forward { type filter hook forward priority 0; flow add @flows; }
 *		chain postrouting {			(with --masquerade eth1)
 *			type nat hook postrouting priority srcnat; oif eth1 masquerade;
 *		}
 *	}
 *
 * Linux enters a UDP flow with its second packet, a TCP flow once it is established; each in both
 * directions. The table replaces the one before in one transaction (a batch of nfnetlink), as `nft -f`
 * does after a flush. Each message is acknowledged. If the kernel rejects one, it undoes them all, and
 * the program reports the first.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TABLE	  "fast"
#define FLOWS	  "flows"
#define CHAIN	  "forward"
#define NAT_CHAIN "postrouting"

/* The batch's messages, in their order */
enum {
	AT_BATCH,
	AT_OLD_TABLE,
	AT_TABLE,
	AT_FLOW_TABLE,
	AT_CHAIN,
	AT_RULE,
	AT_NAT_CHAIN,
	AT_NAT_RULE
};

static const char *const NAMES[] = { "batch",
				     "old table",
				     "table",
				     "flow table",
				     "chain",
				     "rule",
				     "chain of addresses",
				     "rule of addresses" };

static const struct {
	int message, error;
	const char *todo;
} REASONS[] = {
	{ AT_BATCH, EOPNOTSUPP, "this kernel has no nftables; --kernel xdp has" },
	{ AT_BATCH, EPERM, "that takes root" },
	{ AT_FLOW_TABLE, ENOENT, "this kernel has none for IPv4; --kernel xdp has" },
	{ AT_FLOW_TABLE, EEXIST, "an interface is named twice" },
	{ AT_FLOW_TABLE, EOPNOTSUPP,
	  "the hardware of an interface takes no flows: ethtool -K "
	  "INTERFACE hw-tc-offload on, or leave --offload out" },
	{ AT_RULE, ENOENT, "this kernel's rules enter no flows; those of --kernel xdp do" },
	{ AT_NAT_CHAIN, ENOENT, "this kernel translates no addresses; --kernel router does" },
};

static char batch[4096];
static size_t used;
static struct nlmsghdr *message;
static struct nlattr *data; /* of an expression */
static unsigned int count;

/* Reserve `length` octets with netlink's alignment. */
static void *room(size_t length)
{
	void *here = batch + used;

	used += NLMSG_ALIGN(length);
	if (used > sizeof(batch)) {
		fprintf(stderr, "flowtable: too many interfaces\n");
		_exit(2);
	}
	memset(here, 0, NLMSG_ALIGN(length));
	return here;
}

/* A message; it lasts until the next one. */
static void begin(int type, int flags, int family, int subsystem)
{
	struct nfgenmsg *general;

	message = room(sizeof(*message));
	*message = (struct nlmsghdr){
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = count++,
	};
	general = room(sizeof(*general));
	*general = (struct nfgenmsg){
		.nfgen_family = family,
		.version = NFNETLINK_V0,
		.res_id = htons(subsystem),
	};
}

static void end(void)
{
	message->nlmsg_len = batch + used - (char *)message;
}

static void table(int what)
{
	begin(NFNL_SUBSYS_NFTABLES << 8 | what, NLM_F_ACK, NFPROTO_IPV4, 0);
}

static void create(int what)
{
	table(what);
	message->nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
}

static void put(int type, const void *data, size_t length)
{
	struct nlattr *attribute = room(NLA_HDRLEN + length);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + length;
	memcpy((char *)attribute + NLA_HDRLEN, data, length);
}

static void text(int type, const char *word)
{
	put(type, word, strlen(word) + 1);
}

static void number(int type, uint32_t value)
{
	value = htonl(value);
	put(type, &value, sizeof(value));
}

/* Begin an attribute that contains others; leave() ends it. */
static struct nlattr *nest(int type)
{
	struct nlattr *attribute = room(NLA_HDRLEN);

	attribute->nla_type = type | NLA_F_NESTED;
	return attribute;
}

static void leave(struct nlattr *attribute)
{
	attribute->nla_len = batch + used - (char *)attribute;
}

static void border(int what)
{
	begin(what, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	end();
}

static void chain(const char *name, const char *type, uint32_t hook, int32_t priority)
{
	struct nlattr *attribute;

	create(NFT_MSG_NEWCHAIN);
	text(NFTA_CHAIN_TABLE, TABLE);
	text(NFTA_CHAIN_NAME, name);
	text(NFTA_CHAIN_TYPE, type);
	attribute = nest(NFTA_CHAIN_HOOK);
	number(NFTA_HOOK_HOOKNUM, hook);
	number(NFTA_HOOK_PRIORITY, priority);
	leave(attribute);
	end();
}

/* A rule of a chain, and what holds its expressions */
static struct nlattr *begin_rule(const char *of)
{
	create(NFT_MSG_NEWRULE);
	message->nlmsg_flags |= NLM_F_APPEND;
	text(NFTA_RULE_TABLE, TABLE);
	text(NFTA_RULE_CHAIN, of);
	return nest(NFTA_RULE_EXPRESSIONS);
}

static void end_rule(struct nlattr *expressions)
{
	leave(expressions);
	end();
}

static struct nlattr *begin_expression(const char *name)
{
	struct nlattr *element = nest(NFTA_LIST_ELEM);

	text(NFTA_EXPR_NAME, name);
	data = nest(NFTA_EXPR_DATA);
	return element;
}

/* The innermost attribute ends first. */
static void end_expression(struct nlattr *element)
{
	leave(data);
	leave(element);
}

static void make(char **interface, uint32_t flags)
{
	struct nlattr *outer, *inner;

	create(NFT_MSG_NEWTABLE);
	text(NFTA_TABLE_NAME, TABLE);
	end();

	create(NFT_MSG_NEWFLOWTABLE);
	text(NFTA_FLOWTABLE_TABLE, TABLE);
	text(NFTA_FLOWTABLE_NAME, FLOWS);
	number(NFTA_FLOWTABLE_FLAGS, flags);
	outer = nest(NFTA_FLOWTABLE_HOOK);
	number(NFTA_FLOWTABLE_HOOK_NUM, NF_NETDEV_INGRESS);
	number(NFTA_FLOWTABLE_HOOK_PRIORITY, 0);
	inner = nest(NFTA_FLOWTABLE_HOOK_DEVS);
	for (; *interface; interface++)
		text(NFTA_DEVICE_NAME, *interface);
	leave(inner);
	leave(outer);
	end();

	chain(CHAIN, "filter", NF_INET_FORWARD, 0);
	/* The expression itself ignores packets of other protocols than TCP and UDP. */
	outer = begin_rule(CHAIN);
	inner = begin_expression("flow_offload");
	text(NFTA_FLOW_TABLE_NAME, FLOWS);
	end_expression(inner);
	end_rule(outer);
}

static void masquerade(uint32_t interface)
{
	struct nlattr *rule, *expression, *value;

	chain(NAT_CHAIN, "nat", NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC);
	rule = begin_rule(NAT_CHAIN);
	expression = begin_expression("meta");
	number(NFTA_META_DREG, NFT_REG_1);
	number(NFTA_META_KEY, NFT_META_OIF);
	end_expression(expression);
	expression = begin_expression("cmp");
	number(NFTA_CMP_SREG, NFT_REG_1);
	number(NFTA_CMP_OP, NFT_CMP_EQ);
	value = nest(NFTA_CMP_DATA);
	put(NFTA_DATA_VALUE, &interface, sizeof(interface));
	leave(value);
	end_expression(expression);
	end_expression(begin_expression("masq"));
	end_rule(rule);
}

/* Also when there is none */
static void drop(void)
{
	table(NFT_MSG_DESTROYTABLE);
	text(NFTA_TABLE_NAME, TABLE);
	end();
}

static int refused(unsigned int which, int error)
{
	const char *todo = NULL;

	for (size_t i = 0; i < sizeof(REASONS) / sizeof(*REASONS); i++)
		if (REASONS[i].message == (int)which && REASONS[i].error == error)
			todo = REASONS[i].todo;
	fprintf(stderr, "flowtable: the %s is rejected: %s%s%s\n", NAMES[which], strerror(error),
		todo ? "; " : "", todo ? todo : "");
	return 1;
}

/* Wait for the kernel's answer to each message except the batch's own; return the exit status. */
static int answered(int netlink)
{
	unsigned int good = 0;
	char reply[4096];

	while (good < count - 2) {
		ssize_t length = recv(netlink, reply, sizeof(reply), 0);
		struct nlmsghdr *said = (struct nlmsghdr *)reply;

		if (length < 0) {
			perror("flowtable: netlink");
			return 1;
		}
		for (; NLMSG_OK(said, length); said = NLMSG_NEXT(said, length)) {
			struct nlmsgerr *error = NLMSG_DATA(said);

			if (said->nlmsg_type != NLMSG_ERROR)
				continue;
			if (error->error)
				return refused(said->nlmsg_seq, -error->error);
			good++;
		}
	}
	return 0;
}

static int usage(void)
{
	fputs("usage: flowtable [--offload] [--masquerade INTERFACE] INTERFACE...\n"
	      "       flowtable --off\n",
	      stderr);
	return 2;
}

/* Number of an interface, or 0 if there is none with this name */
static unsigned int interface_index(const char *name)
{
	unsigned int index = if_nametoindex(name);

	if (!index)
		fprintf(stderr, "flowtable: %s: there is no such interface\n", name);
	return index;
}

int main(int words, char **word)
{
	static const struct option OPTIONS[] = {
		{ "off", no_argument, NULL, 'o' },
		{ "offload", no_argument, NULL, 'h' },
		{ "masquerade", required_argument, NULL, 'm' },
		{},
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	const char *masked = NULL;
	bool off = false, offload = false;
	unsigned int index = 0;
	char **interface;
	int netlink, option;

	while ((option = getopt_long(words, word, "", OPTIONS, NULL)) != -1) {
		if (option == 'o')
			off = true;
		else if (option == 'h')
			offload = true;
		else if (option == 'm')
			masked = optarg;
		else
			return usage();
	}
	interface = word + optind;
	if (off != !*interface || (off && (offload || masked)))
		return usage();
	for (char **name = interface; *name; name++)
		if (!interface_index(*name))
			return 1;
	if (masked && !(index = interface_index(masked)))
		return 1;
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	if (netlink < 0)
		return refused(AT_BATCH, errno == EPROTONOSUPPORT ? EOPNOTSUPP : errno);
	border(NFNL_MSG_BATCH_BEGIN);
	drop();
	if (!off)
		make(interface, offload ? NFT_FLOWTABLE_HW_OFFLOAD | NFT_FLOWTABLE_COUNTER : 0);
	if (masked)
		masquerade(index);
	border(NFNL_MSG_BATCH_END);
	if (sendto(netlink, batch, used, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0) {
		perror("flowtable: netlink");
		return 1;
	}
	return answered(netlink);
}
