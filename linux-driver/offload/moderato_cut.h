/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies an skb to frames. One pass over its data also sums it, fills in
 * checksums, and segments a GSO skb. This file works on memory only; tx_copy.c
 * has the ring.
 */
#ifndef MODERATO_CUT_H
#define MODERATO_CUT_H

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>

#include "moderato_ring.h"

/* Octets per round of the loop. All loads precede the stores, so that no store
 * waits for its data.
 */
#define MODERATO_COPY_TURN	(8 * sizeof(u32))

/* Copies @len octets, and sums the copy rather than the source: a page that a
 * program maps may change meanwhile. On RISC-V, csum_partial_copy_nocheck()
 * takes two passes, and in the second one a write-through cache does not hold
 * the data; it serves here for unaligned data only.
 *
 * Return: the sum, as csum_partial() returns it
 */
static inline __wsum moderato_copy_sum(void *to, const void *from,
				       unsigned int len)
{
	u64 total = 0;
	__wsum sum;
	bool odd;

	if (((unsigned long)to ^ (unsigned long)from) % sizeof(u32) ||
	    len < sizeof(u32))
		return csum_partial_copy_nocheck(from, to, len);

	odd = (unsigned long)from & 1;
	if (odd) {
		/* The first octet of an odd address becomes the second of a
		 * pair: the sum is swapped for it at the end.
		 */
		u8 first = *(const u8 *)from;

		*(u8 *)to = first;
		total = (__force u16)cpu_to_be16(first);
		from++;
		to++;
		len--;
	}
	if ((unsigned long)from & 2) {
		u16 half = *(const u16 *)from;

		*(u16 *)to = half;
		total += half;
		from += sizeof(half);
		to += sizeof(half);
		len -= sizeof(half);
	}
	for (; len >= MODERATO_COPY_TURN; len -= MODERATO_COPY_TURN) {
		const u32 *source = from;
		u32 *target = to;
		u32 a = source[0], b = source[1], c = source[2], d = source[3];
		u32 e = source[4], f = source[5], g = source[6], h = source[7];

		target[0] = a;
		target[1] = b;
		target[2] = c;
		target[3] = d;
		target[4] = e;
		target[5] = f;
		target[6] = g;
		target[7] = h;
		total += a;
		total += b;
		total += c;
		total += d;
		total += e;
		total += f;
		total += g;
		total += h;
		from += MODERATO_COPY_TURN;
		to += MODERATO_COPY_TURN;
	}
	for (; len >= sizeof(u32); len -= sizeof(u32)) {
		u32 word = *(const u32 *)from;

		*(u32 *)to = word;
		total += word;
		from += sizeof(word);
		to += sizeof(word);
	}
	if (len & 2) {
		u16 half = *(const u16 *)from;

		*(u16 *)to = half;
		total += half;
		from += sizeof(half);
		to += sizeof(half);
	}
	if (len & 1) {
		u8 last = *(const u8 *)from;

		*(u8 *)to = last;
		total += (__force u16)cpu_to_le16(last);
	}
	sum = csum_add((__force __wsum)lower_32_bits(total),
		       (__force __wsum)upper_32_bits(total));
	return csum_shift(sum, odd);
}

/* @data, @left: next data to copy, up to the end of its fragment
 * @frag: the fragment after that
 * @rest: octets to copy in all fragments
 * @header: octets of headers of each segment; 0 if the skb is not segmented
 * @size: octets of data in each frame but the last one
 * @ip_sum: sum of the IPv4 header without length, identification and checksum
 * @tcp_sum: sum of the TCP header and the pseudo-header without lengths,
 * sequence number, flags and checksum
 * @flags: the word of the TCP header with the flags
 */
struct moderato_cut {
	const struct sk_buff *skb;
	const u8 *data;
	unsigned int left;
	unsigned int frag;
	unsigned int rest;
	unsigned int header;
	unsigned int size;
	__wsum ip_sum;
	__wsum tcp_sum;
	__be32 flags;
	u32 seq;
	u16 id;
	/* the hardware sums: @tcp_sum is that of the pseudo-header only */
	bool inserts;
};

/* No part of an skb is in high memory: the device has no NETIF_F_HIGHDMA */
static inline void moderato_cut_advance(struct moderato_cut *cut)
{
	const struct skb_shared_info *info = skb_shinfo(cut->skb);

	while (!cut->left && cut->frag < info->nr_frags) {
		const skb_frag_t *frag = &info->frags[cut->frag++];

		cut->data = skb_frag_address(frag);
		cut->left = skb_frag_size(frag);
	}
}

static inline __wsum moderato_cut_take(struct moderato_cut *cut, u8 *to,
				       unsigned int len)
{
	unsigned int done = 0;
	__wsum sum = 0;

	while (done < len && cut->left) {
		unsigned int part = min(len - done, cut->left);

		if (cut->inserts)
			memcpy(to + done, cut->data, part);
		else
			sum = csum_block_add(sum,
					     moderato_copy_sum(to + done,
							       cut->data,
							       part),
					     done);
		done += part;
		cut->data += part;
		cut->left -= part;
		moderato_cut_advance(cut);
	}
	cut->rest -= len;
	return sum;
}

/* Prepares what all segments of a GSO skb share. Return: whether tx_copy.c has
 * announced this kind
 */
static inline bool moderato_cut_start_gso(struct moderato_cut *cut)
{
	const struct sk_buff *skb = cut->skb;
	const struct iphdr *ip = ip_hdr(skb);
	const struct tcphdr *tcp = tcp_hdr(skb);
	__wsum sum;

	cut->header = skb_transport_offset(skb) + sizeof(*tcp);
	if (!(skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4) ||
	    cut->header > skb_headlen(skb))
		return false;
	cut->header = skb_transport_offset(skb) + tcp_hdrlen(skb);
	if (cut->header > skb_headlen(skb))
		return false;

	cut->size = skb_shinfo(skb)->gso_size;
	cut->id = ntohs(ip->id);
	cut->seq = ntohl(tcp->seq);
	cut->flags = tcp_flag_word(tcp);

	sum = csum_partial(ip, ip_hdrlen(skb), 0);
	sum = csum_sub(sum, (__force __wsum)ip->tot_len);
	sum = csum_sub(sum, (__force __wsum)ip->id);
	cut->ip_sum = csum_sub(sum, (__force __wsum)ip->check);

	sum = csum_tcpudp_nofold(ip->saddr, ip->daddr, 0, IPPROTO_TCP, 0);
	if (cut->inserts) {
		cut->tcp_sum = sum;
		return true;
	}
	sum = csum_partial(tcp, tcp_hdrlen(skb), sum);
	sum = csum_sub(sum, (__force __wsum)tcp->seq);
	sum = csum_sub(sum, (__force __wsum)cut->flags);
	cut->tcp_sum = csum_sub(sum, (__force __wsum)tcp->check);
	return true;
}

/* @inserts: the hardware sums, if there is anything to sum
 *
 * Return: number of frames; 0 if @skb is invalid
 */
static inline unsigned int moderato_cut_start(struct moderato_cut *cut,
					      const struct sk_buff *skb,
					      bool inserts)
{
	cut->inserts = inserts;
	cut->skb = skb;
	cut->header = 0;
	cut->size = skb->len;
	if (skb_is_gso(skb) && !moderato_cut_start_gso(cut))
		return 0;

	cut->data = skb->data + cut->header;
	cut->left = skb_headlen(skb) - cut->header;
	cut->frag = 0;
	cut->rest = skb->len - cut->header;
	moderato_cut_advance(cut);
	return DIV_ROUND_UP(cut->rest, cut->size);
}

/* The request for a checksum in each frame; 0: none */
static inline u32 moderato_cut_insertion(const struct moderato_cut *cut)
{
	const struct sk_buff *skb = cut->skb;
	unsigned int start;

	if (!cut->inserts)
		return 0;
	if (cut->header) {
		start = skb_transport_offset(skb);
		return moderato_insertion(start, start + offsetof(struct tcphdr,
								  check));
	}
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return 0;
	start = skb_checksum_start_offset(skb);
	return moderato_insertion(start, start + skb->csum_offset);
}

/* Octets of the next frame; no later frame is longer */
static inline unsigned int moderato_cut_len(const struct moderato_cut *cut)
{
	return cut->header + min(cut->size, cut->rest);
}

/* Offset in a word at which a frame has to start, so that most of its data has
 * the alignment of its source and is copied in words
 */
static inline unsigned int moderato_cut_offset(const struct moderato_cut *cut)
{
	const struct sk_buff *skb = cut->skb;
	unsigned long start = (unsigned long)cut->data - cut->header;

	if (!cut->header && skb_is_nonlinear(skb))
		start = (unsigned long)skb_frag_address(skb_shinfo(skb)->frags) -
			skb_headlen(skb);
	return start % sizeof(u32);
}

/* Writes headers of a segment with @size octets of data, whose sum is @sum. The
 * header's fields may be unaligned, see above.
 */
static inline void moderato_cut_headers(struct moderato_cut *cut, u8 *to,
					unsigned int size, __wsum sum)
{
	const struct sk_buff *skb = cut->skb;
	u8 *ip = to + skb_network_offset(skb);
	u8 *tcp = to + skb_transport_offset(skb);
	bool first = cut->rest + size == skb->len - cut->header;
	unsigned int total = cut->header + size - skb_network_offset(skb);
	__be32 flags = cut->flags;
	__be16 length = htons(total);
	__be16 id = htons(cut->id);
	__sum16 check;

	moderato_copy_sum(to, skb->data, cut->header);

	put_unaligned(length, (__be16 *)(ip + offsetof(struct iphdr, tot_len)));
	put_unaligned(id, (__be16 *)(ip + offsetof(struct iphdr, id)));
	check = csum_fold(csum_add(csum_add(cut->ip_sum,
					    (__force __wsum)length),
				   (__force __wsum)id));
	put_unaligned(check, (__sum16 *)(ip + offsetof(struct iphdr, check)));

	/* CWR belongs to the first segment, FIN and PSH to the last */
	if (!first)
		flags &= ~TCP_FLAG_CWR;
	if (cut->rest)
		flags &= ~(TCP_FLAG_FIN | TCP_FLAG_PSH);
	put_unaligned(flags, (__be32 *)(tcp + 12));
	put_unaligned_be32(cut->seq, tcp + offsetof(struct tcphdr, seq));

	sum = csum_add(sum, cut->tcp_sum);
	if (!cut->inserts) {
		sum = csum_add(sum, (__force __wsum)htonl(cut->seq));
		sum = csum_add(sum, (__force __wsum)flags);
	}
	length = htons(total - skb_network_header_len(skb));
	check = csum_fold(csum_add(sum, (__force __wsum)length));
	if (cut->inserts)
		check = (__force __sum16)~(__force u16)check;
	put_unaligned(check, (__sum16 *)(tcp + offsetof(struct tcphdr, check)));

	cut->id++;
	cut->seq += size;
}

/* Does the work of skb_checksum_help() in the pass that copies */
static inline void moderato_cut_whole(struct moderato_cut *cut, u8 *to)
{
	const struct sk_buff *skb = cut->skb;
	unsigned int start = 0;
	__sum16 check;
	__wsum sum;

	if (cut->inserts || skb->ip_summed != CHECKSUM_PARTIAL) {
		moderato_cut_take(cut, to, cut->rest);
		return;
	}
	start = skb_checksum_start_offset(skb);
	moderato_cut_take(cut, to, start);
	sum = moderato_cut_take(cut, to + start, cut->rest);
	/* 0 would mean that there is no checksum */
	check = csum_fold(sum) ?: CSUM_MANGLED_0;
	put_unaligned(check, (__sum16 *)(to + start + skb->csum_offset));
}

/* Writes the next frame, of moderato_cut_len() octets */
static inline void moderato_cut_next(struct moderato_cut *cut, u8 *to)
{
	unsigned int size = min(cut->size, cut->rest);
	__wsum sum;

	if (!cut->header) {
		moderato_cut_whole(cut, to);
		return;
	}
	sum = moderato_cut_take(cut, to + cut->header, size);
	moderato_cut_headers(cut, to, size, sum);
}

#endif /* MODERATO_CUT_H */
