// SPDX-License-Identifier: GPL-2.0-only
/* Transmit strategy without interrupts: skbs of sent frames are freed just
 * before a later frame is posted, outside interrupt context. A timer bounds
 * how long the last ones wait, and wakes the queue of a full ring.
 */

#include "moderato_variants.h"

/* Longest time that a sent skb waits if no transmission follows */
#define MODERATO_TX_NONE_IDLE_NS	(10 * NSEC_PER_MSEC)

/* A full ring stops the queue, so that no transmission frees skbs. 256 of the
 * shortest frames take 1.6 ms at 100 Mb/s: the ring does not run empty within
 * this time.
 */
#define MODERATO_TX_NONE_FULL_NS	(200 * NSEC_PER_USEC)

/* Each look at the ring costs cache misses on what the hardware wrote. Look
 * once per 16 frames, or per quarter of a short ring.
 */
#define MODERATO_TX_NONE_BATCH		16U

static ktime_t moderato_tx_none_delay(const struct moderato_tx *tx)
{
	return ns_to_ktime(netif_tx_queue_stopped(tx->txq) ?
			   MODERATO_TX_NONE_FULL_NS :
			   MODERATO_TX_NONE_IDLE_NS);
}

static void moderato_tx_none_reclaim(struct moderato_tx *tx)
{
	/* Transmissions and the timer run with softirqs off, where the plain
	 * free is the cheapest; netpoll transmits with interrupts off.
	 */
	int softirq = !irqs_disabled();
	struct moderato_tx_done done = {};
	struct sk_buff *skb;

	while ((skb = moderato_tx_take(tx, &done)))
		napi_consume_skb(skb, softirq);
	moderato_tx_finish(tx, &done);
}

static void moderato_tx_none_prepare(struct moderato_tx *tx)
{
	if (moderato_tx_pending(tx) >=
	    min(MODERATO_TX_NONE_BATCH, moderato_size(tx->ring.order) / 4))
		moderato_tx_none_reclaim(tx);
}

static void moderato_tx_none_posted(struct moderato_tx *tx)
{
	if (!moderato_tx_pending(tx))
		return;

	if (!hrtimer_is_queued(&tx->timer) ||
	    unlikely(netif_tx_queue_stopped(tx->txq)))
		hrtimer_start(&tx->timer, moderato_tx_none_delay(tx),
			      HRTIMER_MODE_REL_SOFT);
}

/* The queue's lock keeps transmissions out; they may have left this strategy
 * since
 */
static enum hrtimer_restart moderato_tx_none_timer(struct hrtimer *timer)
{
	struct moderato_tx *tx = container_of(timer, struct moderato_tx, timer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;

	__netif_tx_lock(tx->txq, smp_processor_id());
	if (tx->ops == &moderato_tx_none_ops && !tx->draining) {
		moderato_tx_none_reclaim(tx);
		moderato_rearm(&tx->ring);
		/* A transmission may have started the timer meanwhile */
		if (moderato_tx_pending(tx) && !hrtimer_is_queued(timer)) {
			hrtimer_forward_now(timer, moderato_tx_none_delay(tx));
			restart = HRTIMER_RESTART;
		}
	}
	__netif_tx_unlock(tx->txq);
	return restart;
}

static void moderato_tx_none_stop(struct moderato_tx *tx)
{
	hrtimer_cancel(&tx->timer);
}

/* Completions raise no interrupt here: the ring has halted, or a frame with a
 * requested timestamp was sent. The timer serves it, and arms the ring again.
 */
static void moderato_tx_none_interrupt(struct moderato_tx *tx)
{
	moderato_disarm(&tx->ring);
	if (!moderato_reset_if_halted(tx->queue->priv, &tx->ring))
		hrtimer_start(&tx->timer, 0, HRTIMER_MODE_REL_SOFT);
}

const struct moderato_tx_ops moderato_tx_none_ops = {
	.quiet = true,
	.irq = moderato_tx_none_interrupt,
	.prepare = moderato_tx_none_prepare,
	.posted = moderato_tx_none_posted,
	.stop = moderato_tx_none_stop,
};

void moderato_tx_none_create(struct moderato_tx *tx)
{
	hrtimer_init(&tx->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	tx->timer.function = moderato_tx_none_timer;
}
