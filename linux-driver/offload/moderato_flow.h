/* SPDX-License-Identifier: GPL-2.0-only */
/* An entry of the flow table: the registers for a flow of Linux' flow table,
 * its place in the hardware's table, and its age
 */
#ifndef MODERATO_FLOW_H
#define MODERATO_FLOW_H

#include <linux/bitfield.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/netlink.h>
#include <linux/tc_act/tc_csum.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/flow_offload.h>

#include "moderato_regs.h"

/* Registers of an entry, in their order: the packet as received up to @ports,
 * then as sent
 */
struct moderato_entry {
	u32 source;
	u32 destination;
	u32 ports;
	u32 kind;
	u32 tag;
	u32 mac[2 * ETH_ALEN / sizeof(u32)];
	u32 new_source;
	u32 new_destination;
	u32 new_ports;
	u32 sums;
};

/* Header fields that may change */
struct moderato_headers {
	u8 mac[2 * ETH_ALEN];
	__be32 source;
	__be32 destination;
	__be16 ports[2];
};

/* A flow, parsed
 * @in: ifindex of the receiving interface
 * @out: sending interface
 * @before, @after: headers as received and as sent; @before has no @mac
 * @protocol: TCP or UDP
 * @vid: VLAN of the received packets, if @tagged
 * @tag: tag to insert, as in the register
 */
struct moderato_flow_spec {
	int in;
	struct net_device *out;
	struct moderato_headers before;
	struct moderato_headers after;
	u8 protocol;
	u16 vid;
	bool tagged;
	u32 tag;
};

/* Rules --------------------------------------------------------------------- */

/* Linux' flow table sets the key's offset, but not its bit in used_keys (seen in
 * Linux 6.12)
 */
static inline bool moderato_flow_has_vlan(const struct flow_rule *rule)
{
	return flow_rule_match_key(rule, FLOW_DISSECTOR_KEY_VLAN) ||
	       rule->match.dissector->offset[FLOW_DISSECTOR_KEY_VLAN];
}

static inline int moderato_flow_vlan(const struct flow_rule *rule, u32 features,
				     struct moderato_flow_spec *spec,
				     struct netlink_ext_ack *extack)
{
	struct flow_match_vlan vlan;

	if (!moderato_flow_has_vlan(rule))
		return 0;

	flow_rule_match_vlan(rule, &vlan);
	if (!(features & MODERATO_FEATURES_VLAN) ||
	    vlan.key->vlan_tpid != htons(ETH_P_8021Q) ||
	    vlan.mask->vlan_tpid != htons(0xffff) ||
	    vlan.mask->vlan_id != VLAN_VID_MASK || vlan.mask->vlan_dei ||
	    vlan.mask->vlan_priority || vlan.mask->vlan_eth_type) {
		NL_SET_ERR_MSG_MOD(extack, "a tag the hardware cannot match");
		return -EOPNOTSUPP;
	}
	spec->vid = vlan.key->vlan_id;
	spec->tagged = true;
	return 0;
}

/* The first and last packets of a connection go to software in any case */
static inline bool moderato_flow_tcp_fits(const struct flow_rule *rule)
{
	const __be16 seen = cpu_to_be16(be32_to_cpu(TCP_FLAG_SYN |
						    TCP_FLAG_FIN |
						    TCP_FLAG_RST) >> 16);
	struct flow_match_tcp tcp;

	if (!flow_rule_match_key(rule, FLOW_DISSECTOR_KEY_TCP))
		return true;

	flow_rule_match_tcp(rule, &tcp);
	return !tcp.key->flags && !(tcp.mask->flags & ~seen);
}

/* Whether a rule names exactly one TCP or UDP flow of IPv4, in fields that the
 * hardware compares
 */
static inline bool moderato_flow_is_exact(const struct flow_rule *rule)
{
	const u64 needed = BIT_ULL(FLOW_DISSECTOR_KEY_META) |
			   BIT_ULL(FLOW_DISSECTOR_KEY_CONTROL) |
			   BIT_ULL(FLOW_DISSECTOR_KEY_BASIC) |
			   BIT_ULL(FLOW_DISSECTOR_KEY_IPV4_ADDRS) |
			   BIT_ULL(FLOW_DISSECTOR_KEY_PORTS);
	const u64 known = needed | BIT_ULL(FLOW_DISSECTOR_KEY_TCP) |
			  BIT_ULL(FLOW_DISSECTOR_KEY_VLAN);
	const u64 used = rule->match.dissector->used_keys;
	struct flow_match_ipv4_addrs addresses;
	struct flow_match_control control;
	struct flow_match_basic basic;
	struct flow_match_ports ports;
	struct flow_match_meta meta;

	if ((used & needed) != needed || used & ~known)
		return false;

	flow_rule_match_meta(rule, &meta);
	flow_rule_match_control(rule, &control);
	flow_rule_match_basic(rule, &basic);
	flow_rule_match_ipv4_addrs(rule, &addresses);
	flow_rule_match_ports(rule, &ports);
	return meta.mask->ingress_ifindex == ~0 && !control.mask->flags &&
	       basic.key->n_proto == htons(ETH_P_IP) &&
	       basic.mask->n_proto == htons(0xffff) &&
	       basic.mask->ip_proto == 0xff &&
	       addresses.mask->src == htonl(~0) &&
	       addresses.mask->dst == htonl(~0) &&
	       ports.mask->src == htons(0xffff) &&
	       ports.mask->dst == htons(0xffff) && moderato_flow_tcp_fits(rule);
}

static inline int moderato_flow_match(const struct flow_rule *rule,
				      u32 features, struct moderato_flow_spec *spec,
				      struct netlink_ext_ack *extack)
{
	struct flow_match_ipv4_addrs addresses;
	struct flow_match_basic basic;
	struct flow_match_ports ports;
	struct flow_match_meta meta;

	if (!moderato_flow_is_exact(rule)) {
		NL_SET_ERR_MSG_MOD(extack, "not one TCP or UDP flow of IPv4");
		return -EOPNOTSUPP;
	}
	flow_rule_match_meta(rule, &meta);
	flow_rule_match_basic(rule, &basic);
	flow_rule_match_ipv4_addrs(rule, &addresses);
	flow_rule_match_ports(rule, &ports);
	spec->in = meta.key->ingress_ifindex;
	spec->protocol = basic.key->ip_proto;
	spec->before.source = addresses.key->src;
	spec->before.destination = addresses.key->dst;
	spec->before.ports[0] = ports.key->src;
	spec->before.ports[1] = ports.key->dst;
	spec->after = spec->before;
	if (spec->protocol != IPPROTO_TCP && spec->protocol != IPPROTO_UDP) {
		NL_SET_ERR_MSG_MOD(extack, "neither TCP nor UDP");
		return -EOPNOTSUPP;
	}
	return moderato_flow_vlan(rule, features, spec, extack);
}

/* Replaces four octets of a header; @mask has the bits that stay */
static inline void moderato_mangle_word(void *word,
					const struct flow_action_entry *act)
{
	u32 value;

	memcpy(&value, word, sizeof(value));
	value = (value & act->mangle.mask) |
		(act->mangle.val & ~act->mangle.mask);
	memcpy(word, &value, sizeof(value));
}

static inline int moderato_flow_mangle(const struct flow_action_entry *act,
				       struct moderato_flow_spec *spec)
{
	struct moderato_headers *after = &spec->after;
	const u32 offset = act->mangle.offset;

	switch (act->mangle.htype) {
	case FLOW_ACT_MANGLE_HDR_TYPE_ETH:
		if (offset % sizeof(u32) || offset >= sizeof(after->mac))
			return -EOPNOTSUPP;
		moderato_mangle_word(after->mac + offset, act);
		return 0;
	case FLOW_ACT_MANGLE_HDR_TYPE_IP4:
		if (offset == offsetof(struct iphdr, saddr))
			moderato_mangle_word(&after->source, act);
		else if (offset == offsetof(struct iphdr, daddr))
			moderato_mangle_word(&after->destination, act);
		else
			return -EOPNOTSUPP;
		return 0;
	case FLOW_ACT_MANGLE_HDR_TYPE_TCP:
		if (offset || spec->protocol != IPPROTO_TCP)
			return -EOPNOTSUPP;
		break;
	case FLOW_ACT_MANGLE_HDR_TYPE_UDP:
		if (offset || spec->protocol != IPPROTO_UDP)
			return -EOPNOTSUPP;
		break;
	default:
		return -EOPNOTSUPP;
	}
	moderato_mangle_word(after->ports, act);
	return 0;
}

static inline int moderato_flow_push(const struct flow_action_entry *act,
				     u32 features, struct moderato_flow_spec *spec)
{
	if (!(features & MODERATO_FEATURES_VLAN) || spec->tag ||
	    act->vlan.proto != htons(ETH_P_8021Q))
		return -EOPNOTSUPP;

	spec->tag = MODERATO_FLOW_TAG_INSERT |
		 FIELD_PREP(MODERATO_FLOW_TAG_TCI,
			    act->vlan.vid | act->vlan.prio << VLAN_PRIO_SHIFT);
	return 0;
}

static inline int moderato_flow_action(const struct flow_action_entry *act,
				       u32 features, struct moderato_flow_spec *spec)
{
	switch (act->id) {
	case FLOW_ACTION_MANGLE:
		return moderato_flow_mangle(act, spec);
	case FLOW_ACTION_CSUM:
		/* The hardware updates all checksums of what it changes */
		return act->csum_flags & ~(TCA_CSUM_UPDATE_FLAG_IPV4HDR |
					   TCA_CSUM_UPDATE_FLAG_TCP |
					   TCA_CSUM_UPDATE_FLAG_UDP) ?
			       -EOPNOTSUPP : 0;
	case FLOW_ACTION_VLAN_PUSH:
		return moderato_flow_push(act, features, spec);
	case FLOW_ACTION_REDIRECT:
		spec->out = act->dev;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static inline bool moderato_flow_translates(const struct moderato_flow_spec *spec)
{
	return spec->before.source != spec->after.source ||
	       spec->before.destination != spec->after.destination ||
	       memcmp(spec->before.ports, spec->after.ports, sizeof(spec->after.ports));
}

static inline int moderato_flow_actions(const struct flow_rule *rule,
					u32 features, struct moderato_flow_spec *spec,
					struct netlink_ext_ack *extack)
{
	const struct flow_action_entry *act;
	unsigned int popped = 0;
	int i;

	flow_action_for_each(i, act, &rule->action) {
		if (act->id == FLOW_ACTION_VLAN_POP) {
			popped++;
		} else if (moderato_flow_action(act, features, spec)) {
			NL_SET_ERR_MSG_MOD(extack,
					   "an action that the hardware lacks");
			return -EOPNOTSUPP;
		}
	}
	if (popped != spec->tagged) {
		NL_SET_ERR_MSG_MOD(extack, "a tag is taken out, and no other");
		return -EOPNOTSUPP;
	}
	if (!spec->out || !is_valid_ether_addr(spec->after.mac) ||
	    !is_valid_ether_addr(spec->after.mac + ETH_ALEN)) {
		NL_SET_ERR_MSG_MOD(extack, "not said where to");
		return -EOPNOTSUPP;
	}
	if (!(features & MODERATO_FEATURES_FLOW_NAT) &&
	    moderato_flow_translates(spec)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "the hardware translates no addresses");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Parses @rule, for hardware with @features.
 *
 * Return: 0, or an error that @extack explains
 */
static inline int moderato_flow_parse(const struct flow_rule *rule,
				      u32 features, struct moderato_flow_spec *spec,
				      struct netlink_ext_ack *extack)
{
	memset(spec, 0, sizeof(*spec));
	return moderato_flow_match(rule, features, spec, extack) ?:
	       moderato_flow_actions(rule, features, spec, extack);
}

/* Entries ------------------------------------------------------------------- */

/* Updates a sum of a packet's words for a changed word */
static inline __wsum moderato_sum_changed(__wsum sum, __be32 before,
					  __be32 after)
{
	if (before == after)
		return sum;
	return csum_add(csum_sub(sum, (__force __wsum)before),
			(__force __wsum)after);
}

/* Folds to 16 bits, the packet's first octet in bits 7:0 */
static inline u16 moderato_sum_fold(__wsum sum)
{
	return le16_to_cpu((__force __le16)~csum_fold(sum));
}

static inline u32 moderato_flow_sums(const struct moderato_flow_spec *spec)
{
	const struct moderato_headers *before = &spec->before, *after = &spec->after;
	__wsum addresses = 0, network, transport;

	addresses = moderato_sum_changed(addresses, before->source,
					 after->source);
	addresses = moderato_sum_changed(addresses, before->destination,
					 after->destination);
	/* TTL, the first octet of its word, decreases by one */
	network = csum_sub(addresses, (__force __wsum)htons(0x0100));
	transport = addresses;
	for (int i = 0; i < ARRAY_SIZE(after->ports); i++)
		transport = moderato_sum_changed(transport,
						 (__force __be32)before->ports[i],
						 (__force __be32)after->ports[i]);
	return FIELD_PREP(MODERATO_FLOW_SUMS_NETWORK,
			  moderato_sum_fold(network)) |
	       FIELD_PREP(MODERATO_FLOW_SUMS_TRANSPORT,
			  moderato_sum_fold(transport));
}

/* Four octets of a packet, the first one in bits 7:0 */
static inline u32 moderato_octets(const void *octets)
{
	__le32 word;

	memcpy(&word, octets, sizeof(word));
	return le32_to_cpu(word);
}

static inline void moderato_flow_entry(const struct moderato_flow_spec *spec,
				       struct moderato_entry *entry)
{
	*entry = (struct moderato_entry) {
		.source = moderato_octets(&spec->before.source),
		.destination = moderato_octets(&spec->before.destination),
		.ports = moderato_octets(spec->before.ports),
		.kind = FIELD_PREP(MODERATO_FLOW_KIND_TCP,
				   spec->protocol == IPPROTO_TCP) |
			FIELD_PREP(MODERATO_FLOW_KIND_TAGGED, spec->tagged) |
			FIELD_PREP(MODERATO_FLOW_KIND_VID, spec->vid),
		.tag = spec->tag,
		.new_source = moderato_octets(&spec->after.source),
		.new_destination = moderato_octets(&spec->after.destination),
		.new_ports = moderato_octets(spec->after.ports),
		.sums = moderato_flow_sums(spec),
	};
	for (int i = 0; i < ARRAY_SIZE(entry->mac); i++)
		entry->mac[i] = moderato_octets(spec->after.mac + 4 * i);
}

static inline bool moderato_entry_same_flow(const struct moderato_entry *one,
					    const struct moderato_entry *other)
{
	return one->source == other->source &&
	       one->destination == other->destination &&
	       one->ports == other->ports && one->kind == other->kind;
}

/* Place --------------------------------------------------------------------- */

static inline u32 moderato_entry_hash(const struct moderato_entry *entry)
{
	const __le32 words[] = {
		cpu_to_le32(entry->kind),
		cpu_to_le32(entry->source),
		cpu_to_le32(entry->destination),
		cpu_to_le32(entry->ports),
	};

	return crc32_le(~0, (const u8 *)words, sizeof(words));
}

/* The only entry of a way that can hold the flow; each way uses its own bits of
 * the hash
 */
static inline unsigned int moderato_entry_place(u32 hash, unsigned int way,
						u8 order)
{
	unsigned int bits = order - ilog2(MODERATO_FLOW_WAYS);

	return way << bits | (hash >> way * bits & (BIT(bits) - 1));
}

/* Age ----------------------------------------------------------------------- */

/* When a flow that was used since @looked was used last, in jiffies
 * @time, @last: the hardware's clock now and at the last use. It wraps, so a
 * long time may look short, but never longer than the time since @looked.
 */
static inline unsigned long moderato_last_used(unsigned long now,
					       unsigned long looked, u16 time,
					       u16 last, u32 clock_hz)
{
	u16 ticks = time - last;
	u64 age = div_u64(((u64)ticks << MODERATO_FLOW_TICK) * HZ, clock_hz);

	return now - min_t(u64, age, now - looked);
}

#endif /* MODERATO_FLOW_H */
