/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives an interface with two queues a list of gates, as `tc qdisc replace ... taprio ... flags 0x2` does:
 *
 *     lists [-b BASE] [-c CYCLE] [-x EXTENSION] [-k COMMAND] INTERFACE ENTRIES INTERVAL
 *
 * Each of the entries opens all gates for INTERVAL ns. Prints the kernel's answer: `accepted`, or the error and
 * its reason. iproute2's own buffer has room for some 30 entries, and it needs a library to show reasons.
 */
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

static union {
	struct nlmsghdr header;
	char octets[65536];
} message;

static struct nlattr *put(int type, const void *value, int length)
{
	struct nlattr *attribute = (void *)(message.octets + message.header.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + length;
	memcpy(attribute + 1, value, length);
	message.header.nlmsg_len += NLA_ALIGN(attribute->nla_len);
	return attribute;
}

static void end(struct nlattr *nest)
{
	nest->nla_len = message.octets + message.header.nlmsg_len - (char *)nest;
}

static void put_entries(int count, uint32_t interval, uint8_t command)
{
	struct nlattr *list = put(TCA_TAPRIO_ATTR_SCHED_ENTRY_LIST | NLA_F_NESTED, "", 0);
	const uint32_t all = 1;

	for (int i = 0; i < count; i++) {
		struct nlattr *entry = put(TCA_TAPRIO_SCHED_ENTRY | NLA_F_NESTED, "", 0);

		put(TCA_TAPRIO_SCHED_ENTRY_CMD, &command, sizeof(command));
		put(TCA_TAPRIO_SCHED_ENTRY_GATE_MASK, &all, sizeof(all));
		put(TCA_TAPRIO_SCHED_ENTRY_INTERVAL, &interval, sizeof(interval));
		end(entry);
	}
	end(list);
}

static void print_answer(int fd)
{
	static union {
		struct nlmsghdr header;
		char octets[8192];
	} answer;
	struct nlmsgerr *error = NLMSG_DATA(&answer.header);
	struct nlattr *attribute;
	int length = recv(fd, &answer, sizeof(answer), 0);

	if (length < 0 || answer.header.nlmsg_type != NLMSG_ERROR)
		exit(1);
	if (!error->error) {
		puts("accepted");
		return;
	}
	printf("%s", strerror(-error->error));
	/* Answers with a reason have only the header of the request */
	attribute = (void *)(error + 1);
	while ((char *)(attribute + 1) <= answer.octets + length && attribute->nla_len) {
		if (attribute->nla_type == NLMSGERR_ATTR_MSG)
			printf(": %s", (char *)(attribute + 1));
		attribute = (void *)((char *)attribute + NLA_ALIGN(attribute->nla_len));
	}
	puts("");
}

int main(int argc, char **argv)
{
	const struct tc_mqprio_qopt classes = {
		.num_tc = 2, .prio_tc_map = { 0, 0, 0, 1 }, .count = { 1, 1 }, .offset = { 0, 1 }
	};
	const uint32_t flags = TCA_TAPRIO_ATTR_FLAG_FULL_OFFLOAD;
	struct tcmsg *at = NLMSG_DATA(&message.header);
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), on = 1, command = 0, opt;
	int64_t base = 0, cycle = 0, extension = 0;
	struct nlattr *options;

	while ((opt = getopt(argc, argv, "k:x:c:b:")) != -1) {
		int64_t value = strtoll(optarg, NULL, 10);

		if (opt == 'k')
			command = value;
		else if (opt == 'x')
			extension = value;
		else if (opt == 'c')
			cycle = value;
		else if (opt == 'b')
			base = value;
		else
			return 2;
	}
	if (argc - optind != 3)
		return 2;
	message.header.nlmsg_len = NLMSG_LENGTH(sizeof(*at));
	message.header.nlmsg_type = RTM_NEWQDISC;
	message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
	at->tcm_ifindex = if_nametoindex(argv[optind]);
	at->tcm_parent = TC_H_ROOT;
	at->tcm_handle = 0x100 << 16;
	put(TCA_KIND, "taprio", 7);
	options = put(TCA_OPTIONS, "", 0);
	put(TCA_TAPRIO_ATTR_PRIOMAP, &classes, sizeof(classes));
	put(TCA_TAPRIO_ATTR_SCHED_BASE_TIME, &base, sizeof(base));
	if (cycle)
		put(TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME, &cycle, sizeof(cycle));
	put(TCA_TAPRIO_ATTR_SCHED_CYCLE_TIME_EXTENSION, &extension, sizeof(extension));
	put(TCA_TAPRIO_ATTR_FLAGS, &flags, sizeof(flags));
	put_entries(atoi(argv[optind + 1]), strtoul(argv[optind + 2], NULL, 10), command);
	end(options);

	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	if (send(fd, &message, message.header.nlmsg_len, 0) < 0)
		return 1;
	print_answer(fd);
	return 0;
}
