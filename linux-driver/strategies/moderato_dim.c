// SPDX-License-Identifier: GPL-2.0-only
/* Moderation of each direction. Without adaptive moderation, the user's
 * settings. With it, the hardware adapts the delay to the time that the CPU
 * spends on its ring, which needs no register access; or the kernel's DIM
 * chooses one of five profiles of frames and usecs: it compares the rates of 64
 * polls with those before, and moves by one profile. ethtool -C rx-profile and
 * tx-profile change the profiles.
 */

#include <linux/dim.h>

#include "moderato_dim.h"
#include "moderato_hw.h"

const struct dim_cq_moder moderato_rx_profile[MODERATO_PROFILES] = {
	{ .usec = 0, .pkts = 1 },
	{ .usec = 50, .pkts = 8 },
	{ .usec = 100, .pkts = 16 },
	{ .usec = 250, .pkts = 32 },
	{ .usec = 500, .pkts = 64 },
};

const struct dim_cq_moder moderato_tx_profile[MODERATO_PROFILES] = {
	{ .usec = 100, .pkts = 8 },
	{ .usec = 250, .pkts = 16 },
	{ .usec = 500, .pkts = 32 },
	{ .usec = 1000, .pkts = 64 },
	{ .usec = 1000, .pkts = 128 },
};

/* Applies a profile, which a user may have set, as far as the hardware can */
static void moderato_dim_apply(struct moderato_priv *priv,
			       const struct moderato_direction *dir,
			       struct dim_cq_moder profile, u8 order,
			       u32 usecs_max)
{
	struct moderato_coalesce c = {
		.frames = profile.pkts,
		.usecs = profile.usec,
	};

	moderato_coalesce_fit(&c, order, usecs_max);
	moderato_hw_moderate(priv, dir, &c);
}

static void moderato_dim_apply_rx(struct moderato_queue *q)
{
	struct dim_cq_moder profile = moderato_dim_rx_profile(q);

	moderato_dim_apply(q->priv, moderato_rx_dir(q), profile,
			   q->config.rx_order, q->priv->usecs_max);
}

/* Every profile frees skbs promptly: see moderato_tx_prompt() */
static void moderato_dim_apply_tx(struct moderato_queue *q)
{
	struct dim_cq_moder profile = moderato_dim_tx_profile(q);

	moderato_dim_apply(q->priv, moderato_tx_dir(q), profile,
			   q->config.tx_order,
			   min(q->priv->usecs_max, MODERATO_PROMPT_USECS));
}

/* Must not take RTNL: its holder waits for this work to end. The user may have
 * switched adaptive moderation off since the poll scheduled it.
 */
void moderato_rx_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct moderato_queue *q = dim->priv;

	if (moderato_rx_dim(&q->config))
		moderato_dim_apply_rx(q);
	dim->state = DIM_START_MEASURE;
}

void moderato_tx_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct moderato_queue *q = dim->priv;

	if (moderato_tx_adapts(&q->config))
		moderato_dim_apply_tx(q);
	dim->state = DIM_START_MEASURE;
}

/* Polls ------------------------------------------------------------------- */

static void moderato_dim_event(struct dim *dim, u32 frames, u32 bytes)
{
	struct dim_sample *sample = &dim->measuring_sample;

	dim_update_sample(sample->event_ctr + 1, frames, bytes, sample);
	net_dim(dim, *sample);
}

/* The end of a poll that an interrupt began */
void moderato_dim_rx_event(struct moderato_queue *q)
{
	struct moderato_rx_stats *stats = &q->rx_stats;

	moderato_dim_event(&q->rx_dim, u64_stats_read(&stats->packets),
			   u64_stats_read(&stats->bytes));
}

void moderato_dim_tx_event(struct moderato_queue *q)
{
	struct moderato_tx_stats *stats = &q->tx_stats;

	moderato_dim_event(&q->tx_dim, u64_stats_read(&stats->packets),
			   u64_stats_read(&stats->bytes));
}

/* Hardware ---------------------------------------------------------------- */

/* The hardware chooses the delay. Half a ring of frames suffices for any delay.
 * The least delay must not be 0, which would switch the timer off.
 */
static void moderato_pacing_start(struct moderato_queue *q)
{
	const struct moderato_coalesce *rx = &q->config.rx;
	struct moderato_coalesce least = {
		.frames = moderato_size(q->config.rx_order) / 2,
		.usecs = max(rx->packet_usecs, 1U),
	};

	moderato_hw_moderate(q->priv, moderato_rx_dir(q), &least);
	moderato_hw_pace(q, rx->gap_usecs ?: MODERATO_PACING_USECS);
}

/* Settings ---------------------------------------------------------------- */

/* Takes effect at once, also while the ring runs */
void moderato_rx_moderate(struct moderato_queue *q)
{
	cancel_work_sync(&q->rx_dim.work);
	q->rx_dim.state = DIM_START_MEASURE;
	if (moderato_rx_paced(&q->config)) {
		moderato_pacing_start(q);
		return;
	}

	moderato_hw_pace(q, 0);
	if (moderato_rx_dim(&q->config))
		moderato_dim_apply_rx(q);
	else
		moderato_hw_moderate(q->priv, moderato_rx_dir(q),
				     &q->config.rx);
}

/* @irq: whether completions raise the interrupt */
void moderato_tx_moderate(struct moderato_queue *q, bool irq)
{
	static const struct moderato_coalesce off;

	cancel_work_sync(&q->tx_dim.work);
	q->tx_dim.state = DIM_START_MEASURE;
	if (irq && moderato_tx_adapts(&q->config))
		moderato_dim_apply_tx(q);
	else
		moderato_hw_moderate(q->priv, moderato_tx_dir(q),
				     irq ? &q->config.tx : &off);
}
