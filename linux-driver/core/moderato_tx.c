// SPDX-License-Identifier: GPL-2.0-only
/* Transmit ring: posting frames, and taking back one completed descriptor. In
 * which context skbs are freed is up to who calls: see tx_poll.c.
 */

#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/slab.h>
#include <linux/tcp.h>

#include "moderato_dim.h"
#include "moderato_features.h"

#define MODERATO_DRAIN_POLL_US	100

/* Data path ---------------------------------------------------------------- */

/* Posts @skb, mapped at @dma; @plan: NULL if nothing is asked of the hardware */
static __always_inline void
moderato_tx_post(struct moderato_tx *tx, struct sk_buff *skb, dma_addr_t dma,
		 const struct moderato_tx_plan *plan)
{
	struct moderato_ring *ring = &tx->ring;
	u32 slot = moderato_slot(ring->producer, ring->order);
	struct moderato_desc *desc = &ring->desc[slot];
	struct moderato_tx_buf *buf = &tx->buf[slot];

	buf->skb = skb;
	buf->dma = dma;
	buf->len = skb->len;
	buf->segs = 1;
	buf->more = 0;
	buf->flags = tx->prompt ? MODERATO_TX_ACCOUNTED : 0;

	desc->address = cpu_to_le32(dma);
	desc->control = cpu_to_le32(FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH,
					       skb->len));
	if (plan) {
		buf->flags |= plan->flags;
		moderato_tx_put_status(ring, ring->producer, plan->status);
		desc->checksum = cpu_to_le32(plan->checksum);
	}
	ring->producer++;
}

/* What the hardware is to do with it, if it can do anything */
static void moderato_tx_plan_asked(const struct moderato_tx *tx,
				   const struct sk_buff *skb,
				   struct moderato_tx_plan *plan)
{
	u32 features = tx->queue->priv->features;

	if (skb_vlan_tag_present(skb)) {
		plan->flags = MODERATO_TX_TAGGED | MODERATO_TX_PLANNED;
		plan->status = MODERATO_DESC_TX_TAG_TAGGED |
			       FIELD_PREP(MODERATO_DESC_TX_TAG_TAG,
					  skb_vlan_tag_get(skb));
	}
	plan->stamp = tx->stamps &&
		      skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP &&
		      tx->stamps->wanted(tx);
	if (plan->stamp)
		plan->flags |= MODERATO_TX_PLANNED;

	/* Not at an odd octet, which no protocol of the stack's own asks for */
	if (features & MODERATO_FEATURES_TX_CHECKSUM) {
		unsigned int start = skb_checksum_start_offset(skb);

		plan->inserts = !((start | skb->csum_offset) & 1);
		if (skb->ip_summed == CHECKSUM_PARTIAL && plan->inserts)
			plan->checksum =
				moderato_insertion(start,
						   start + skb->csum_offset);
	}

	if (!(skb->data_len | skb_shinfo(skb)->gso_size) &&
	    (skb->ip_summed != CHECKSUM_PARTIAL || plan->inserts))
		plan->way = MODERATO_TX_MAP;
	else if (tx->gather && tx->gather->plans(tx, skb, plan))
		plan->way = MODERATO_TX_GATHER;
}

/* Posts @skb as it is. Return: its octets, or a negative error */
static __always_inline int moderato_tx_map(struct moderato_tx *tx,
					   struct sk_buff *skb,
					   const struct moderato_tx_plan *plan)
{
	dma_addr_t dma;

	if (unlikely(!moderato_tx_space(tx))) {
		/* Somebody woke the queue of a full ring */
		netdev_err_once(tx->ndev,
				"Tx ring full while the queue is on\n");
		return -EBUSY;
	}
	/* dma_map_single() would ask each time whether it comes from vmalloc() */
	dma = dma_map_page(tx->dev, virt_to_page(skb->data),
			   offset_in_page(skb->data), skb->len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(tx->dev, dma)))
		return -ENOMEM;
	moderato_tx_post(tx, skb, dma, plan);
	return skb->len;
}

/* One that could not be posted, for the reason @err */
static noinline __cold netdev_tx_t
moderato_tx_refuse(struct moderato_tx *tx, struct sk_buff *skb, int err,
		   bool flush)
{
	bool busy = err == -EBUSY;

	if (busy) {
		/* The first skb that is to be cut may find a ring that is too
		 * full for it; from then on the queue stops early enough.
		 */
		moderato_tx_stop_when_full(tx);
	} else {
		dev_kfree_skb_any(skb);
		dev_core_stats_tx_dropped_inc(tx->ndev);
	}
	if (busy || flush)
		moderato_tx_ring_doorbell(tx);
	if (tx->ops->posted)
		tx->ops->posted(tx);
	return busy ? NETDEV_TX_BUSY : NETDEV_TX_OK;
}

/* For a stamp of @skb, or of the last frame that it became. Somebody waits for
 * it, whatever moderates other completions.
 */
static void moderato_tx_ask(struct moderato_tx *tx, struct sk_buff *skb)
{
	u32 slot = moderato_slot(tx->ring.producer - 1, tx->ring.order);

	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	tx->ring.desc[slot].control |=
		cpu_to_le32(MODERATO_DESC_CONTROL_TIMESTAMP |
			    MODERATO_DESC_CONTROL_INTERRUPT);
}

/* Posts one that needs a plan: the hardware can do more than send it, or cannot
 * send it as it is. Return: its octets, or a negative error
 */
static noinline int moderato_tx_planned(struct moderato_tx *tx,
					struct sk_buff *skb)
{
	struct moderato_tx_plan plan = { .way = MODERATO_TX_COPY };
	int len;

	if (tx->asks)
		moderato_tx_plan_asked(tx, skb, &plan);

	if (plan.way == MODERATO_TX_MAP)
		len = moderato_tx_map(tx, skb, &plan);
	else if (plan.way == MODERATO_TX_GATHER)
		len = tx->gather->post(tx, skb, &plan);
	else
		len = moderato_tx_copy(tx, skb, &plan);
	if (len >= 0 && plan.stamp)
		moderato_tx_ask(tx, skb);
	return len;
}

netdev_tx_t moderato_start_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_tx *tx = priv->queue[skb_get_queue_mapping(skb)].tx;
	bool sums = skb->ip_summed == CHECKSUM_PARTIAL;
	bool flush = !netdev_xmit_more();
	int len;

	if (tx->ops->prepare)
		tx->ops->prepare(tx);

	/* The stack has just looked at gso_size, too; one branch is for all */
	if (unlikely(tx->asks | skb->data_len | skb_shinfo(skb)->gso_size |
		     sums))
		len = moderato_tx_planned(tx, skb);
	else
		len = moderato_tx_map(tx, skb, NULL);
	if (unlikely(len < 0))
		return moderato_tx_refuse(tx, skb, len, flush);

	skb_tx_timestamp(skb);
	if (!tx->prompt &&
	    !(skb_shinfo(skb)->tx_flags & SKBTX_IN_PROGRESS)) {
		/* The skb may wait long for being freed: neither its socket
		 * nor its connection may wait with it.
		 */
		skb_orphan(skb);
		nf_reset_ct(skb);
	}
	moderato_tx_stop_when_full(tx);

	/* Byte queue limits know only of frames that come back promptly: a
	 * frame that waits for 127 others would stop the queue that is to
	 * bring them.
	 */
	if (tx->prompt)
		flush = __netdev_tx_sent_queue(tx->txq, len, !flush);
	else
		flush |= netif_xmit_stopped(tx->txq);

	/* From the doorbell on, the skb may be gone */
	if (flush)
		moderato_tx_ring_doorbell(tx);
	if (tx->ops->posted)
		tx->ops->posted(tx);
	return NETDEV_TX_OK;
}

void moderato_tx_unmap(struct moderato_tx *tx, struct moderato_tx_buf *buf)
{
	if (buf->flags & MODERATO_TX_PAGE)
		dma_unmap_page(tx->dev, buf->dma, buf->len, DMA_TO_DEVICE);
	else if (likely(buf->len))
		dma_unmap_single(tx->dev, buf->dma, buf->len, DMA_TO_DEVICE);
}

/* @len octets of @skb as they count in statistics: of segments, only the last one
 * may be short
 */
static unsigned int moderato_tx_wire_octets(const struct sk_buff *skb,
					    const struct moderato_tx_buf *buf,
					    u32 len)
{
	unsigned int tag = buf->flags & MODERATO_TX_TAGGED ? VLAN_HLEN : 0;
	unsigned int before;

	if (likely(buf->segs == 1))
		return max_t(u32, len + tag, ETH_ZLEN);

	before = (buf->segs - 1) * skb_shinfo(skb)->gso_size;
	return before + (buf->segs - 1) * (skb_tcp_all_headers(skb) + tag) +
	       max_t(u32, len - before + tag, ETH_ZLEN);
}

static void moderato_tx_take_stamp(struct moderato_tx *tx, u16 index,
				   struct sk_buff *skb)
{
	u32 slot = moderato_slot(index, tx->ring.order);

	if (tx->stamps)
		tx->stamps->stamped(tx, skb,
				    le32_to_cpu(tx->ring.desc[slot].checksum));
}

/* See moderato_tx_take(): with the last of its pieces, a tag, a stamp */
struct sk_buff *moderato_tx_take_planned(struct moderato_tx *tx,
					 struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	u16 index = ring->consumer;
	struct moderato_tx_buf *buf =
		&tx->buf[moderato_slot(index, ring->order)];
	struct sk_buff *skb = buf->skb;
	/* Of one slot, it may be a frame that was cut from the skb */
	u32 len = buf->more ? skb->len : buf->len;
	unsigned int octets;
	u16 segments;
	u32 status;
	u16 last;

	last = index + buf->more;
	if (!moderato_ring_completed_at(ring, last, &status))
		return NULL;

	segments = buf->segs;
	octets = moderato_tx_wire_octets(skb, buf, len);
	if (buf->flags & MODERATO_TX_ACCOUNTED) {
		done->accounted_frames++;
		done->accounted_bytes += len;
	}
	buf->skb = NULL;
	buf->more = 0;
	moderato_tx_unmap(tx, buf);
	while (index != last) {
		buf = &tx->buf[moderato_slot(++index, ring->order)];
		moderato_tx_unmap(tx, buf);
	}

	if (status & MODERATO_DESC_STATUS_STAMPED)
		moderato_tx_take_stamp(tx, last, skb);
	if (likely(!(status & MODERATO_DESC_STATUS_ERROR))) {
		done->packets += segments;
		done->bytes += octets;
	}
	done->frames += segments;

	/* The slots must be left before moderato_start_xmit() fills them anew */
	smp_store_release(&ring->consumer, (u16)(last + 1));
	return skb;
}

/* Takes the oldest frame off the ring if the hardware is done with it. Statistics
 * count frames as they are on the wire, without the FCS, in both directions: with
 * padding, and with a tag that the hardware puts in.
 *
 * Return: its skb, for the caller to free, or NULL
 */
struct sk_buff *moderato_tx_take(struct moderato_tx *tx,
				 struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	struct moderato_tx_buf *buf;
	struct sk_buff *skb;
	unsigned int len;
	u32 status;

	/* Before it has completed, the slot may be being filled */
	if (!moderato_ring_completed(ring, &status))
		return NULL;
	buf = &tx->buf[moderato_slot(ring->consumer, ring->order)];
	if (unlikely(buf->flags & MODERATO_TX_PLANNED))
		return tx->planned(tx, done);

	skb = buf->skb;
	len = buf->len;
	buf->skb = NULL;
	dma_unmap_single(tx->dev, buf->dma, len, DMA_TO_DEVICE);

	done->frames++;
	if (buf->flags & MODERATO_TX_ACCOUNTED) {
		done->accounted_frames++;
		done->accounted_bytes += len;
	}
	if (likely(!(status & MODERATO_DESC_STATUS_ERROR))) {
		done->packets++;
		done->bytes += max_t(u32, len, ETH_ZLEN);
	}

	/* The slot must be left before moderato_start_xmit() fills it anew */
	smp_store_release(&ring->consumer, (u16)(ring->consumer + 1));
	return skb;
}

/* After the last frame was taken: counts, and wakes the queue */
void moderato_tx_finish(struct moderato_tx *tx,
			const struct moderato_tx_done *done)
{
	struct moderato_tx_stats *stats = &tx->queue->tx_stats;
	unsigned long flags;

	if (!done->frames)
		return;

	flags = u64_stats_update_begin_irqsave(&stats->syncp);
	u64_stats_add(&stats->packets, done->packets);
	u64_stats_add(&stats->bytes, done->bytes);
	if (unlikely(done->frames != done->packets))
		u64_stats_add(&stats->errors, done->frames - done->packets);
	u64_stats_update_end_irqrestore(&stats->syncp, flags);

	netdev_tx_completed_queue(tx->txq, done->accounted_frames,
				  done->accounted_bytes);

	/* The consumer index is published before the stop bit is read. Pairs
	 * with the barrier in netif_txq_try_stop(): either the queue sees the
	 * space, or this sees that it stopped.
	 */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(tx->txq)) &&
	    !READ_ONCE(tx->draining) &&
	    moderato_tx_space(tx) >= moderato_tx_wake_threshold(tx))
		netif_tx_wake_queue(tx->txq);
}

/* From anywhere, with transmissions locked out */
void moderato_tx_reclaim(struct moderato_tx *tx)
{
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	while ((skb = moderato_tx_take(tx, &done)))
		dev_consume_skb_any(skb);
	moderato_tx_finish(tx, &done);
}

/* Strategy ----------------------------------------------------------------- */

/* Chooses the strategy that the configuration asks for, on a running or a
 * stopped ring, with the interrupt disabled. Frames on the ring stay there:
 * whoever comes next frees them, so nothing is lost and nothing leaks.
 */
static void moderato_tx_choose(struct moderato_tx *tx)
{
	const struct moderato_config *config = &tx->queue->config;
	const struct moderato_tx_ops *old = tx->ops;

	__netif_tx_lock_bh(tx->txq);
	WRITE_ONCE(tx->ops, config->tx_ops);
	tx->prompt = moderato_tx_adapts(config) ||
		     (!config->tx_ops->quiet && moderato_tx_prompt(&config->tx));
	__netif_tx_unlock_bh(tx->txq);

	/* What it started looks at the strategy under the lock, and so does not
	 * take frames any more.
	 */
	if (old->stop)
		old->stop(tx);
	/* An Rx interrupt that saw what was there before may be about to mask
	 * this ring, which no poll would then arm again: see
	 * moderato_tx_poll_comes().
	 */
	synchronize_irq(tx->queue->rx_irq);
	moderato_tx_moderate(tx->queue, !tx->ops->quiet);
}

/* With the interrupt disabled until the very end, see moderato_tx_choose(). A
 * ring that halts raises it, whatever else does.
 */
static void moderato_tx_resume(struct moderato_tx *tx)
{
	enable_irq(tx->queue->tx_irq);
	moderato_rearm(&tx->ring);
	if (tx->ops->posted) {
		__netif_tx_lock_bh(tx->txq);
		tx->ops->posted(tx);
		__netif_tx_unlock_bh(tx->txq);
	}
}

/* Under traffic */
void moderato_tx_switch(struct moderato_tx *tx)
{
	disable_irq(tx->queue->tx_irq);
	moderato_disarm(&tx->ring);
	moderato_tx_choose(tx);
	moderato_tx_resume(tx);
}

/* Life --------------------------------------------------------------------- */

struct moderato_tx *moderato_tx_create(struct moderato_queue *q, u8 order)
{
	struct moderato_priv *priv = q->priv;
	struct moderato_tx *tx;

	tx = kzalloc(sizeof(*tx), GFP_KERNEL);
	if (!tx)
		return ERR_PTR(-ENOMEM);

	tx->queue = q;
	tx->ndev = priv->ndev;
	tx->dev = priv->dev;
	tx->txq = netdev_get_tx_queue(priv->ndev, q->index);
	tx->ops = q->config.tx_ops;
	tx->asks = priv->features & MODERATO_FEATURES_TX_CHECKSUM;
	tx->reserve = 1;
	/* Until it is up */
	tx->draining = true;
	tx->planned = moderato_tx_take_planned;
	moderato_features_tx_create(tx);

	tx->buf = kvcalloc(moderato_size(order), sizeof(*tx->buf), GFP_KERNEL);
	tx->copies = kvcalloc(moderato_size(order), sizeof(*tx->copies),
			      GFP_KERNEL);
	if (!tx->buf || !tx->copies ||
	    moderato_ring_alloc(priv, &tx->ring, moderato_tx_dir(q), order)) {
		moderato_tx_destroy(tx);
		return ERR_PTR(-ENOMEM);
	}
	return tx;
}

void moderato_tx_destroy(struct moderato_tx *tx)
{
	moderato_ring_free(tx->queue->priv, &tx->ring);
	if (tx->copies)
		moderato_copies_free(tx);
	kvfree(tx->copies);
	kvfree(tx->buf);
	moderato_features_tx_destroy(tx);
	kfree(tx);
}

/* What a ring's own buffers are for. Where frames may be long they have the size
 * of the present ones, and a change of the MTU takes a new ring.
 */
static unsigned int moderato_tx_copy_mtu(const struct moderato_priv *priv)
{
	const struct net_device *ndev = priv->ndev;

	return moderato_has_jumbo(priv) ? max(ndev->mtu, ETH_DATA_LEN) :
					  ndev->max_mtu;
}

void moderato_tx_up(struct moderato_tx *tx)
{
	struct moderato_priv *priv = tx->queue->priv;
	struct moderato_ring *ring = &tx->ring;

	tx->copy_mtu = moderato_tx_copy_mtu(priv);
	priv->copy_mtu = tx->copy_mtu;
	memset(ring->desc, 0, moderato_size(ring->order) * sizeof(*ring->desc));
	moderato_ring_start(priv, ring);
	tx->rung = 0;
	/* Who sends for XDP sees all of that */
	smp_store_release(&tx->draining, false);
	netdev_tx_reset_queue(tx->txq);
	moderato_tx_choose(tx);
	moderato_tx_resume(tx);
	netif_tx_wake_queue(tx->txq);
	moderato_features_tx_up(tx);
}

static bool moderato_tx_drained(struct moderato_tx *tx)
{
	u16 last = tx->ring.producer - 1;
	u32 slot = moderato_slot(last, tx->ring.order);
	u32 status = le32_to_cpu(READ_ONCE(tx->ring.desc[slot].status));

	return tx->ring.producer == READ_ONCE(tx->ring.consumer) ||
	       moderato_completed(status, last, tx->ring.order);
}

/* What is on the ring, in octets on the wire; some may leave meanwhile, so that
 * no skb is looked at.
 */
static u32 moderato_tx_octets(const struct moderato_tx *tx)
{
	const struct moderato_ring *ring = &tx->ring;
	u16 index = READ_ONCE(ring->consumer);
	u32 octets = 0;

	for (; index != ring->producer; index++) {
		const struct moderato_tx_buf *buf =
			&tx->buf[moderato_slot(index, ring->order)];

		octets += buf->len + ETH_FCS_LEN + MODERATO_WIRE_OVERHEAD;
		/* Of each segment but the first one, with headers of the
		 * longest kind
		 */
		if (buf->segs > 1)
			octets += (buf->segs - 1) * (MODERATO_TX_HEADER_BYTES +
						     ETH_FCS_LEN +
						     MODERATO_WIRE_OVERHEAD);
	}
	return octets;
}

static void moderato_tx_drain(struct moderato_tx *tx)
{
	struct moderato_priv *priv = tx->queue->priv;
	/* Another queue's frames leave in turn with these, and forwarded ones */
	u32 senders = priv->used + !!priv->offload;
	u32 limit = senders * moderato_drain_usecs(moderato_tx_octets(tx),
						   READ_ONCE(priv->speed));
	bool drained;

	if (limit && !moderato_ring_halted(priv, &tx->ring))
		read_poll_timeout(moderato_tx_drained, drained, drained,
				  MODERATO_DRAIN_POLL_US, limit, false, tx);
}

/* Frees one that did not leave. One that the hardware may still read stays,
 * but nobody waits for it: neither its socket nor its connection.
 */
static void moderato_tx_drop(struct moderato_tx *tx,
			     struct moderato_tx_buf *buf)
{
	/* Of a frame in pieces, one has the skb */
	if (!buf->skb)
		return;
	dev_core_stats_tx_dropped_inc(tx->ndev);
	if (buf->flags & (MODERATO_TX_FRAME | MODERATO_TX_XSK)) {
		if (!tx->ring.stuck)
			tx->drop_frame(buf);
		return;
	}
	if (tx->ring.stuck) {
		skb_orphan(buf->skb);
		nf_reset_ct(buf->skb);
		return;
	}
	dev_kfree_skb_any(buf->skb);
}

static void moderato_tx_flush(struct moderato_tx *tx)
{
	struct moderato_ring *ring = &tx->ring;

	local_bh_disable();
	moderato_tx_reclaim(tx);
	local_bh_enable();

	/* All pieces of a frame before its skb, and pages with it, is freed */
	for (u16 index = ring->consumer;
	     !ring->stuck && index != ring->producer; index++) {
		struct moderato_tx_buf *buf =
			&tx->buf[moderato_slot(index, ring->order)];

		if (!(buf->flags & MODERATO_TX_POOLED))
			moderato_tx_unmap(tx, buf);
	}
	for (; ring->consumer != ring->producer; ring->consumer++)
		moderato_tx_drop(tx, &tx->buf[moderato_slot(ring->consumer,
							    ring->order)]);
}

/* Frames on the ring get the time that they take to leave; those of a ring that
 * is halted, or that has no link, are freed. Harmless if it is down already.
 *
 * Return: 0, or an error if the DMA does not stop
 */
int moderato_tx_down(struct moderato_tx *tx)
{
	int err;

	if (!tx->ring.running)
		return 0;

	__netif_tx_lock_bh(tx->txq);
	WRITE_ONCE(tx->draining, true);
	netif_tx_stop_queue(tx->txq);
	moderato_tx_ring_doorbell(tx);
	__netif_tx_unlock_bh(tx->txq);

	moderato_tx_drain(tx);

	/* The interrupt may have woken the queue if it looked at @draining
	 * just before it was set; now nobody does any more.
	 */
	disable_irq(tx->queue->tx_irq);
	__netif_tx_lock_bh(tx->txq);
	netif_tx_stop_queue(tx->txq);
	__netif_tx_unlock_bh(tx->txq);
	if (tx->ops->stop)
		tx->ops->stop(tx);
	cancel_work_sync(&tx->queue->tx_dim.work);
	moderato_disarm(&tx->ring);
	err = moderato_ring_stop(tx->queue->priv, &tx->ring);

	moderato_tx_flush(tx);
	return err;
}

int moderato_tx_reset(struct moderato_tx *tx)
{
	int err = moderato_tx_down(tx);

	if (err)
		return err;
	moderato_tx_up(tx);
	return 0;
}

/* Puts @tx in the place of the running ring; fails only if the hardware does
 * not let go of that
 */
int moderato_tx_install(struct moderato_queue *q, struct moderato_tx *tx)
{
	struct moderato_tx *old = q->tx;
	int err = moderato_tx_down(old);

	q->tx = tx;
	if (err)
		moderato_give_up(q->priv);
	else
		moderato_tx_up(tx);
	/* A poll may still look at it, as may netpoll */
	synchronize_net();
	moderato_tx_destroy(old);
	return err;
}
