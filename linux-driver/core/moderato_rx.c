// SPDX-License-Identifier: GPL-2.0-only
/* Receive ring: buffers, and one skb for each completed descriptor. The caller
 * decides when, and in which context: see rx_napi.c.
 */

#include <linux/bitfield.h>
#include <linux/slab.h>
#include <net/checksum.h>

#include "moderato_dim.h"
#include "moderato_hw.h"

/* Buffers ------------------------------------------------------------------ */

/* headroom (forwarding may push headers) | 2 | frame | struct skb_shared_info
 *
 * The hardware writes whole words, from the 2 bytes that put the IP header on
 * a 4-byte boundary up to the word that holds the frame's end.
 */
static void moderato_rx_layout(struct moderato_rx *rx, unsigned int mtu)
{
	rx->room = ALIGN(MODERATO_RX_OFFSET + MODERATO_OVERHEAD +
			 moderato_rx_mtu(rx->queue->priv, mtu),
			 MODERATO_RX_BUFFER_ALIGN) + rx->ahead;
	rx->longest = rx->room - MODERATO_RX_OFFSET - rx->ahead;
	rx->truesize =
		roundup_pow_of_two(SKB_HEAD_ALIGN(rx->headroom + rx->room));
}

/* For filling a ring, in process context: waits for memory, but fails rather
 * than killing a process for a ring that is too long
 */
#define MODERATO_RX_FILL	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* For a running ring */
#define MODERATO_RX_REFILL	(GFP_ATOMIC | __GFP_NOWARN)

/* A hard interrupt must not use a page pool, whose lockless cache and lock are
 * for softirqs. Page fragments work in all contexts.
 */
static bool moderato_rx_map_frag(struct moderato_rx *rx,
				 struct moderato_rx_buf *buf, void *data)
{
	struct device *dev = rx->dev;

	buf->data = data;
	if (unlikely(!buf->data))
		return false;

	buf->dma = dma_map_single(dev, buf->data + NET_SKB_PAD, rx->room,
				  DMA_FROM_DEVICE);
	if (unlikely(dma_mapping_error(dev, buf->dma))) {
		skb_free_frag(buf->data);
		buf->data = NULL;
		return false;
	}
	return true;
}

static __always_inline bool moderato_rx_alloc(struct moderato_rx *rx,
					      struct moderato_rx_buf *buf)
{
	if (rx->pool)
		return moderato_pool_alloc(rx, buf, MODERATO_RX_REFILL);
	return moderato_rx_map_frag(rx, buf,
				    netdev_alloc_frag_align(rx->truesize,
							    SMP_CACHE_BYTES));
}

static void moderato_rx_free(struct moderato_rx *rx,
			     const struct moderato_rx_buf *buf)
{
	if (rx->pool) {
		moderato_pool_free(rx, buf);
	} else {
		dma_unmap_single(rx->dev, buf->dma, rx->room,
				 DMA_FROM_DEVICE);
		skb_free_frag(buf->data);
	}
}

static __always_inline struct sk_buff *
moderato_rx_build(struct moderato_rx *rx, const struct moderato_rx_buf *buf,
		  unsigned int len)
{
	struct sk_buff *skb;

	if (rx->pool) {
		dma_sync_single_for_cpu(rx->dev, buf->dma,
					MODERATO_RX_OFFSET + rx->ahead + len,
					DMA_FROM_DEVICE);
		skb = napi_build_skb(buf->data, rx->truesize);
		if (likely(skb))
			skb_mark_for_recycle(skb);
	} else {
		skb = build_skb(buf->data, rx->truesize);
		if (likely(skb))
			dma_unmap_single(rx->dev, buf->dma, rx->room,
					 DMA_FROM_DEVICE);
	}
	return skb;
}

/* Gives a slot a new buffer. Return: false if there is no memory; then nothing
 * changes
 */
bool moderato_rx_replace(struct moderato_rx *rx, u32 slot)
{
	struct moderato_rx_buf fresh;

	if (unlikely(!moderato_rx_alloc(rx, &fresh)))
		return false;
	rx->buf[slot] = fresh;
	rx->ring.desc[slot].address = cpu_to_le32(fresh.dma);
	return true;
}

/* Data path ---------------------------------------------------------------- */

/* Copies the descriptor's data on a frame to its skb, before the stack has
 * it
 */
void moderato_rx_tell(struct moderato_rx *rx, u32 slot, u32 status,
		      struct sk_buff *skb, struct moderato_rx_done *done)
{
	u32 word = le32_to_cpu(rx->ring.desc[slot].checksum);

	if (status & MODERATO_DESC_STATUS_STAMPED && rx->stamp)
		rx->stamp(rx, skb);
	if (rx->ndev->features & NETIF_F_RXCSUM) {
		/* In memory, the sum has the order of the frame's octets */
		skb->csum = csum_unfold((__force __sum16)cpu_to_le16(word));
		skb->ip_summed = CHECKSUM_COMPLETE;
	}
	if (status & MODERATO_DESC_STATUS_TAGGED) {
		/* The frame had the tag on the wire */
		done->bytes += VLAN_HLEN;
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q),
				       FIELD_GET(MODERATO_DESC_RX_CHECKSUM_TCI,
						 word));
	}
	skb_record_rx_queue(skb, rx->queue->index);
}

/* Takes the frame that completed the descriptor at @index with @status, and
 * gives its slot a new buffer. Without memory for one, the driver drops the
 * frame and reuses its buffer: no slot stays empty.
 *
 * Return: the frame, or NULL
 */
struct sk_buff *moderato_rx_take(struct moderato_rx *rx, u16 index, u32 status,
				 struct moderato_rx_done *done)
{
	unsigned int len = FIELD_GET(MODERATO_DESC_STATUS_LENGTH, status);
	struct moderato_ring *ring = &rx->ring;
	u32 slot = moderato_slot(index, ring->order);
	struct moderato_rx_buf *buf = &rx->buf[slot];
	struct moderato_rx_buf fresh;
	struct sk_buff *skb;

	/* Too long, with a DMA error, or an urgent frame that was taken out of
	 * turn
	 */
	if (unlikely(status & MODERATO_DESC_STATUS_ERROR ||
		     len < ETH_HLEN || len > rx->longest)) {
		if (!(status & MODERATO_DESC_STATUS_URGENT))
			done->errors++;
		return NULL;
	}

	if (unlikely(!moderato_rx_alloc(rx, &fresh))) {
		done->alloc_failed++;
		return NULL;
	}
	skb = moderato_rx_build(rx, buf, len);
	if (unlikely(!skb)) {
		moderato_rx_free(rx, &fresh);
		done->alloc_failed++;
		return NULL;
	}

	*buf = fresh;
	ring->desc[slot].address = cpu_to_le32(fresh.dma);

	done->packets++;
	done->bytes += len;
	skb_reserve(skb, NET_SKB_PAD + MODERATO_RX_OFFSET);
	skb_put(skb, len);
	if (unlikely(rx->more))
		moderato_rx_tell(rx, slot, status, skb, done);
	skb->protocol = eth_type_trans(skb, rx->ndev);
	return skb;
}

/* Posts the taken descriptors again, with one doorbell for all */
void moderato_rx_finish(struct moderato_rx *rx,
			const struct moderato_rx_done *done)
{
	struct moderato_rx_stats *stats = &rx->queue->rx_stats;
	unsigned long flags;

	moderato_doorbell(&rx->ring, rx->ring.producer);

	/* Once in 2^16 descriptors: the work that reads the hardware's counters
	 * does not run on a CPU that only receives
	 */
	if (unlikely(rx->ring.consumer < done->taken))
		moderato_stats_look(rx->queue->priv);

	flags = u64_stats_update_begin_irqsave(&stats->syncp);
	u64_stats_add(&stats->packets, done->packets);
	u64_stats_add(&stats->bytes, done->bytes);
	if (unlikely(done->errors | done->alloc_failed)) {
		u64_stats_add(&stats->errors, done->errors);
		u64_stats_add(&stats->alloc_failed, done->alloc_failed);
	}
	u64_stats_update_end_irqrestore(&stats->syncp, flags);
}

/* Life --------------------------------------------------------------------- */

/* Allocates a buffer for each slot; without memory, those allocated so far stay
 */
static int moderato_rx_alloc_all(struct moderato_rx *rx)
{
	u32 size = moderato_size(rx->ring.order);
	struct page_frag_cache frags = {};
	bool ok = true;

	rx->buf = kvcalloc(size, sizeof(*rx->buf), GFP_KERNEL);
	if (!rx->buf)
		return -ENOMEM;

	for (u32 slot = 0; ok && slot < size; slot++) {
		struct moderato_rx_buf *buf = &rx->buf[slot];
		void *data;

		if (rx->pool) {
			ok = rx->fill(rx, buf, MODERATO_RX_FILL);
		} else {
			data = page_frag_alloc_align(&frags, rx->truesize,
						     MODERATO_RX_FILL,
						     SMP_CACHE_BYTES);
			ok = moderato_rx_map_frag(rx, buf, data);
		}
	}
	page_frag_cache_drain(&frags);
	return ok ? 0 : -ENOMEM;
}

/* Writes all descriptors as the hardware expects them at the start */
void moderato_rx_fill(struct moderato_rx *rx)
{
	u32 control = FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH, rx->room);
	u32 size = moderato_size(rx->ring.order);

	for (u32 slot = 0; slot < size; slot++)
		rx->ring.desc[slot] = (struct moderato_desc) {
			.address = cpu_to_le32(rx->buf[slot].dma),
			.control = cpu_to_le32(control),
		};
}

struct moderato_rx *moderato_rx_create(struct moderato_queue *q, u8 order,
				       unsigned int mtu,
				       const struct moderato_rx_ops *ops)
{
	struct moderato_rx *rx;
	int err;

	rx = kzalloc(sizeof(*rx), GFP_KERNEL);
	if (!rx)
		return ERR_PTR(-ENOMEM);

	rx->queue = q;
	rx->ndev = q->priv->ndev;
	rx->dev = q->priv->dev;
	rx->ops = ops;
	rx->receive = moderato_rx_receive;
	rx->more = q->priv->features & MODERATO_FEATURES_RX_CHECKSUM;
	err = moderato_features_rx_create(rx);
	if (err)
		goto err;
	moderato_rx_layout(rx, mtu);

	err = moderato_ring_alloc(q->priv, &rx->ring, moderato_rx_dir(q),
				  order);
	if (err)
		goto err;
	if (ops->pooled) {
		err = moderato_pool_create(rx);
		if (err)
			goto err;
	}
	err = moderato_rx_alloc_all(rx);
	if (err)
		goto err;
	moderato_rx_fill(rx);
	return rx;

err:
	moderato_rx_destroy(rx);
	return ERR_PTR(err);
}

void moderato_rx_destroy(struct moderato_rx *rx)
{
	u32 size = moderato_size(rx->ring.order);

	/* The hardware may still write to the buffers of a stuck ring */
	if (!rx->ring.stuck) {
		for (u32 slot = 0; rx->buf && slot < size; slot++)
			if (rx->buf[slot].data)
				moderato_rx_free(rx, &rx->buf[slot]);
		if (rx->pool)
			moderato_pool_destroy(rx);
	}
	kvfree(rx->buf);
	moderato_ring_free(rx->queue->priv, &rx->ring);
	moderato_features_rx_destroy(rx);
	kfree(rx);
}

/* Starts a ring that moderato_rx_fill() has prepared */
void moderato_rx_up(struct moderato_rx *rx)
{
	struct moderato_queue *q = rx->queue;
	struct moderato_priv *priv = q->priv;
	struct moderato_ring *ring = &rx->ring;

	moderato_hw_set_pause_marks(priv, ring->order, rx->room);
	moderato_ring_start(priv, ring);
	moderato_rx_moderate(q);
	ring->producer = moderato_size(ring->order);
	moderato_features_rx_up(rx);
	moderato_doorbell(ring, ring->producer);

	if (rx->pool)
		moderato_pool_up(rx);
	if (rx->ops->start)
		rx->ops->start(rx);
	enable_irq(q->rx_irq);
	moderato_rearm(ring);
}

/* Stops the ring, and passes on the frames in memory. Does nothing if the ring
 * is down already.
 *
 * Return: 0, or an error if the DMA does not stop
 */
int moderato_rx_down(struct moderato_rx *rx)
{
	struct moderato_queue *q = rx->queue;
	int err;

	if (!rx->ring.running)
		return 0;

	err = moderato_ring_stop(q->priv, &rx->ring);
	disable_irq(q->rx_irq);
	rx->ops->stop(rx);
	cancel_work_sync(&q->rx_dim.work);
	/* The strategy may have re-armed it meanwhile */
	moderato_disarm(&rx->ring);
	if (rx->pool)
		moderato_pool_down(rx);
	return err;
}

int moderato_rx_reset(struct moderato_rx *rx)
{
	int err = moderato_rx_down(rx);

	if (err)
		return err;
	moderato_rx_fill(rx);
	moderato_rx_up(rx);
	return 0;
}

/* Replaces the running ring by @rx. All that can fail was done at its creation,
 * so the interface never lacks a ring, unless the old DMA does not stop. Slow
 * work was done then as well, or follows, so that few frames are missed.
 */
int moderato_rx_install(struct moderato_queue *q, struct moderato_rx *rx)
{
	struct moderato_rx *old = q->rx;
	int err = moderato_rx_down(old);

	q->rx = rx;
	if (err)
		moderato_give_up(q->priv);
	else
		moderato_rx_up(rx);
	moderato_rx_destroy(old);
	return err;
}
