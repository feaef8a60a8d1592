// SPDX-License-Identifier: GPL-2.0-only
/* Receive strategy: NAPI at timer ticks (Vorona, 2007). The hard interrupt
 * masks itself and arms a timer, which schedules the poll. Frames collect on
 * the ring until then: at most one interrupt per tick, and at most one ring of
 * frames for each. The timer is the next jiffy, or a high-resolution timer.
 */

#include "moderato_variants.h"

/* For both interrupts, with interrupts off */
static void moderato_rx_timer_schedule(struct moderato_queue *q)
{
	u64 usecs = READ_ONCE(q->config.poll_usecs);
	struct moderato_delay *delay = q->delay;

	/* A timer that is due now runs at the next jiffy */
	if (!usecs)
		mod_timer(&delay->tick, jiffies);
	else if (!hrtimer_is_queued(&delay->timer))
		hrtimer_start(&delay->timer,
			      ns_to_ktime(usecs * NSEC_PER_USEC),
			      HRTIMER_MODE_REL);
}

static void moderato_rx_timer_tick(struct timer_list *tick)
{
	struct moderato_delay *delay = from_timer(delay, tick, tick);

	napi_schedule(&delay->queue->napi);
}

static enum hrtimer_restart moderato_rx_timer_expired(struct hrtimer *timer)
{
	struct moderato_delay *delay =
		container_of(timer, struct moderato_delay, timer);

	napi_schedule_irqoff(&delay->queue->napi);
	return HRTIMER_NORESTART;
}

static void moderato_rx_timer_handle(struct moderato_rx *rx)
{
	struct moderato_queue *q = rx->queue;

	moderato_disarm(&rx->ring);
	moderato_tx_poll_comes(READ_ONCE(q->tx));
	moderato_rx_timer_schedule(q);
}

const struct moderato_rx_ops moderato_rx_timer_ops = {
	.pooled = true,
	.polled = true,
	.start = moderato_rx_napi_up,
	.stop = moderato_rx_napi_stop,
	.irq = moderato_rx_timer_handle,
	.schedule = moderato_rx_timer_schedule,
};

int moderato_rx_timer_init(struct moderato_priv *priv)
{
	struct moderato_queue *q;

	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		struct moderato_delay *delay;

		delay = devm_kzalloc(priv->dev, sizeof(*delay), GFP_KERNEL);
		if (!delay)
			return -ENOMEM;
		delay->queue = q;
		timer_setup(&delay->tick, moderato_rx_timer_tick, 0);
		hrtimer_init(&delay->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
		delay->timer.function = moderato_rx_timer_expired;
		q->delay = delay;
	}
	return 0;
}

/* Called with both interrupts off, so that nothing arms the timers again. They
 * may outlive a ring, and even the strategy: then they poll what exists, or
 * nothing.
 */
void moderato_rx_timer_cancel(struct moderato_queue *q)
{
	timer_delete_sync(&q->delay->tick);
	hrtimer_cancel(&q->delay->timer);
}
