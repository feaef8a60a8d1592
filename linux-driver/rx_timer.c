// SPDX-License-Identifier: GPL-2.0-only
/* Receive strategy with NAPI, polled by the clock (Vorona, 2007): the hard
 * interrupt masks itself and arms a timer, which schedules the poll. Frames
 * gather on the ring meanwhile, so that there are at most as many interrupts
 * as ticks, and at most a ring of frames for each of them. The timer is that
 * of the next tick, or one of high resolution.
 */

#include "moderato.h"

/* As in the patch: a ring is received at once */
#define MODERATO_RX_TIMER_WEIGHT	256

/* Both interrupts come here, with interrupts off */
void moderato_rx_timer_schedule(struct moderato_priv *priv)
{
	u64 usecs = READ_ONCE(priv->config.poll_usecs);

	/* What is due now runs at the next tick */
	if (!usecs)
		mod_timer(&priv->tick, jiffies);
	else if (!hrtimer_is_queued(&priv->delay))
		hrtimer_start(&priv->delay, ns_to_ktime(usecs * NSEC_PER_USEC),
			      HRTIMER_MODE_REL);
}

static void moderato_rx_timer_tick(struct timer_list *tick)
{
	struct moderato_priv *priv = from_timer(priv, tick, tick);

	napi_schedule(&priv->napi);
}

static enum hrtimer_restart moderato_rx_timer_expired(struct hrtimer *delay)
{
	struct moderato_priv *priv =
		container_of(delay, struct moderato_priv, delay);

	napi_schedule_irqoff(&priv->napi);
	return HRTIMER_NORESTART;
}

void moderato_rx_timer_init(struct moderato_priv *priv)
{
	timer_setup(&priv->tick, moderato_rx_timer_tick, 0);
	hrtimer_init(&priv->delay, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	priv->delay.function = moderato_rx_timer_expired;
}

static void moderato_rx_timer_handle(struct moderato_rx *rx)
{
	moderato_disarm(&rx->ring);
	moderato_tx_poll_comes(READ_ONCE(rx->priv->tx));
	moderato_rx_timer_schedule(rx->priv);
}

/* When both interrupts are off, so that none arms them any more. Until then they
 * outlive a ring, and even the strategy: they poll what is there, or nothing.
 */
void moderato_rx_timer_cancel(struct moderato_priv *priv)
{
	timer_delete_sync(&priv->tick);
	hrtimer_cancel(&priv->delay);
}

const struct moderato_rx_ops moderato_rx_timer_ops = {
	.pooled = true,
	.weight = MODERATO_RX_TIMER_WEIGHT,
	.start = moderato_rx_napi_up,
	.stop = moderato_rx_napi_stop,
	.irq = moderato_rx_timer_handle,
};
