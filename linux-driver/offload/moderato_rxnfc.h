/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of ethtool -N as the hardware compares them: words of a frame's first
 * 64 octets
 */
#ifndef MODERATO_RXNFC_H
#define MODERATO_RXNFC_H

#include <linux/errno.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/string.h>

#define MODERATO_MATCH_OCTETS	64

/* Offsets from the destination address, without a VLAN tag, and with an IPv4
 * header without options
 */
enum {
	MODERATO_AT_DEST = 0,
	MODERATO_AT_SOURCE = 6,
	MODERATO_AT_TYPE = 12,
	MODERATO_AT_TCI = 14,
	MODERATO_AT_IHL = 14,
	MODERATO_AT_TOS = 15,
	MODERATO_AT_PROTO = 23,
	MODERATO_AT_IP_SRC = 26,
	MODERATO_AT_IP_DST = 30,
	MODERATO_AT_PORTS = 34,
};

/* Required values of a frame's octets */
struct moderato_match {
	u8 value[MODERATO_MATCH_OCTETS];
	u8 mask[MODERATO_MATCH_OCTETS];
};

/* @word: octets 4 * @word to 4 * @word + 3, the first one in bits 7:0 */
struct moderato_word {
	u8 word;
	u32 value;
	u32 mask;
};

static inline void moderato_match_put(struct moderato_match *match,
				      unsigned int at, const void *value,
				      const void *mask, unsigned int len)
{
	memcpy(match->value + at, value, len);
	memcpy(match->mask + at, mask, len);
}

static inline void moderato_match_octet(struct moderato_match *match,
					unsigned int at, u8 value)
{
	match->value[at] = value;
	match->mask[at] = 0xff;
}

static inline void moderato_match_type(struct moderato_match *match, u16 type)
{
	moderato_match_octet(match, MODERATO_AT_TYPE, type >> 8);
	moderato_match_octet(match, MODERATO_AT_TYPE + 1, type & 0xff);
}

static inline void moderato_match_ipv4(struct moderato_match *implied)
{
	moderato_match_type(implied, ETH_P_IP);
	moderato_match_octet(implied, MODERATO_AT_IHL, 0x45);
}

/* @said: what the rule names
 * @implied: what frames of its kind have in addition
 */
static inline int moderato_rule_match(const struct ethtool_rx_flow_spec *fs,
				      struct moderato_match *said,
				      struct moderato_match *implied)
{
	const struct ethtool_usrip4_spec *ip = &fs->h_u.usr_ip4_spec;
	const struct ethtool_usrip4_spec *ip_mask = &fs->m_u.usr_ip4_spec;
	const struct ethtool_tcpip4_spec *l4 = &fs->h_u.tcp_ip4_spec;
	const struct ethtool_tcpip4_spec *l4_mask = &fs->m_u.tcp_ip4_spec;
	u32 type = fs->flow_type & ~(FLOW_EXT | FLOW_MAC_EXT);
	u8 proto = type == TCP_V4_FLOW ? IPPROTO_TCP : IPPROTO_UDP;

	memset(said, 0, sizeof(*said));
	memset(implied, 0, sizeof(*implied));

	switch (type) {
	case ETHER_FLOW:
		BUILD_BUG_ON(sizeof(fs->h_u.ether_spec) != ETH_HLEN);
		moderato_match_put(said, MODERATO_AT_DEST, &fs->h_u.ether_spec,
				   &fs->m_u.ether_spec, ETH_HLEN);
		break;
	case TCP_V4_FLOW:
	case UDP_V4_FLOW:
		moderato_match_put(said, MODERATO_AT_IP_SRC, &l4->ip4src,
				   &l4_mask->ip4src, 4);
		moderato_match_put(said, MODERATO_AT_IP_DST, &l4->ip4dst,
				   &l4_mask->ip4dst, 4);
		moderato_match_put(said, MODERATO_AT_PORTS, &l4->psrc,
				   &l4_mask->psrc, 2);
		moderato_match_put(said, MODERATO_AT_PORTS + 2, &l4->pdst,
				   &l4_mask->pdst, 2);
		moderato_match_put(said, MODERATO_AT_TOS, &l4->tos,
				   &l4_mask->tos, 1);
		moderato_match_octet(implied, MODERATO_AT_PROTO, proto);
		moderato_match_ipv4(implied);
		break;
	case IP_USER_FLOW:
		moderato_match_put(said, MODERATO_AT_IP_SRC, &ip->ip4src,
				   &ip_mask->ip4src, 4);
		moderato_match_put(said, MODERATO_AT_IP_DST, &ip->ip4dst,
				   &ip_mask->ip4dst, 4);
		moderato_match_put(said, MODERATO_AT_PORTS, &ip->l4_4_bytes,
				   &ip_mask->l4_4_bytes, 4);
		moderato_match_put(said, MODERATO_AT_TOS, &ip->tos,
				   &ip_mask->tos, 1);
		moderato_match_put(said, MODERATO_AT_PROTO, &ip->proto,
				   &ip_mask->proto, 1);
		moderato_match_ipv4(implied);
		break;
	default:
		return -EOPNOTSUPP;
	}

	if (fs->flow_type & FLOW_MAC_EXT)
		moderato_match_put(said, MODERATO_AT_DEST, fs->h_ext.h_dest,
				   fs->m_ext.h_dest, ETH_ALEN);
	if (!(fs->flow_type & FLOW_EXT))
		return 0;

	/* A tag takes the place of the type, and shifts the rest */
	if (type != ETHER_FLOW || fs->m_u.ether_spec.h_proto ||
	    fs->m_ext.data[0] || fs->m_ext.data[1])
		return -EOPNOTSUPP;
	moderato_match_type(implied, ETH_P_8021Q);
	moderato_match_put(said, MODERATO_AT_TYPE, &fs->h_ext.vlan_etype,
			   &fs->m_ext.vlan_etype, 2);
	moderato_match_put(said, MODERATO_AT_TCI, &fs->h_ext.vlan_tci,
			   &fs->m_ext.vlan_tci, 2);
	return 0;
}

static inline struct moderato_word
moderato_match_word(const struct moderato_match *match, unsigned int word)
{
	return (struct moderato_word) {
		.word = word,
		.value = get_unaligned_le32(match->value + 4 * word),
		.mask = get_unaligned_le32(match->mask + 4 * word),
	};
}

/* Converts a rule to at most @most words. What the rule names must fit. What it
 * implies is compared as far as there is room: a frame of another kind with the
 * same octets is urgent, too, and costs an interrupt.
 *
 * Return: number of words, or an error
 */
static inline int moderato_rule_words(const struct ethtool_rx_flow_spec *fs,
				      struct moderato_word *words, int most)
{
	struct moderato_match said, implied;
	int err = moderato_rule_match(fs, &said, &implied);
	int count = 0;

	if (err)
		return err;

	for (int i = 0; i < MODERATO_MATCH_OCTETS / 4; i++) {
		struct moderato_word also = moderato_match_word(&implied, i);
		struct moderato_word word = moderato_match_word(&said, i);

		if (!word.mask)
			continue;
		if (count == most)
			return -EOPNOTSUPP;
		/* Named octets take precedence over implied ones */
		also.mask &= ~word.mask;
		word.value = (word.value & word.mask) | (also.value & also.mask);
		word.mask |= also.mask;
		words[count++] = word;
	}

	/* Later words first: IPv4's protocol distinguishes more than the type
	 */
	for (int i = MODERATO_MATCH_OCTETS / 4 - 1; i >= 0 && count < most; i--) {
		struct moderato_word also = moderato_match_word(&implied, i);

		if (also.mask && !moderato_match_word(&said, i).mask)
			words[count++] = also;
	}
	return count ?: -EOPNOTSUPP;
}

#endif /* MODERATO_RXNFC_H */
