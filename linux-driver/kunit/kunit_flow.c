// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of moderato_flow.h: rules as nf_flow_table makes them, and what
 * becomes of packets by the entries made from them, against the kernel's own
 * checksums
 */

#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "moderato_flow.h"

#define FLOW_ACTIONS	16
#define FLOW_PAYLOAD	64
#define FLOW_CLOCK_HZ	100000000
#define FLOW_ALL	(MODERATO_FEATURES_VLAN | MODERATO_FEATURES_FLOW_NAT)

/* Fields of a rule, and one that no rule may have */
struct flow_key {
	struct flow_dissector_key_meta meta;
	struct flow_dissector_key_control control;
	struct flow_dissector_key_basic basic;
	struct flow_dissector_key_ipv4_addrs ipv4;
	struct flow_dissector_key_ports ports;
	struct flow_dissector_key_tcp tcp;
	struct flow_dissector_key_vlan vlan;
};

/* A rule, and what it points to */
struct flow_made {
	struct flow_dissector dissector;
	struct flow_key key;
	struct flow_key mask;
	struct flow_rule *rule;
};

/* Only the addresses of the interfaces matter */
static struct net_device flow_peer;

static const u8 flow_mac[2 * ETH_ALEN] = {
	0x02, 0x11, 0x12, 0x13, 0x14, 0x15, 0x02, 0x21, 0x22, 0x23, 0x24, 0x25,
};

static void flow_free(void *rule)
{
	kfree(rule);
}

static struct flow_action_entry *flow_act(struct flow_made *made,
					  enum flow_action_id id)
{
	struct flow_action *action = &made->rule->action;
	struct flow_action_entry *act = &action->entries[action->num_entries++];

	act->id = id;
	return act;
}

static void flow_mangle(struct flow_made *made,
			enum flow_action_mangle_base base, u32 offset,
			u32 value, u32 mask)
{
	struct flow_action_entry *act = flow_act(made, FLOW_ACTION_MANGLE);

	act->mangle.htype = base;
	act->mangle.offset = offset;
	act->mangle.val = value;
	act->mangle.mask = mask;
}

/* Pieces as flow_offload_eth_src() and flow_offload_eth_dst() make them */
static void flow_mangle_mac(struct flow_made *made)
{
	const u8 *mac = flow_mac;

	flow_mangle(made, FLOW_ACT_MANGLE_HDR_TYPE_ETH, 4,
		    (u32)get_unaligned((u16 *)(mac + 6)) << 16, ~0xffff0000);
	flow_mangle(made, FLOW_ACT_MANGLE_HDR_TYPE_ETH, 8,
		    get_unaligned((u32 *)(mac + 8)), 0);
	flow_mangle(made, FLOW_ACT_MANGLE_HDR_TYPE_ETH, 0,
		    get_unaligned((u32 *)mac), 0);
	flow_mangle(made, FLOW_ACT_MANGLE_HDR_TYPE_ETH, 4,
		    get_unaligned((u16 *)(mac + 4)), ~0x0000ffff);
}

/* As flow_offload_ipv4_snat() and its like */
static void flow_mangle_address(struct flow_made *made, u32 offset, __be32 to)
{
	flow_mangle(made, FLOW_ACT_MANGLE_HDR_TYPE_IP4, offset,
		    (__force u32)to, 0);
}

static void flow_mangle_port(struct flow_made *made, bool source, u16 to)
{
	bool tcp = made->key.basic.ip_proto == IPPROTO_TCP;
	__be32 value = htonl(source ? to << 16 : to);
	__be32 mask = ~htonl(source ? 0xffff0000 : 0xffff);

	flow_mangle(made, tcp ? FLOW_ACT_MANGLE_HDR_TYPE_TCP :
				FLOW_ACT_MANGLE_HDR_TYPE_UDP,
		    0, (__force u32)value, (__force u32)mask);
}

static void flow_redirect(struct flow_made *made)
{
	flow_act(made, FLOW_ACTION_REDIRECT)->dev = &flow_peer;
}

#define FLOW_HAS(made, which, field)					\
	do {								\
		struct flow_dissector *dissector = &(made)->dissector;	\
									\
		dissector->used_keys |=					\
			BIT_ULL(FLOW_DISSECTOR_KEY_##which);		\
		dissector->offset[FLOW_DISSECTOR_KEY_##which] =		\
			offsetof(struct flow_key, field);		\
	} while (0)

/* From 192.168.1.10:40000 to 203.0.113.7:443, as nf_flow_rule_match() has it */
static struct flow_made *flow_begin(struct kunit *test, u8 protocol)
{
	struct flow_made *made = kunit_kzalloc(test, sizeof(*made), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, made);
	made->rule = flow_rule_alloc(FLOW_ACTIONS);
	KUNIT_ASSERT_NOT_NULL(test, made->rule);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, flow_free,
							   made->rule));
	made->rule->action.num_entries = 0;
	made->rule->match.dissector = &made->dissector;
	made->rule->match.key = &made->key;
	made->rule->match.mask = &made->mask;

	FLOW_HAS(made, META, meta);
	FLOW_HAS(made, CONTROL, control);
	FLOW_HAS(made, BASIC, basic);
	FLOW_HAS(made, IPV4_ADDRS, ipv4);
	FLOW_HAS(made, PORTS, ports);
	made->key.meta.ingress_ifindex = 7;
	made->mask.meta.ingress_ifindex = ~0;
	made->key.control.addr_type = FLOW_DISSECTOR_KEY_IPV4_ADDRS;
	made->mask.control.addr_type = 0xffff;
	made->key.basic.n_proto = htons(ETH_P_IP);
	made->mask.basic.n_proto = htons(0xffff);
	made->key.basic.ip_proto = protocol;
	made->mask.basic.ip_proto = 0xff;
	made->key.ipv4.src = htonl(0xc0a8010a);
	made->key.ipv4.dst = htonl(0xcb007107);
	made->mask.ipv4.src = htonl(~0);
	made->mask.ipv4.dst = htonl(~0);
	made->key.ports.src = htons(40000);
	made->key.ports.dst = htons(443);
	made->mask.ports.src = htons(0xffff);
	made->mask.ports.dst = htons(0xffff);
	if (protocol == IPPROTO_TCP) {
		FLOW_HAS(made, TCP, tcp);
		made->mask.tcp.flags = htons(0x0005);
	}
	flow_mangle_mac(made);
	return made;
}

/* As nf_flow_rule_match() has it, without the key's bit in used_keys */
static void flow_vlan_match(struct flow_made *made, u16 vid)
{
	made->dissector.offset[FLOW_DISSECTOR_KEY_VLAN] =
		offsetof(struct flow_key, vlan);
	made->key.vlan.vlan_id = vid;
	made->mask.vlan.vlan_id = VLAN_VID_MASK;
	made->key.vlan.vlan_tpid = htons(ETH_P_8021Q);
	made->mask.vlan.vlan_tpid = htons(0xffff);
}

static void flow_vlan_push(struct flow_made *made, u16 vid)
{
	struct flow_action_entry *act = flow_act(made, FLOW_ACTION_VLAN_PUSH);

	act->vlan.vid = vid;
	act->vlan.proto = htons(ETH_P_8021Q);
}

static int flow_entry(const struct flow_made *made, u32 features,
		      struct moderato_entry *entry)
{
	struct netlink_ext_ack extack = {};
	struct moderato_flow_spec spec;
	int err = moderato_flow_parse(made->rule, features, &spec, &extack);

	if (!err)
		moderato_flow_entry(&spec, entry);
	/* Each error has a reason */
	if (!err != !extack._msg)
		return -EBADMSG;
	return err;
}

/* Registers ----------------------------------------------------------------- */

static void flow_plain(struct kunit *test)
{
	struct flow_made *made = flow_begin(test, IPPROTO_TCP);
	struct moderato_entry entry;
	struct moderato_flow_spec spec;

	flow_redirect(made);
	KUNIT_ASSERT_EQ(test, flow_entry(made, 0, &entry), 0);
	KUNIT_EXPECT_EQ(test, entry.source, 0x0a01a8c0);
	KUNIT_EXPECT_EQ(test, entry.destination, 0x077100cb);
	KUNIT_EXPECT_EQ(test, entry.ports, 0xbb01409c);
	KUNIT_EXPECT_EQ(test, entry.kind, MODERATO_FLOW_KIND_TCP);
	KUNIT_EXPECT_EQ(test, entry.tag, 0);
	KUNIT_EXPECT_EQ(test, entry.mac[0], 0x13121102);
	KUNIT_EXPECT_EQ(test, entry.mac[1], 0x21021514);
	KUNIT_EXPECT_EQ(test, entry.mac[2], 0x25242322);
	/* All that hardware with NAT needs: it changes nothing but TTL */
	KUNIT_EXPECT_EQ(test, entry.new_source, entry.source);
	KUNIT_EXPECT_EQ(test, entry.new_destination, entry.destination);
	KUNIT_EXPECT_EQ(test, entry.new_ports, entry.ports);
	KUNIT_EXPECT_EQ(test, entry.sums, 0x0000fffe);

	KUNIT_ASSERT_EQ(test, moderato_flow_parse(made->rule, 0, &spec, NULL), 0);
	KUNIT_EXPECT_EQ(test, spec.in, 7);
	KUNIT_EXPECT_PTR_EQ(test, spec.out, &flow_peer);
}

static void flow_vlan(struct kunit *test)
{
	struct flow_made *made = flow_begin(test, IPPROTO_UDP);
	struct moderato_entry entry;

	flow_vlan_match(made, 5);
	flow_act(made, FLOW_ACTION_VLAN_POP);
	flow_vlan_push(made, 4094);
	flow_redirect(made);
	KUNIT_ASSERT_EQ(test, flow_entry(made, MODERATO_FEATURES_VLAN, &entry),
			0);
	KUNIT_EXPECT_EQ(test, entry.kind, 0x0052);
	KUNIT_EXPECT_EQ(test, entry.tag, 0x10ffe);
	KUNIT_EXPECT_EQ(test, flow_entry(made, 0, &entry), -EOPNOTSUPP);

	FLOW_HAS(made, VLAN, vlan);
	KUNIT_ASSERT_EQ(test, flow_entry(made, MODERATO_FEATURES_VLAN, &entry),
			0);
	KUNIT_EXPECT_EQ(test, entry.kind, 0x0052);
}

static void flow_vlan_out(struct kunit *test)
{
	struct flow_made *made = flow_begin(test, IPPROTO_UDP);
	struct moderato_entry entry;

	flow_vlan_push(made, 6);
	made->rule->action.entries[4].vlan.prio = 3;
	flow_redirect(made);
	KUNIT_EXPECT_EQ(test, flow_entry(made, 0, &entry), -EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, flow_entry(made, MODERATO_FEATURES_VLAN, &entry),
			0);
	KUNIT_EXPECT_EQ(test, entry.kind, 0);
	KUNIT_EXPECT_EQ(test, entry.tag, 0x16006);
	/* One is all that fits */
	flow_vlan_push(made, 7);
	KUNIT_EXPECT_EQ(test, flow_entry(made, MODERATO_FEATURES_VLAN, &entry),
			-EOPNOTSUPP);
}

/* Packets ------------------------------------------------------------------- */

struct flow_packet {
	struct iphdr ip;
	union {
		struct tcphdr tcp;
		struct udphdr udp;
		__be16 ports[2];
		u8 payload[FLOW_PAYLOAD];
	};
};

static __sum16 *flow_check(struct flow_packet *packet)
{
	return packet->ip.protocol == IPPROTO_TCP ? &packet->tcp.check :
						    &packet->udp.check;
}

/* Both checksums by the kernel's own functions */
static void flow_sum(struct flow_packet *packet)
{
	struct iphdr *ip = &packet->ip;

	ip->check = 0;
	ip->check = ip_fast_csum(ip, ip->ihl);
	*flow_check(packet) = 0;
	*flow_check(packet) = csum_tcpudp_magic(ip->saddr, ip->daddr,
						FLOW_PAYLOAD, ip->protocol,
						csum_partial(packet->payload,
							     FLOW_PAYLOAD, 0));
}

static void flow_packet(const struct flow_made *made, struct rnd_state *rnd,
			struct flow_packet *packet)
{
	prandom_bytes_state(rnd, packet, sizeof(*packet));
	packet->ip.version = 4;
	packet->ip.ihl = 5;
	packet->ip.protocol = made->key.basic.ip_proto;
	packet->ip.saddr = made->key.ipv4.src;
	packet->ip.daddr = made->key.ipv4.dst;
	packet->ip.ttl |= 2;
	packet->ports[0] = made->key.ports.src;
	packet->ports[1] = made->key.ports.dst;
	flow_sum(packet);
}

/* The one's complement sum that @check is the inverse of, with @more added */
static __sum16 flow_added(__sum16 check, u32 more)
{
	u32 sum = le16_to_cpu((__force __le16)~check) + more;

	sum = (sum & 0xffff) + (sum >> 16);
	return ~(__force __sum16)cpu_to_le16(sum + (sum >> 16));
}

/* As the hardware does it */
static void flow_forward(const struct moderato_entry *entry,
			 struct flow_packet *packet)
{
	packet->ip.ttl--;
	packet->ip.saddr = (__force __be32)cpu_to_le32(entry->new_source);
	packet->ip.daddr = (__force __be32)cpu_to_le32(entry->new_destination);
	put_unaligned_le32(entry->new_ports, packet->ports);
	packet->ip.check = flow_added(packet->ip.check,
				      FIELD_GET(MODERATO_FLOW_SUMS_NETWORK,
						entry->sums));
	*flow_check(packet) = flow_added(*flow_check(packet),
					 FIELD_GET(MODERATO_FLOW_SUMS_TRANSPORT,
						   entry->sums));
}

/* Random packets by a rule that changes these; 0 is none */
static void flow_compare(struct kunit *test, u8 protocol, __be32 source,
			 u16 source_port, __be32 destination,
			 u16 destination_port, struct rnd_state *rnd)
{
	struct flow_made *made = flow_begin(test, protocol);
	struct flow_packet packet, expected;
	struct moderato_entry entry;

	if (source)
		flow_mangle_address(made, offsetof(struct iphdr, saddr), source);
	if (source_port)
		flow_mangle_port(made, true, source_port);
	if (destination)
		flow_mangle_address(made, offsetof(struct iphdr, daddr),
				    destination);
	if (destination_port)
		flow_mangle_port(made, false, destination_port);
	flow_act(made, FLOW_ACTION_CSUM)->csum_flags =
		TCA_CSUM_UPDATE_FLAG_IPV4HDR |
		(protocol == IPPROTO_TCP ? TCA_CSUM_UPDATE_FLAG_TCP :
					   TCA_CSUM_UPDATE_FLAG_UDP);
	flow_redirect(made);
	KUNIT_EXPECT_EQ(test, flow_entry(made, 0, &entry), -EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, flow_entry(made, FLOW_ALL, &entry), 0);

	for (int i = 0; i < 200; i++) {
		flow_packet(made, rnd, &packet);
		expected = packet;
		expected.ip.ttl--;
		expected.ip.saddr = source ?: expected.ip.saddr;
		expected.ip.daddr = destination ?: expected.ip.daddr;
		if (source_port)
			expected.ports[0] = htons(source_port);
		if (destination_port)
			expected.ports[1] = htons(destination_port);
		flow_sum(&expected);
		flow_forward(&entry, &packet);
		KUNIT_EXPECT_MEMEQ(test, &packet, &expected, sizeof(packet));
	}
}

static void flow_nat(struct kunit *test)
{
	static const u8 protocols[] = { IPPROTO_TCP, IPPROTO_UDP };
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 51);
	for (int i = 0; i < ARRAY_SIZE(protocols); i++)
		for (int round = 0; round < 16; round++) {
			__be32 a = htonl(prandom_u32_state(&rnd) | 1);
			__be32 b = htonl(prandom_u32_state(&rnd) | 1);
			u16 p = prandom_u32_state(&rnd) | 1;
			u16 q = prandom_u32_state(&rnd) | 1;

			flow_compare(test, protocols[i], a, p, 0, 0, &rnd);
			flow_compare(test, protocols[i], 0, 0, b, q, &rnd);
			flow_compare(test, protocols[i], a, p, b, q, &rnd);
			flow_compare(test, protocols[i], a, 0, 0, 0, &rnd);
			flow_compare(test, protocols[i], 0, p, 0, q, &rnd);
		}
}

/* Refusals ------------------------------------------------------------------ */

/* A rule of which one thing makes the difference; of the test around it */
#define FLOW_REFUSED(change)						\
	do {								\
		struct flow_made *made = flow_begin(test, IPPROTO_TCP);	\
		struct moderato_entry entry;				\
									\
		flow_redirect(made);					\
		KUNIT_EXPECT_EQ(test, flow_entry(made, FLOW_ALL, &entry), \
				0);					\
		change;							\
		KUNIT_EXPECT_EQ_MSG(test,				\
				    flow_entry(made, FLOW_ALL, &entry),	\
				    -EOPNOTSUPP, "%s", #change);	\
	} while (0)

static void flow_refused_matches(struct kunit *test)
{
	FLOW_REFUSED(FLOW_HAS(made, IPV6_ADDRS, ipv4));
	FLOW_REFUSED(FLOW_HAS(made, CVLAN, vlan));
	FLOW_REFUSED(FLOW_HAS(made, ENC_PORTS, ports));
	FLOW_REFUSED(FLOW_HAS(made, VLAN, vlan));
	FLOW_REFUSED(made->dissector.used_keys &=
		     ~BIT_ULL(FLOW_DISSECTOR_KEY_PORTS));
	FLOW_REFUSED(made->dissector.used_keys &=
		     ~BIT_ULL(FLOW_DISSECTOR_KEY_META));
	FLOW_REFUSED(made->mask.meta.ingress_ifindex = 0);
	FLOW_REFUSED(made->mask.control.flags = FLOW_DIS_IS_FRAGMENT);
	FLOW_REFUSED(made->key.basic.n_proto = htons(ETH_P_IPV6));
	FLOW_REFUSED(made->mask.basic.n_proto = 0);
	FLOW_REFUSED(made->key.basic.ip_proto = IPPROTO_SCTP);
	FLOW_REFUSED(made->mask.basic.ip_proto = 0);
	FLOW_REFUSED(made->mask.ipv4.src = htonl(0xffffff00));
	FLOW_REFUSED(made->mask.ipv4.dst = 0);
	FLOW_REFUSED(made->mask.ports.src = 0);
	FLOW_REFUSED(made->mask.ports.dst = htons(0xff00));
	FLOW_REFUSED(made->mask.tcp.flags = htons(0x0011));
	FLOW_REFUSED(made->key.tcp.flags = htons(0x0002));
}

static void flow_refused_vlans(struct kunit *test)
{
	/* A tag stays, or there is none */
	FLOW_REFUSED(flow_vlan_match(made, 5));
	FLOW_REFUSED(flow_act(made, FLOW_ACTION_VLAN_POP));
	FLOW_REFUSED(flow_vlan_match(made, 5);
		     flow_act(made, FLOW_ACTION_VLAN_POP);
		     flow_act(made, FLOW_ACTION_VLAN_POP));
	FLOW_REFUSED(flow_vlan_match(made, 5);
		     flow_act(made, FLOW_ACTION_VLAN_POP);
		     made->mask.vlan.vlan_priority = 7);
	FLOW_REFUSED(flow_vlan_match(made, 5);
		     flow_act(made, FLOW_ACTION_VLAN_POP);
		     made->key.vlan.vlan_tpid = htons(ETH_P_8021AD));
	FLOW_REFUSED(flow_vlan_push(made, 5); flow_vlan_push(made, 6));
	FLOW_REFUSED(flow_act(made, FLOW_ACTION_VLAN_PUSH)->vlan.proto =
		     htons(ETH_P_8021AD));
}

static void flow_refused_actions(struct kunit *test)
{
	const enum flow_action_mangle_base eth = FLOW_ACT_MANGLE_HDR_TYPE_ETH;
	const enum flow_action_mangle_base ip = FLOW_ACT_MANGLE_HDR_TYPE_IP4;
	const enum flow_action_mangle_base ip6 = FLOW_ACT_MANGLE_HDR_TYPE_IP6;
	const enum flow_action_mangle_base tcp = FLOW_ACT_MANGLE_HDR_TYPE_TCP;
	const enum flow_action_mangle_base udp = FLOW_ACT_MANGLE_HDR_TYPE_UDP;

	FLOW_REFUSED(flow_act(made, FLOW_ACTION_PPPOE_PUSH));
	FLOW_REFUSED(flow_act(made, FLOW_ACTION_TUNNEL_ENCAP));
	FLOW_REFUSED(flow_act(made, FLOW_ACTION_DROP));
	FLOW_REFUSED(flow_act(made, FLOW_ACTION_CSUM)->csum_flags =
		     TCA_CSUM_UPDATE_FLAG_SCTP);
	/* The type, TTL, sequence numbers, and what is not of this packet */
	FLOW_REFUSED(flow_mangle(made, eth, 12, 0, 0));
	FLOW_REFUSED(flow_mangle(made, eth, 2, 0, 0));
	FLOW_REFUSED(flow_mangle(made, ip, 8, 0, 0));
	FLOW_REFUSED(flow_mangle(made, tcp, 4, 0, 0));
	FLOW_REFUSED(flow_mangle(made, udp, 0, 0, 0));
	FLOW_REFUSED(flow_mangle(made, ip6, 8, 0, 0));
	/* No destination address */
	FLOW_REFUSED(flow_mangle(made, eth, 0, 0, 0);
		     flow_mangle(made, eth, 4, 0, ~0x0000ffff));
	FLOW_REFUSED(made->rule->action.num_entries--);
}

/* Place and age --------------------------------------------------------------- */

struct flow_place {
	u32 kind;
	u8 octets[12];
	u32 hash;
	u16 small[MODERATO_FLOW_WAYS];
	u16 large[MODERATO_FLOW_WAYS];
};

/* Computed apart from the kernel, in tables of 2^9 and 2^10 entries */
static const struct flow_place flow_places[] = {
	{
		0, { 198, 18, 0, 2, 198, 19, 0, 2, 0, 9, 0, 9 }, 0x9283847e,
		{ 126, 136, 270, 404 }, { 126, 388, 643, 914 },
	}, {
		1, { 192, 168, 1, 10, 203, 0, 113, 7, 0x9c, 0x40, 1, 0xbb },
		0x4bec960a, { 10, 172, 306, 479 }, { 10, 406, 748, 843 },
	}, {
		0x52, { 10, 0, 0, 1, 10, 0, 1, 2, 4, 0, 0, 53 }, 0x587c6af6,
		{ 118, 213, 369, 451 }, { 246, 362, 636, 856 },
	},
};

static void flow_where(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(flow_places); i++) {
		const struct flow_place *place = &flow_places[i];
		const struct moderato_entry entry = {
			.source = get_unaligned_le32(place->octets),
			.destination = get_unaligned_le32(place->octets + 4),
			.ports = get_unaligned_le32(place->octets + 8),
			.kind = place->kind,
		};
		u32 hash = moderato_entry_hash(&entry);

		KUNIT_EXPECT_EQ(test, hash, place->hash);
		for (int way = 0; way < MODERATO_FLOW_WAYS; way++) {
			KUNIT_EXPECT_EQ(test, moderato_entry_place(hash, way, 9),
					place->small[way]);
			KUNIT_EXPECT_EQ(test, moderato_entry_place(hash, way, 10),
					place->large[way]);
		}
	}
}

static void flow_same(struct kunit *test)
{
	struct flow_made *made = flow_begin(test, IPPROTO_TCP);
	struct moderato_entry one, other;

	flow_redirect(made);
	KUNIT_ASSERT_EQ(test, flow_entry(made, FLOW_ALL, &one), 0);
	other = one;
	other.mac[0]++;
	KUNIT_EXPECT_TRUE(test, moderato_entry_same_flow(&one, &other));
	other.kind ^= MODERATO_FLOW_KIND_TCP;
	KUNIT_EXPECT_FALSE(test, moderato_entry_same_flow(&one, &other));
	made->key.ports.dst = htons(444);
	KUNIT_ASSERT_EQ(test, flow_entry(made, FLOW_ALL, &other), 0);
	KUNIT_EXPECT_FALSE(test, moderato_entry_same_flow(&one, &other));
}

static void flow_age(struct kunit *test)
{
	const unsigned long now = 1000000, long_ago = now - 100000 * HZ;
	/* 2^20 clocks at 100 MHz are 10.49 ms */
	const unsigned long second = now - HZ;

	KUNIT_EXPECT_EQ(test, moderato_last_used(now, long_ago, 500, 500,
						 FLOW_CLOCK_HZ), now);
	KUNIT_EXPECT_EQ(test, moderato_last_used(now, long_ago, 596, 500,
						 FLOW_CLOCK_HZ), second);
	/* The clock wraps */
	KUNIT_EXPECT_EQ(test, moderato_last_used(now, long_ago, 46, 0xffce,
						 FLOW_CLOCK_HZ), second);
	KUNIT_EXPECT_EQ(test, moderato_last_used(now, long_ago, 499, 500,
						 FLOW_CLOCK_HZ),
			now - 687 * HZ - HZ * 18 / 100);
	/* So does the kernel's */
	KUNIT_EXPECT_EQ(test, moderato_last_used(HZ / 2, -20 * HZ, 596, 500,
						 FLOW_CLOCK_HZ),
			(unsigned long)(HZ / 2 - HZ));
	/* Never before the look that had not seen it */
	KUNIT_EXPECT_EQ(test, moderato_last_used(now, now - 3, 596, 500,
						 FLOW_CLOCK_HZ), now - 3);
	KUNIT_EXPECT_EQ(test, moderato_last_used(now, now, 596, 500,
						 FLOW_CLOCK_HZ), now);
	/* Half the clock, twice the time */
	KUNIT_EXPECT_EQ(test, moderato_last_used(now, long_ago, 548, 500,
						 FLOW_CLOCK_HZ / 2), second);
}

static struct kunit_case moderato_flow_cases[] = {
	KUNIT_CASE(flow_plain),
	KUNIT_CASE(flow_vlan),
	KUNIT_CASE(flow_vlan_out),
	KUNIT_CASE(flow_nat),
	KUNIT_CASE(flow_refused_matches),
	KUNIT_CASE(flow_refused_vlans),
	KUNIT_CASE(flow_refused_actions),
	KUNIT_CASE(flow_where),
	KUNIT_CASE(flow_same),
	KUNIT_CASE(flow_age),
	{}
};

static struct kunit_suite moderato_flow_suite = {
	.name = "moderato_flow",
	.test_cases = moderato_flow_cases,
};

kunit_test_suite(moderato_flow_suite);
