// SPDX-License-Identifier: GPL-2.0-only
/* Transmit ring: posts frames, and takes back completed descriptors. The caller
 * decides in which context skbs are freed: see tx_poll.c.
 */

#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/slab.h>
#include <linux/tcp.h>

#include "moderato_dim.h"
#include "moderato_tc.h"
#include "moderato_xdp.h"

#define MODERATO_DRAIN_POLL_US	100

/* Data path ---------------------------------------------------------------- */

/* Posts @skb, mapped at @dma. @plan: NULL if the hardware has nothing to do but
 * send
 */
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

/* Fills @plan with the requests to the hardware */
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

	/* Not at an odd octet, which the stack's own protocols never use */
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

/* Posts @skb in one piece, where it is. Return: its octets, or a negative error
 */
static __always_inline int moderato_tx_map(struct moderato_tx *tx,
					   struct sk_buff *skb,
					   const struct moderato_tx_plan *plan)
{
	dma_addr_t dma;

	if (unlikely(!moderato_tx_space(tx))) {
		/* The queue was woken although the ring is full */
		netdev_err_once(tx->ndev,
				"Tx ring full while the queue is on\n");
		return -EBUSY;
	}
	/* dma_map_single() would check for vmalloc() memory each time */
	dma = dma_map_page(tx->dev, virt_to_page(skb->data),
			   offset_in_page(skb->data), skb->len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(tx->dev, dma)))
		return -ENOMEM;
	moderato_tx_post(tx, skb, dma, plan);
	return skb->len;
}

/* Drops an skb that could not be posted. @err: the reason */
static noinline __cold netdev_tx_t
moderato_tx_refuse(struct moderato_tx *tx, struct sk_buff *skb, int err,
		   bool flush)
{
	bool busy = err == -EBUSY;

	if (busy) {
		/* The first GSO skb may find the ring too full for it; from
		 * then on the queue stops early enough.
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

/* Requests an interrupt for the timestamp of @skb, or of its last segment: an
 * application waits for it, however other completions are moderated.
 */
static void moderato_tx_ask(struct moderato_tx *tx, struct sk_buff *skb)
{
	u32 slot = moderato_slot(tx->ring.producer - 1, tx->ring.order);

	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	tx->ring.desc[slot].control |=
		cpu_to_le32(MODERATO_DESC_CONTROL_TIMESTAMP |
			    MODERATO_DESC_CONTROL_INTERRUPT);
}

/* Posts an skb that needs a plan: the hardware has more to do than send it, or
 * cannot send it as it is. Return: its octets, or a negative error
 */
static noinline int moderato_tx_planned(struct moderato_tx *tx,
					struct sk_buff *skb)
{
	struct moderato_tx_plan plan = { .way = MODERATO_TX_COPY };
	int len;

	if (tx->asks)
		moderato_tx_plan_asked(tx, skb, &plan);
	if (moderato_launch_plan(tx, skb, &plan) < 0)
		return -EINVAL;

	if (plan.way == MODERATO_TX_MAP)
		len = moderato_tx_map(tx, skb, &plan);
	else if (plan.way == MODERATO_TX_GATHER)
		len = tx->gather->post(tx, skb, &plan);
	else
		len = moderato_tx_copy(tx, skb, &plan);
	if (len >= 0 && plan.stamp)
		moderato_tx_ask(tx, skb);
	if (len >= 0 && plan.flags & MODERATO_TX_LAUNCH)
		moderato_launch_ask(tx, skb);
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

	/* The stack has just read gso_size, so it is in the cache; one branch
	 * covers all conditions
	 */
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
		/* The skb may wait long before it is freed: its socket and its
		 * connection must not wait with it.
		 */
		skb_orphan(skb);
		nf_reset_ct(skb);
	}
	moderato_tx_stop_when_full(tx);

	/* Byte queue limits count only frames that are freed promptly. A frame
	 * that waits for 127 others would stop the queue that has to send them.
	 */
	if (tx->prompt)
		flush = __netdev_tx_sent_queue(tx->txq, len, !flush);
	else
		flush |= netif_xmit_stopped(tx->txq);

	/* After the doorbell, the skb may be freed at any time */
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

/* The octets on the wire of @len octets of @skb; of segments, only the last one
 * may be padded
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

/* moderato_tx_take() for frames in pieces, or with a tag or a timestamp */
struct sk_buff *moderato_tx_take_planned(struct moderato_tx *tx,
					 struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	u16 index = ring->consumer;
	struct moderato_tx_buf *buf =
		&tx->buf[moderato_slot(index, ring->order)];
	struct sk_buff *skb = buf->skb;
	/* A single slot may hold one segment of the skb */
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

	/* The slots must be read before moderato_start_xmit() fills them again
	 */
	smp_store_release(&ring->consumer, (u16)(last + 1));
	return skb;
}

/* Takes the oldest frame off the ring if it is completed. Statistics count
 * frames as on the wire, without the FCS, in both directions: with padding, and
 * with a tag that the hardware inserts.
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

	/* Until the slot has completed, another CPU may be filling it */
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

	/* The slot must be read before moderato_start_xmit() fills it again */
	smp_store_release(&ring->consumer, (u16)(ring->consumer + 1));
	return skb;
}

/* Ends a pass: counts frames, and wakes the queue */
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

	/* Publish the consumer index before reading the stop bit. Pairs with
	 * the barrier in netif_txq_try_stop(): either the queue sees the space,
	 * or this CPU sees that it stopped.
	 */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(tx->txq)) &&
	    !READ_ONCE(tx->draining) &&
	    moderato_tx_space(tx) >= moderato_tx_wake_threshold(tx))
		netif_tx_wake_queue(tx->txq);
}

/* Frees all sent skbs. For any context, with transmissions locked out. */
void moderato_tx_reclaim(struct moderato_tx *tx)
{
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	while ((skb = moderato_tx_take(tx, &done)))
		dev_consume_skb_any(skb);
	moderato_tx_finish(tx, &done);
}

/* Strategy ----------------------------------------------------------------- */

/* Selects the strategy of the configuration, for a running or a stopped ring,
 * with the interrupt disabled. Frames stay on the ring, and the new strategy
 * frees them.
 */
static void moderato_tx_choose(struct moderato_tx *tx)
{
	const struct moderato_config *config = &tx->queue->config;
	const struct moderato_tx_ops *old = tx->ops;

	__netif_tx_lock_bh(tx->txq);
	WRITE_ONCE(tx->ops, config->tx_ops);
	tx->prompt = moderato_tx_adapts(config) ||
		     (!config->tx_ops->quiet && moderato_tx_prompt(&config->tx));
	moderato_launch_choose(tx);
	__netif_tx_unlock_bh(tx->txq);

	/* Its timer checks the strategy under the lock, and so takes no more
	 * frames
	 */
	if (old->stop)
		old->stop(tx);
	/* An Rx interrupt that still saw the old strategy may be about to mask
	 * this ring, which no poll would then arm again: see
	 * moderato_tx_poll_comes().
	 */
	synchronize_irq(tx->queue->rx_irq);
	moderato_tx_moderate(tx->queue, !tx->ops->quiet);
}

/* Called with the interrupt disabled, see moderato_tx_choose(). A halted ring
 * raises the interrupt with every strategy.
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

/* Changes the strategy under traffic */
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
	/* Until moderato_tx_up() */
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
	moderato_xdp_free_aside(tx);
	kfree(tx);
}

/* The MTU that copy buffers have to suit. With jumbo frames they have the size
 * of the present MTU, and another MTU needs a new ring.
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
	/* Pairs with the acquire of senders for XDP: they see a complete ring
	 */
	smp_store_release(&tx->draining, false);
	netdev_tx_reset_queue(tx->txq);
	moderato_tx_choose(tx);
	moderato_tx_resume(tx);
	netif_tx_wake_queue(tx->txq);
	moderato_xsk_tx_up(tx);
}

static bool moderato_tx_drained(struct moderato_tx *tx)
{
	u16 last = tx->ring.producer - 1;
	u32 slot = moderato_slot(last, tx->ring.order);
	u32 status = le32_to_cpu(READ_ONCE(tx->ring.desc[slot].status));

	return tx->ring.producer == READ_ONCE(tx->ring.consumer) ||
	       moderato_completed(status, last, tx->ring.order);
}

/* Octets on the wire of all frames on the ring. Reads no skb, since some may
 * leave meanwhile.
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
		/* Each segment after the first adds the longest kind of headers
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
	/* Frames of other queues, and forwarded ones, share the wire */
	u32 senders = priv->used +
		      !!(priv->ndev->hw_features & NETIF_F_HW_TC);
	u32 limit = senders * moderato_drain_usecs(moderato_tx_octets(tx),
						   READ_ONCE(priv->speed));
	bool drained;

	if (limit && !moderato_ring_halted(priv, &tx->ring))
		read_poll_timeout(moderato_tx_drained, drained, drained,
				  MODERATO_DRAIN_POLL_US, limit, false, tx);
}

/* Frees an unsent frame. If the hardware may still read it, the skb stays, but
 * its socket and its connection do not wait.
 */
static void moderato_tx_drop(struct moderato_tx *tx,
			     struct moderato_tx_buf *buf)
{
	/* One slot of a frame in pieces has the skb */
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

	/* Unmap all pieces of a frame before freeing its skb, and pages with it
	 */
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

/* Stops the ring. Frames get the time that they take to leave; those of a
 * halted ring, or without a link, are freed. Does nothing if the ring is down
 * already.
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

	/* The interrupt may have woken the queue if it read @draining just
	 * before; with the interrupt off, nothing does.
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

/* Replaces the running ring by @tx; fails only if the old DMA does not stop */
int moderato_tx_install(struct moderato_queue *q, struct moderato_tx *tx)
{
	struct moderato_tx *old = q->tx;
	int err = moderato_tx_down(old);

	q->tx = tx;
	if (err)
		moderato_give_up(q->priv);
	else
		moderato_tx_up(tx);
	/* A poll, or netpoll, may still use the old ring */
	synchronize_net();
	moderato_tx_destroy(old);
	return err;
}
