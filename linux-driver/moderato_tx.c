// SPDX-License-Identifier: GPL-2.0-only
/* Transmit ring: posting frames, and taking back one completed descriptor. In
 * which context skbs are freed is up to who calls: see tx_poll.c.
 */

#include <linux/bitfield.h>
#include <linux/iopoll.h>
#include <linux/slab.h>
#ifdef MODERATO_GATHER
#include <linux/tcp.h>
#endif
#include <net/netdev_queues.h>

#include "moderato.h"

#define MODERATO_DRAIN_POLL_US	100

/* Data path ---------------------------------------------------------------- */

/* Statistics count frames as they are on the wire, without the FCS, in both
 * directions: with padding, and with a tag that the hardware puts in.
 *
 * Return: octets of that tag
 */
static unsigned int moderato_tx_tag(const struct sk_buff *skb)
{
#ifdef MODERATO_OFFLOADS
	return skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
#else
	return 0;
#endif
}

static void moderato_tx_ring_doorbell(struct moderato_tx *tx)
{
	if (tx->rung == tx->ring.producer)
		return;
	tx->rung = tx->ring.producer;
	moderato_doorbell(&tx->ring, tx->rung);
}

static void moderato_tx_post(struct moderato_tx *tx, struct sk_buff *skb,
			     dma_addr_t dma)
{
	struct moderato_ring *ring = &tx->ring;
	u32 slot = moderato_slot(ring->producer, ring->order);
	struct moderato_desc *desc = &ring->desc[slot];
	struct moderato_tx_buf *buf = &tx->buf[slot];

	buf->skb = skb;
	buf->dma = dma;
	buf->len = skb->len;
#ifdef MODERATO_GATHER
	buf->segs = 1;
	buf->more = 0;
	buf->accounted = tx->prompt;
	buf->page = false;
#else
	buf->accounted = tx->prompt ? skb->len : 0;
#endif

	desc->address = cpu_to_le32(dma);
	desc->control = cpu_to_le32(FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH,
					       skb->len));
#ifdef MODERATO_OFFLOADS
	moderato_tx_put_tag(ring, ring->producer, skb);
#endif
#ifdef MODERATO_CHECKSUMS
	desc->checksum = cpu_to_le32(moderato_tx_insertion(skb));
#endif
	ring->producer++;
}

static void moderato_tx_stop_when_full(struct moderato_tx *tx)
{
	netif_txq_maybe_stop(tx->queue, moderato_tx_space(tx), tx->reserve,
			     moderato_tx_wake_threshold(tx));
}

/* Whether the hardware cannot send it as it is. The stack has just looked at
 * gso_size, too; one branch is for all three.
 */
static bool moderato_tx_copies(const struct moderato_tx *tx,
			       const struct sk_buff *skb)
{
	bool sums = skb->ip_summed == CHECKSUM_PARTIAL;

#ifdef MODERATO_CHECKSUMS
	if (sums && moderato_tx_inserts(tx, skb))
		sums = false;
#endif
	return skb->data_len | skb_shinfo(skb)->gso_size | sums;
}

/* Posts @skb as it is. Return: its octets, or a negative error */
static int moderato_tx_map(struct moderato_tx *tx, struct sk_buff *skb)
{
	struct moderato_priv *priv = tx->priv;
	dma_addr_t dma;

	if (unlikely(!moderato_tx_space(tx))) {
		/* Somebody woke the queue of a full ring */
		netdev_err_once(priv->ndev,
				"Tx ring full while the queue is on\n");
		return -EBUSY;
	}
	dma = dma_map_single(priv->dev, skb->data, skb->len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(priv->dev, dma)))
		return -ENOMEM;
	moderato_tx_post(tx, skb, dma);
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
		dev_core_stats_tx_dropped_inc(tx->priv->ndev);
	}
	if (busy || flush)
		moderato_tx_ring_doorbell(tx);
#ifndef MODERATO_CORE
	if (tx->ops->posted)
		tx->ops->posted(tx);
#endif
	return busy ? NETDEV_TX_BUSY : NETDEV_TX_OK;
}

#ifdef MODERATO_TIMESTAMPS
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

#endif
netdev_tx_t moderato_start_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);
#ifdef MODERATO_QUEUES
	struct moderato_tx *tx = priv[skb_get_queue_mapping(skb)].tx;
#else
	struct moderato_tx *tx = priv->tx;
#endif
	bool flush = !netdev_xmit_more();
#ifdef MODERATO_TIMESTAMPS
	bool stamp;
#endif
	int len;

#ifndef MODERATO_CORE
	if (tx->ops->prepare)
		tx->ops->prepare(tx);

#endif
	if (unlikely(moderato_tx_copies(tx, skb)))
#ifdef MODERATO_GATHER
		len = moderato_tx_gathers(tx, skb) ?
			      moderato_tx_gather(tx, skb) :
			      moderato_tx_copy(tx, skb);
#else
		len = moderato_tx_copy(tx, skb);
#endif
	else
		len = moderato_tx_map(tx, skb);
	if (unlikely(len < 0))
		return moderato_tx_refuse(tx, skb, len, flush);

#ifdef MODERATO_TIMESTAMPS
	stamp = moderato_tx_asks(tx, skb);
	if (unlikely(stamp))
		moderato_tx_ask(tx, skb);
#endif
	skb_tx_timestamp(skb);
#ifdef MODERATO_TIMESTAMPS
	if (!tx->prompt && !stamp) {
#else
	if (!tx->prompt) {
#endif
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
		flush = __netdev_tx_sent_queue(tx->queue, len, !flush);
	else
		flush |= netif_xmit_stopped(tx->queue);

	/* From the doorbell on, the skb may be gone */
	if (flush)
		moderato_tx_ring_doorbell(tx);
#ifndef MODERATO_CORE
	if (tx->ops->posted)
		tx->ops->posted(tx);
#endif
	return NETDEV_TX_OK;
}

#ifdef MODERATO_GATHER
void moderato_tx_unmap(struct moderato_tx *tx, struct moderato_tx_buf *buf)
{
	if (buf->page)
		dma_unmap_page(tx->priv->dev, buf->dma, buf->len,
			       DMA_TO_DEVICE);
	else if (likely(buf->len))
		dma_unmap_single(tx->priv->dev, buf->dma, buf->len,
				 DMA_TO_DEVICE);
}

/* As it counts in statistics: of segments, only the last one may be short */
static unsigned int moderato_tx_wire_octets(const struct sk_buff *skb,
					    const struct moderato_tx_buf *buf)
{
	unsigned int tag = moderato_tx_tag(skb);
	unsigned int before;

	if (likely(!buf->more))
		return max_t(u32, buf->len + tag, ETH_ZLEN);
	if (likely(buf->segs == 1))
		return max_t(u32, skb->len + tag, ETH_ZLEN);

	before = (buf->segs - 1) * skb_shinfo(skb)->gso_size;
	return before + (buf->segs - 1) * (skb_tcp_all_headers(skb) + tag) +
	       max_t(u32, skb->len - before + tag, ETH_ZLEN);
}

/* Takes the oldest frame off the ring if the hardware is done with it: with the
 * last of its pieces.
 *
 * Return: its skb, for the caller to free, or NULL
 */
struct sk_buff *moderato_tx_take(struct moderato_tx *tx,
				 struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	struct moderato_tx_buf *buf;
	u16 index = ring->consumer;
	unsigned int octets;
	struct sk_buff *skb;
	u16 segments;
	u32 status;
	u16 last;

	/* Before it has completed, the slot may be being filled */
	if (!moderato_ring_completed(ring, &status))
		return NULL;
	buf = &tx->buf[moderato_slot(index, ring->order)];
	last = index + buf->more;
	if (unlikely(last != index) &&
	    !moderato_ring_completed_at(ring, last, &status))
		return NULL;

	skb = buf->skb;
	segments = buf->segs;
	octets = moderato_tx_wire_octets(skb, buf);
	if (buf->accounted) {
		done->accounted_frames++;
		done->accounted_bytes += last == index ? buf->len : skb->len;
	}
	buf->skb = NULL;
	buf->more = 0;
	moderato_tx_unmap(tx, buf);
	while (unlikely(index != last)) {
		buf = &tx->buf[moderato_slot(++index, ring->order)];
		moderato_tx_unmap(tx, buf);
	}

#ifdef MODERATO_TIMESTAMPS
	if (unlikely(status & MODERATO_DESC_STATUS_STAMPED)) {
		u32 slot = moderato_slot(last, ring->order);

		moderato_tx_stamped(tx, skb,
				    le32_to_cpu(ring->desc[slot].checksum));
	}
#endif
	if (likely(!(status & MODERATO_DESC_STATUS_ERROR))) {
		done->packets += segments;
		done->bytes += octets;
	}
	done->frames += segments;

	/* The slots must be left before moderato_start_xmit() fills them anew */
	smp_store_release(&ring->consumer, (u16)(last + 1));
	return skb;
}

#else
/* Takes the oldest frame off the ring if the hardware is done with it.
 *
 * Return: its skb, for the caller to free, or NULL
 */
struct sk_buff *moderato_tx_take(struct moderato_tx *tx,
				 struct moderato_tx_done *done)
{
	struct moderato_ring *ring = &tx->ring;
	struct moderato_tx_buf *buf;
	struct sk_buff *skb;
	u32 status;

	if (!moderato_ring_completed(ring, &status))
		return NULL;

	buf = &tx->buf[moderato_slot(ring->consumer, ring->order)];
	skb = buf->skb;
	buf->skb = NULL;
	dma_unmap_single(tx->priv->dev, buf->dma, buf->len, DMA_TO_DEVICE);

	if (likely(!(status & MODERATO_DESC_STATUS_ERROR))) {
		done->packets++;
		done->bytes += max_t(u16, buf->len + moderato_tx_tag(skb),
				     ETH_ZLEN);
	}
	done->frames++;
	done->accounted_frames += !!buf->accounted;
	done->accounted_bytes += buf->accounted;

	/* The slot must be left before moderato_start_xmit() fills it anew */
	smp_store_release(&ring->consumer, ring->consumer + 1);
	return skb;
}

#endif
/* After the last frame was taken: counts, and wakes the queue */
void moderato_tx_finish(struct moderato_tx *tx,
			const struct moderato_tx_done *done)
{
	struct moderato_tx_stats *stats = &tx->priv->tx_stats;
	unsigned long flags;

	if (!done->frames)
		return;

	flags = u64_stats_update_begin_irqsave(&stats->syncp);
	u64_stats_add(&stats->packets, done->packets);
	u64_stats_add(&stats->bytes, done->bytes);
	if (unlikely(done->frames != done->packets))
		u64_stats_add(&stats->errors, done->frames - done->packets);
	u64_stats_update_end_irqrestore(&stats->syncp, flags);

	netdev_tx_completed_queue(tx->queue, done->accounted_frames,
				  done->accounted_bytes);

	/* The consumer index is published before the stop bit is read. Pairs
	 * with the barrier in netif_txq_try_stop(): either the queue sees the
	 * space, or this sees that it stopped.
	 */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(tx->queue)) &&
	    !READ_ONCE(tx->draining) &&
	    moderato_tx_space(tx) >= moderato_tx_wake_threshold(tx))
		netif_tx_wake_queue(tx->queue);
}

static void moderato_tx_reclaim(struct moderato_tx *tx)
{
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	while ((skb = moderato_tx_take(tx, &done)))
		dev_consume_skb_any(skb);
	moderato_tx_finish(tx, &done);
}

#ifndef MODERATO_CORE
/* netpoll sends with interrupts off, perhaps for ever, as in a panic: it looks
 * here when the queue is stopped. Whoever else takes frames off the ring is
 * locked out: a transmission and the timer by the queue's lock, a change of
 * the ring by @draining, and the interrupt by being disabled. What netpoll may
 * have come out of, here or on a CPU that was stopped, is not waited for.
 */
void moderato_tx_netpoll(struct moderato_tx *tx)
{
	if (READ_ONCE(tx->in_irq) || READ_ONCE(tx->queue->xmit_lock_owner) >= 0)
		return;

	__netif_tx_lock(tx->queue, smp_processor_id());
	if (!tx->draining) {
		if (disable_hardirq(tx->priv->tx_irq))
			moderato_tx_reclaim(tx);
		enable_irq(tx->priv->tx_irq);
	}
	__netif_tx_unlock(tx->queue);
}

/* Strategy ----------------------------------------------------------------- */

static const struct moderato_tx_ops * const moderato_tx_ops[] = {
	[MODERATO_TX_IRQ] = &moderato_tx_irq_ops,
	[MODERATO_TX_COUNT] = &moderato_tx_count_ops,
	[MODERATO_TX_NONE] = &moderato_tx_none_ops,
	[MODERATO_TX_POLL] = &moderato_tx_poll_ops,
};

/* Chooses the strategy that the configuration asks for, on a running or a
 * stopped ring, with the interrupt disabled. Frames on the ring stay there:
 * whoever comes next frees them, so nothing is lost and nothing leaks.
 */
#else
/* Moderation ---------------------------------------------------------------- */

/* As the configuration asks for it, on a running or a stopped ring, with the
 * interrupt disabled
 */
#endif
static void moderato_tx_choose(struct moderato_tx *tx)
{
	const struct moderato_config *config = &tx->priv->config;
#ifndef MODERATO_CORE
	enum moderato_tx_strategy strategy;

	strategy = moderato_tx_strategy(&config->tx,
					config->tx_reclaim_on_xmit,
					moderato_tx_polled(config));
#endif

	__netif_tx_lock_bh(tx->queue);
#ifdef MODERATO_CORE
	tx->prompt = moderato_tx_adapts(config) ||
		     moderato_tx_prompt(&config->tx);
#else
	tx->ops = moderato_tx_ops[strategy];
	tx->prompt = moderato_tx_adapts(config) ||
		     moderato_tx_prompt(&config->tx, strategy);
#endif
	__netif_tx_unlock_bh(tx->queue);

#ifndef MODERATO_CORE
	/* The timer looks at the strategy under the lock, and so does not
	 * take frames any more.
	 */
	hrtimer_cancel(&tx->timer);
#endif
	/* An Rx interrupt that saw what was there before may be about to mask
	 * this ring, which no poll would then arm again: see
	 * moderato_tx_poll_comes().
	 */
	synchronize_irq(tx->priv->rx_irq);
#ifdef MODERATO_CORE
	moderato_tx_moderate(tx->priv, true);
#else
	moderato_tx_moderate(tx->priv, tx->ops->irq);
#endif
}

/* With the interrupt disabled until the very end, see moderato_tx_choose(). A
 * ring that halts raises it, whatever else does.
 */
static void moderato_tx_resume(struct moderato_tx *tx)
{
	enable_irq(tx->priv->tx_irq);
	moderato_rearm(&tx->ring);
#ifndef MODERATO_CORE
	if (tx->ops->posted) {
		__netif_tx_lock_bh(tx->queue);
		tx->ops->posted(tx);
		__netif_tx_unlock_bh(tx->queue);
	}
#endif
}

/* Under traffic */
void moderato_tx_switch(struct moderato_tx *tx)
{
	disable_irq(tx->priv->tx_irq);
	moderato_disarm(&tx->ring);
	moderato_tx_choose(tx);
	moderato_tx_resume(tx);
}

/* Life --------------------------------------------------------------------- */

struct moderato_tx *moderato_tx_create(struct moderato_priv *priv, u8 order)
{
	struct moderato_tx *tx;

	tx = kzalloc(sizeof(*tx), GFP_KERNEL);
	if (!tx)
		return ERR_PTR(-ENOMEM);

	tx->priv = priv;
#ifdef MODERATO_OFFLOADS
	tx->queue = netdev_get_tx_queue(priv->ndev, priv->queue);
#else
	tx->queue = netdev_get_tx_queue(priv->ndev, 0);
#endif
	tx->reserve = 1;
#ifndef MODERATO_CORE
	hrtimer_init(&tx->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	tx->timer.function = moderato_tx_none_timer;
#endif

	tx->buf = kvcalloc(moderato_size(order), sizeof(*tx->buf), GFP_KERNEL);
	if (!tx->buf || moderato_ring_alloc(priv, &tx->ring,
					    moderato_tx_dir(priv), order)) {
		moderato_tx_destroy(tx);
		return ERR_PTR(-ENOMEM);
	}
	return tx;
}

void moderato_tx_destroy(struct moderato_tx *tx)
{
	moderato_ring_free(tx->priv, &tx->ring);
	if (tx->buf)
		moderato_copies_free(tx);
	kvfree(tx->buf);
	kfree(tx);
}

#ifdef MODERATO_OFFLOADS
/* What a ring's own buffers are for. Where frames may be long they have the size
 * of the present ones, and a change of the MTU takes a new ring.
 */
static unsigned int moderato_tx_copy_mtu(const struct moderato_priv *priv)
{
	const struct net_device *ndev = priv->ndev;

	return moderato_has_jumbo(priv) ? max(ndev->mtu, ETH_DATA_LEN) :
					  ndev->max_mtu;
}

#endif
void moderato_tx_up(struct moderato_tx *tx)
{
	struct moderato_ring *ring = &tx->ring;

#ifdef MODERATO_OFFLOADS
	tx->priv->copy_mtu = moderato_tx_copy_mtu(tx->priv);
#endif
	memset(ring->desc, 0, moderato_size(ring->order) * sizeof(*ring->desc));
	moderato_ring_start(tx->priv, ring);
	tx->rung = 0;
	WRITE_ONCE(tx->draining, false);
	netdev_tx_reset_queue(tx->queue);
	moderato_tx_choose(tx);
	moderato_tx_resume(tx);
	netif_tx_wake_queue(tx->queue);
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
#ifdef MODERATO_GATHER
		/* Of each segment but the first one, with headers of the
		 * longest kind
		 */
		if (buf->segs > 1)
			octets += (buf->segs - 1) * (MODERATO_TX_HEADER_BYTES +
						     ETH_FCS_LEN +
						     MODERATO_WIRE_OVERHEAD);
#endif
	}
	return octets;
}

static void moderato_tx_drain(struct moderato_tx *tx)
{
	u32 limit = moderato_drain_usecs(moderato_tx_octets(tx),
					 READ_ONCE(moderato_first(tx->priv)->speed));
	bool drained;

	if (limit && !moderato_ring_halted(tx->priv, &tx->ring))
		read_poll_timeout(moderato_tx_drained, drained, drained,
				  MODERATO_DRAIN_POLL_US, limit, false, tx);
}

/* Frees one that did not leave. One that the hardware may still read stays,
 * but nobody waits for it: neither its socket nor its connection.
 */
static void moderato_tx_drop(struct moderato_tx *tx,
			     struct moderato_tx_buf *buf)
{
#ifdef MODERATO_GATHER
	/* Of a frame in pieces, one has the skb */
	if (!buf->skb)
		return;
	dev_core_stats_tx_dropped_inc(tx->priv->ndev);
	if (tx->ring.stuck) {
		skb_orphan(buf->skb);
		nf_reset_ct(buf->skb);
		return;
	}
#else
	dev_core_stats_tx_dropped_inc(tx->priv->ndev);
	if (tx->ring.stuck) {
		skb_orphan(buf->skb);
		nf_reset_ct(buf->skb);
		return;
	}
	dma_unmap_single(tx->priv->dev, buf->dma, buf->len, DMA_TO_DEVICE);
#endif
	dev_kfree_skb_any(buf->skb);
}

static void moderato_tx_flush(struct moderato_tx *tx)
{
	struct moderato_ring *ring = &tx->ring;

	local_bh_disable();
	moderato_tx_reclaim(tx);
	local_bh_enable();

#ifdef MODERATO_GATHER
	/* All pieces of a frame before its skb, and pages with it, is freed */
	for (u16 index = ring->consumer;
	     !ring->stuck && index != ring->producer; index++)
		moderato_tx_unmap(tx, &tx->buf[moderato_slot(index,
							     ring->order)]);
#endif
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

	__netif_tx_lock_bh(tx->queue);
	WRITE_ONCE(tx->draining, true);
	netif_tx_stop_queue(tx->queue);
	moderato_tx_ring_doorbell(tx);
	__netif_tx_unlock_bh(tx->queue);

	moderato_tx_drain(tx);

	/* The interrupt may have woken the queue if it looked at @draining
	 * just before it was set; now nobody does any more.
	 */
	disable_irq(tx->priv->tx_irq);
#ifdef MODERATO_OFFLOADS
	__netif_tx_lock_bh(tx->queue);
	netif_tx_stop_queue(tx->queue);
	__netif_tx_unlock_bh(tx->queue);
#else
	netif_tx_disable(tx->priv->ndev);
#endif
#ifndef MODERATO_CORE
	hrtimer_cancel(&tx->timer);
#endif
	cancel_work_sync(&tx->priv->tx_dim.work);
	moderato_disarm(&tx->ring);
	err = moderato_ring_stop(tx->priv, &tx->ring);

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
int moderato_tx_install(struct moderato_priv *priv, struct moderato_tx *tx)
{
	struct moderato_tx *old = priv->tx;
	int err = moderato_tx_down(old);

	priv->tx = tx;
	if (err)
		moderato_give_up(priv);
	else
		moderato_tx_up(tx);
	/* A poll may still look at it, as may netpoll */
	synchronize_net();
	moderato_tx_destroy(old);
	return err;
}
