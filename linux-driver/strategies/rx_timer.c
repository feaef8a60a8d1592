// SPDX-License-Identifier: GPL-2.0-only
/* Receive strategy with NAPI, polled by the clock (Vorona, 2007): the hard
 * interrupt masks itself and arms a timer, which schedules the poll. Frames
 * gather on the ring meanwhile, so that there are at most as many interrupts
 * as ticks, and at most a ring of frames for each of them. The timer is that
 * of the next tick, or one of high resolution.
 */

#include "moderato_features.h"
#include "moderato_variants.h"

/* Both interrupts come here, with interrupts off */
static void moderato_rx_timer_schedule(struct moderato_queue *q)
{
	u64 usecs = READ_ONCE(q->config.poll_usecs);
	struct moderato_delay *delay = q->delay;

	/* What is due now runs at the next tick */
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

static int moderato_rx_timer_init(struct moderato_priv *priv)
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

/* When both interrupts are off, so that none arms them any more. Until then they
 * outlive a ring, and even the strategy: they poll what is there, or nothing.
 */
static void moderato_rx_timer_cancel(struct moderato_queue *q)
{
	timer_delete_sync(&q->delay->tick);
	hrtimer_cancel(&q->delay->timer);
}

const struct moderato_feature moderato_timer_feature = {
	.init = moderato_rx_timer_init,
	.queue_down = moderato_rx_timer_cancel,
};
