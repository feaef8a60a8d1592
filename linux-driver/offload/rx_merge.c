// SPDX-License-Identifier: GPL-2.0-only
/* TCP segments for GRO, as pages of the skb that NAPI keeps: GRO takes the
 * pages and leaves the skb for the next segment, which saves an allocation per
 * segment.
 *
 * Segments that continue the one before, as the hardware reports
 * (NETIF_F_GRO_HW), are added to its skb here. The hardware has compared the
 * headers; this file verifies checksums by the sums in the descriptors.
 */

#include <linux/bitfield.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip6_checksum.h>
#include <net/tcp.h>

#include "moderato_priv.h"

/* Segments that wait in NAPI's skb for their continuation
 * @frame: the first one, in memory
 * @last: the last one, if there are two or more
 * @sum: sum in the first one's descriptor
 * @len: length of the first one
 * @headers: octets before the payload, if there are two or more
 * @mss: octets of the first one's payload, if there are two or more
 * @segs: number of segments; 0: none waits
 * @merged, @merges: frames that joined a packet, and such packets, in one poll
 */
struct moderato_merge {
	void *frame;
	void *last;
	__le32 sum;
	u16 len;
	u16 headers;
	u16 mss;
	u16 segs;
	unsigned int merged;
	unsigned int merges;
};

/* Shorter frames are acknowledgements, or cheap to copy */
#define MODERATO_RX_SEGMENT	256

/* Longest packet that an IP header can describe */
#define MODERATO_MERGED_MAX	U16_MAX

static void *moderato_rx_frame(const struct moderato_rx_buf *buf)
{
	return buf->data + NET_SKB_PAD + MODERATO_RX_OFFSET;
}

static bool moderato_is_ipv6(const void *frame)
{
	const struct ethhdr *eth = frame;

	return eth->h_proto == htons(ETH_P_IPV6);
}

static unsigned int moderato_ip_len(const void *frame)
{
	return moderato_is_ipv6(frame) ? sizeof(struct ipv6hdr) :
					 sizeof(struct iphdr);
}

/* Whether GRO will most likely merge it: a TCP segment of some length. Reads
 * the headers in the buffer, since those of other frames would have to be
 * copied first.
 */
static bool moderato_rx_is_segment(const struct moderato_rx_buf *buf,
				   unsigned int len)
{
	const void *frame = moderato_rx_frame(buf);
	const struct ipv6hdr *ipv6 = frame + ETH_HLEN;
	const struct ethhdr *eth = frame;
	const struct iphdr *ip = frame + ETH_HLEN;

	if (len < MODERATO_RX_SEGMENT)
		return false;
	if (eth->h_proto == htons(ETH_P_IP))
		return ip->protocol == IPPROTO_TCP;
	return eth->h_proto == htons(ETH_P_IPV6) &&
	       ipv6->nexthdr == IPPROTO_TCP;
}

static void moderato_merge_add(struct moderato_rx *rx, struct sk_buff *skb,
			       const void *octets, unsigned int len)
{
	struct page *page = virt_to_head_page(octets);

	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
			octets - page_address(page), len, rx->truesize);
}

/* Takes the frame that completed the descriptor in @slot with @status, and that
 * others may continue. It waits in @napi until moderato_merge_end(). The slot
 * gets a new buffer, unless there is no memory.
 */
static void moderato_merge_begin(struct moderato_rx *rx, u32 slot, u32 status,
				 struct napi_struct *napi,
				 struct moderato_rx_done *done)
{
	unsigned int len = FIELD_GET(MODERATO_DESC_STATUS_LENGTH, status);
	const struct moderato_rx_buf buf = rx->buf[slot];
	struct moderato_merge *merge = rx->merge;
	struct sk_buff *skb = napi_get_frags(napi);

	if (unlikely(!skb || !moderato_rx_replace(rx, slot))) {
		done->alloc_failed++;
		return;
	}
	moderato_merge_add(rx, skb, moderato_rx_frame(&buf), len);
	skb_mark_for_recycle(skb);
	moderato_rx_tell(rx, slot, status, skb, done);
	merge->frame = moderato_rx_frame(&buf);
	merge->len = len;
	merge->sum = rx->ring.desc[slot].checksum;
	merge->segs = 1;
	merge->headers = 0;

	done->packets++;
	done->bytes += len;
}

/* Verifies a segment's checksums, by the sum from its IP header on */
static bool moderato_sum_holds(const void *frame, unsigned int len, __le32 word)
{
	const struct ipv6hdr *ipv6 = frame + ETH_HLEN;
	const struct iphdr *ip = frame + ETH_HLEN;
	unsigned int tcp = len - ETH_HLEN - moderato_ip_len(frame);
	__wsum sum;

	/* In memory, the sum has the order of the frame's octets */
	sum = csum_unfold((__force __sum16)cpu_to_le16(le32_to_cpu(word)));
	if (moderato_is_ipv6(frame)) {
		sum = csum_sub(sum, csum_partial(ipv6, sizeof(*ipv6), 0));
		return !csum_ipv6_magic(&ipv6->saddr, &ipv6->daddr, tcp,
					IPPROTO_TCP, sum);
	}
	/* A correct header adds nothing to the sum */
	return !ip_fast_csum(ip, sizeof(*ip) / 4) &&
	       !csum_tcpudp_magic(ip->saddr, ip->daddr, tcp, IPPROTO_TCP, sum);
}

/* Reads the first segment's headers, once a second one follows */
static bool moderato_merge_opens(struct moderato_merge *merge)
{
	unsigned int place = ETH_HLEN + moderato_ip_len(merge->frame);
	const struct tcphdr *tcp = merge->frame + place;

	if (!moderato_sum_holds(merge->frame, merge->len, merge->sum))
		return false;
	merge->headers = place + __tcp_hdrlen(tcp);
	merge->mss = merge->len - merge->headers;
	return true;
}

/* Adds the frame that completed the descriptor in @slot with @status, a
 * continuation, to the waiting segments. The slot then has a new buffer.
 *
 * Return: whether it did
 */
static bool moderato_merge_next(struct moderato_rx *rx, u32 slot, u32 status,
				struct napi_struct *napi,
				struct moderato_rx_done *done)
{
	unsigned int len = FIELD_GET(MODERATO_DESC_STATUS_LENGTH, status);
	const struct moderato_rx_buf buf = rx->buf[slot];
	struct moderato_merge *merge = rx->merge;
	struct sk_buff *skb;
	void *frame;

	if (status & MODERATO_DESC_STATUS_STAMPED ||
	    !(rx->ndev->features & NETIF_F_GRO_HW))
		return false;
	if (merge->segs == 1 && !moderato_merge_opens(merge))
		return false;
	/* An urgent frame that was taken out of turn */
	if (unlikely(len <= merge->headers))
		return false;

	skb = napi->skb;
	frame = moderato_rx_frame(&buf);
	dma_sync_single_for_cpu(rx->dev, buf.dma,
				MODERATO_RX_OFFSET + len, DMA_FROM_DEVICE);
	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS ||
	    skb->len + len > MODERATO_MERGED_MAX ||
	    !moderato_sum_holds(frame, len, rx->ring.desc[slot].checksum) ||
	    !moderato_rx_replace(rx, slot))
		return false;

	moderato_merge_add(rx, skb, frame + merge->headers,
			   len - merge->headers);
	if (merge->segs == 1) {
		merge->merges++;
		merge->merged++;
	}
	merge->last = frame;
	merge->segs++;
	merge->merged++;
	done->packets++;
	done->bytes += len;
	return true;
}

/* Sets the skb as tcp_gro_complete() does, which needs headers in the linear
 * part: the first segment's headers serve all, with the sum of the
 * pseudo-header. A sender fills in the rest.
 */
static void moderato_merge_head(const struct moderato_merge *merge,
				struct sk_buff *skb)
{
	bool ipv6 = moderato_is_ipv6(merge->frame);
	unsigned int place = ETH_HLEN + moderato_ip_len(merge->frame);
	struct ipv6hdr *head6 = merge->frame + ETH_HLEN;
	struct iphdr *head = merge->frame + ETH_HLEN;
	struct tcphdr *tcp = merge->frame + place;
	const struct tcphdr *last = merge->last + place;
	unsigned int len = skb->len - place;
	__be16 total = htons(skb->len - ETH_HLEN);

	tcp->psh |= last->psh;
	if (ipv6) {
		head6->payload_len = htons(len);
		tcp->check = ~tcp_v6_check(len, &head6->saddr,
					   &head6->daddr, 0);
	} else {
		csum_replace2(&head->check, head->tot_len, total);
		head->tot_len = total;
		tcp->check = ~tcp_v4_check(len, head->saddr, head->daddr, 0);
	}
	skb_shinfo(skb)->gso_size = merge->mss;
	skb_shinfo(skb)->gso_segs = merge->segs;
	skb_shinfo(skb)->gso_type = ipv6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4;
	skb->csum_start = skb_headroom(skb) + place;
	skb->csum_offset = offsetof(struct tcphdr, check);
	skb->ip_summed = CHECKSUM_PARTIAL;
}

/* Passes the waiting segments to GRO. Some have to wait. */
static void moderato_merge_end(struct moderato_rx *rx,
			       struct napi_struct *napi)
{
	struct moderato_merge *merge = rx->merge;

	if (merge->segs > 1)
		moderato_merge_head(merge, napi->skb);
	merge->segs = 0;
	napi_gro_frags(napi);
}

/* Whether GRO will most likely take its pages */
static bool moderato_merge_wants(struct moderato_rx *rx, u32 slot, u32 status)
{
	unsigned int len = FIELD_GET(MODERATO_DESC_STATUS_LENGTH, status);
	const struct moderato_rx_buf *buf = &rx->buf[slot];

	if (status & (MODERATO_DESC_STATUS_ERROR |
		      MODERATO_DESC_STATUS_STAMPED) ||
	    len > rx->longest)
		return false;
	dma_sync_single_for_cpu(rx->dev, buf->dma, MODERATO_RX_OFFSET + len,
				DMA_FROM_DEVICE);
	return moderato_rx_is_segment(buf, len);
}

static void moderato_merge_count(struct moderato_rx *rx)
{
	struct moderato_rx_stats *stats = &rx->queue->rx_stats;
	struct moderato_merge *merge = rx->merge;
	unsigned long flags;

	flags = u64_stats_update_begin_irqsave(&stats->syncp);
	u64_stats_add(&stats->merged, merge->merged);
	u64_stats_add(&stats->merges, merge->merges);
	u64_stats_update_end_irqrestore(&stats->syncp, flags);
	merge->merged = 0;
	merge->merges = 0;
}

/* Replaces moderato_rx_receive() */
static int moderato_merge_receive(struct moderato_rx *rx,
				  struct napi_struct *napi, int budget,
				  struct moderato_rx_done *done)
{
	struct moderato_merge *merge = rx->merge;
	int work = 0;
	u32 status;

	if (!(napi->dev->features & NETIF_F_GRO))
		return moderato_rx_receive(rx, napi, budget, done);

	for (; work < budget && moderato_ring_completed(&rx->ring, &status);
	     work++) {
		u16 index = moderato_rx_next(rx, done);
		u32 slot = moderato_slot(index, rx->ring.order);
		struct sk_buff *skb;

		if (merge->segs) {
			if (status & MODERATO_DESC_STATUS_CONTINUES &&
			    moderato_merge_next(rx, slot, status, napi, done))
				continue;
			moderato_merge_end(rx, napi);
		}
		if (moderato_merge_wants(rx, slot, status)) {
			moderato_merge_begin(rx, slot, status, napi, done);
			continue;
		}
		skb = moderato_rx_take(rx, index, status, done);
		if (likely(skb))
			napi_gro_receive(napi, skb);
	}
	if (merge->segs)
		moderato_merge_end(rx, napi);
	if (merge->merged)
		moderato_merge_count(rx);
	if (done->taken)
		moderato_rx_finish(rx, done);
	return work;
}

int moderato_merge_init(struct moderato_priv *priv)
{
	if (priv->features & MODERATO_FEATURES_MERGE) {
		priv->ndev->hw_features |= NETIF_F_GRO_HW;
		priv->ndev->features |= NETIF_F_GRO_HW;
	}
	return 0;
}

int moderato_merge_create(struct moderato_rx *rx)
{
	if (!(rx->queue->priv->features & MODERATO_FEATURES_MERGE) ||
	    !rx->ops->pooled)
		return 0;
	rx->merge = kzalloc(sizeof(*rx->merge), GFP_KERNEL);
	if (!rx->merge)
		return -ENOMEM;
	rx->receive = moderato_merge_receive;
	return 0;
}

void moderato_merge_destroy(struct moderato_rx *rx)
{
	kfree(rx->merge);
}
