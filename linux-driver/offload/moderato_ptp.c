// SPDX-License-Identifier: GPL-2.0-only
/* PTP clock and timestamps. The clock counts nanoseconds in 64 bits, as ktime_t
 * does. It is off if the kernel has no PTP clocks.
 */

#include <linux/bitfield.h>
#include <linux/ethtool.h>
#include <linux/ptp_clock_kernel.h>

#include "moderato_ptp.h"
#include "moderato_tc.h"

#define MODERATO_MAX_ADJ	100000000	/* ppb */

/* Clocks between two edges of the periodic output, and to start it */
#define MODERATO_OUTPUT_CLOCKS	4

/* Time to set up the periodic output */
#define MODERATO_OUTPUT_AHEAD_NS	(100 * NSEC_PER_USEC)

/* The PTP clock
 * @lock: guards the registers, and the members after it
 * @increment: its rate
 * @start, @period, @width: periodic output in ns; @period 0: off
 */
struct moderato_ptp {
	struct moderato_priv *priv;
	struct ptp_clock_info info;
	struct ptp_clock *clock;
	/* guards the registers, and the members after it */
	spinlock_t lock;
	struct kernel_hwtstamp_config config;
	u64 increment;
	u64 start;
	u32 period;
	u32 width;
};

static struct moderato_ptp *moderato_ptp_of(struct ptp_clock_info *info)
{
	return container_of(info, struct moderato_ptp, info);
}

/* Registers, all of them with the lock held -------------------------------- */

static void moderato_time_command(struct moderato_priv *priv, u32 command,
				  u64 ns)
{
	writel(lower_32_bits(ns), priv->regs + MODERATO_TIME_LOW);
	writel(upper_32_bits(ns), priv->regs + MODERATO_TIME_HIGH);
	writel(command, priv->regs + MODERATO_TIME_COMMAND);
}

static void moderato_time_tune(struct moderato_priv *priv, u64 increment)
{
	writel(upper_32_bits(increment),
	       priv->regs + MODERATO_TIME_INCREMENT_NS);
	writel(lower_32_bits(increment), priv->regs + MODERATO_TIME_INCREMENT);
}

static u64 moderato_time_read(struct moderato_priv *priv,
			      struct ptp_system_timestamp *sts)
{
	u64 low;

	ptp_read_system_prets(sts);
	writel(MODERATO_TIME_COMMAND_READ, priv->regs + MODERATO_TIME_COMMAND);
	/* This read returns after the write has arrived */
	low = readl(priv->regs + MODERATO_TIME_NOW_LOW);
	ptp_read_system_postts(sts);
	return low | (u64)readl(priv->regs + MODERATO_TIME_NOW_HIGH) << 32;
}

static void moderato_time_ctrl(struct moderato_priv *priv)
{
	const struct moderato_ptp *ptp = priv->ptp;
	bool rx = ptp->config.rx_filter != HWTSTAMP_FILTER_NONE;

	writel(FIELD_PREP(MODERATO_TIME_CTRL_RX, rx) |
	       FIELD_PREP(MODERATO_TIME_CTRL_OUTPUT, ptp->period != 0),
	       priv->regs + MODERATO_TIME_CTRL);
}

/* Starts the output as requested; after a step of the clock in phase with the
 * request, from now on
 */
static void moderato_time_output(struct moderato_priv *priv)
{
	const struct moderato_ptp *ptp = priv->ptp;
	u64 now;

	if (ptp->period) {
		writel(ptp->period, priv->regs + MODERATO_TIME_PERIOD);
		writel(ptp->width, priv->regs + MODERATO_TIME_WIDTH);
		now = moderato_time_read(priv, NULL);
		moderato_time_command(priv, MODERATO_TIME_COMMAND_START,
				      moderato_next_start(ptp->start,
							  ptp->period,
							  now + MODERATO_OUTPUT_AHEAD_NS));
	}
	moderato_time_ctrl(priv);
}

/* Clock -------------------------------------------------------------------- */

static int moderato_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct moderato_ptp *ptp = moderato_ptp_of(info);
	struct moderato_priv *priv = ptp->priv;
	unsigned long flags;

	spin_lock_irqsave(&ptp->lock, flags);
	ptp->increment = adjust_by_scaled_ppm(moderato_increment(priv->clock_hz),
					      scaled_ppm);
	moderato_time_tune(priv, ptp->increment);
	spin_unlock_irqrestore(&ptp->lock, flags);
	return 0;
}

static int moderato_adjtime(struct ptp_clock_info *info, s64 delta)
{
	struct moderato_ptp *ptp = moderato_ptp_of(info);
	struct moderato_priv *priv = ptp->priv;
	unsigned long flags;

	spin_lock_irqsave(&ptp->lock, flags);
	moderato_time_command(priv, MODERATO_TIME_COMMAND_STEP, delta);
	moderato_time_output(priv);
	spin_unlock_irqrestore(&ptp->lock, flags);
	moderato_taprio_restart(priv);
	return 0;
}

/* The clock, in ns */
u64 moderato_ptp_time(struct moderato_priv *priv,
		      struct ptp_system_timestamp *sts)
{
	unsigned long flags;
	u64 ns;

	spin_lock_irqsave(&priv->ptp->lock, flags);
	ns = moderato_time_read(priv, sts);
	spin_unlock_irqrestore(&priv->ptp->lock, flags);
	return ns;
}

static int moderato_gettimex64(struct ptp_clock_info *info,
			       struct timespec64 *ts,
			       struct ptp_system_timestamp *sts)
{
	struct moderato_ptp *ptp = moderato_ptp_of(info);

	*ts = ns_to_timespec64(moderato_ptp_time(ptp->priv, sts));
	return 0;
}

static int moderato_settime64(struct ptp_clock_info *info,
			      const struct timespec64 *ts)
{
	struct moderato_ptp *ptp = moderato_ptp_of(info);
	struct moderato_priv *priv = ptp->priv;
	unsigned long flags;

	spin_lock_irqsave(&ptp->lock, flags);
	moderato_time_command(priv, MODERATO_TIME_COMMAND_SET,
			      timespec64_to_ns(ts));
	moderato_time_output(priv);
	spin_unlock_irqrestore(&ptp->lock, flags);
	moderato_taprio_restart(priv);
	return 0;
}

/* In nanoseconds; 0 if the time does not fit */
static u32 moderato_perout_ns(const struct ptp_clock_time *time)
{
	u64 ns = (u64)time->sec * NSEC_PER_SEC + time->nsec;

	return time->sec >= 0 && time->sec < 5 && ns <= U32_MAX ? ns : 0;
}

static int moderato_enable(struct ptp_clock_info *info,
			   struct ptp_clock_request *request, int on)
{
	const struct ptp_perout_request *perout = &request->perout;
	struct moderato_ptp *ptp = moderato_ptp_of(info);
	struct moderato_priv *priv = ptp->priv;
	u32 period, width, least;
	unsigned long flags;

	if (request->type != PTP_CLK_REQ_PEROUT ||
	    perout->flags & ~PTP_PEROUT_DUTY_CYCLE)
		return -EOPNOTSUPP;

	period = on ? moderato_perout_ns(&perout->period) : 0;
	width = perout->flags & PTP_PEROUT_DUTY_CYCLE ?
			moderato_perout_ns(&perout->on) : period / 2;
	least = DIV_ROUND_UP_ULL(MODERATO_OUTPUT_CLOCKS * (u64)NSEC_PER_SEC,
				 priv->clock_hz);
	if (on && (width < least || period < width || period - width < least))
		return -ERANGE;

	spin_lock_irqsave(&ptp->lock, flags);
	ptp->period = period;
	ptp->width = width;
	ptp->start = perout->start.sec * NSEC_PER_SEC + perout->start.nsec;
	moderato_time_output(priv);
	spin_unlock_irqrestore(&ptp->lock, flags);
	return 0;
}

static const struct ptp_clock_info moderato_ptp_info = {
	.owner = THIS_MODULE,
	.name = "moderato",
	.max_adj = MODERATO_MAX_ADJ,
	.n_per_out = 1,
	.adjfine = moderato_adjfine,
	.adjtime = moderato_adjtime,
	.gettimex64 = moderato_gettimex64,
	.settime64 = moderato_settime64,
	.enable = moderato_enable,
};

/* Frames ------------------------------------------------------------------- */

/* Passes on the timestamp of a sent frame. The hardware reports its lower word,
 * so read the clock before that wraps, in 4 s.
 */
static void moderato_tx_stamped(const struct moderato_tx *tx,
				struct sk_buff *skb, u32 stamp)
{
	struct moderato_priv *priv = tx->queue->priv;
	struct skb_shared_hwtstamps stamps = {};
	u64 now = moderato_ptp_time(priv, NULL);

	stamps.hwtstamp = ns_to_ktime(moderato_stamp(now, stamp));
	skb_tstamp_tx(skb, &stamps);
}

static bool moderato_tx_wanted(const struct moderato_tx *tx)
{
	return READ_ONCE(tx->queue->priv->ptp->config.tx_type) ==
	       HWTSTAMP_TX_ON;
}

static const struct moderato_stamp_ops moderato_stamp_ops = {
	.wanted = moderato_tx_wanted,
	.stamped = moderato_tx_stamped,
};

/* The hardware writes the timestamp ahead of the frame */
static void moderato_rx_stamped(struct moderato_rx *rx, struct sk_buff *skb)
{
	const __le64 *stamp = (void *)skb->head + NET_SKB_PAD;

	skb_hwtstamps(skb)->hwtstamp = ns_to_ktime(le64_to_cpup(stamp));
	skb_put(skb, MODERATO_STAMP_OCTETS);
	skb_pull(skb, MODERATO_STAMP_OCTETS);
}

int moderato_hwtstamp_get(struct net_device *ndev,
			  struct kernel_hwtstamp_config *config)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	*config = priv->ptp->config;
	return 0;
}

/* The hardware stamps all received frames or none; a request for PTP frames
 * means all
 */
int moderato_hwtstamp_set(struct net_device *ndev,
			  struct kernel_hwtstamp_config *config,
			  struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_ptp *ptp = priv->ptp;
	unsigned long flags;

	if (config->tx_type != HWTSTAMP_TX_OFF &&
	    config->tx_type != HWTSTAMP_TX_ON) {
		NL_SET_ERR_MSG_MOD(extack, "frames are stamped, not changed");
		return -ERANGE;
	}
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;

	spin_lock_irqsave(&ptp->lock, flags);
	ptp->config = *config;
	moderato_time_ctrl(priv);
	spin_unlock_irqrestore(&ptp->lock, flags);
	return 0;
}

static int moderato_get_ts_info(struct net_device *ndev,
				struct kernel_ethtool_ts_info *info)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_HARDWARE |
				SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE |
				SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE;
	info->phc_index = ptp_clock_index(priv->ptp->clock);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

/* Life --------------------------------------------------------------------- */

/* Sets the clock to the system's time; other settings as before the hardware
 * lost them
 */
void moderato_ptp_start(struct moderato_priv *priv)
{
	struct moderato_ptp *ptp = priv->ptp;
	unsigned long flags;

	if (!ptp)
		return;

	spin_lock_irqsave(&ptp->lock, flags);
	moderato_time_tune(priv, ptp->increment);
	moderato_time_command(priv, MODERATO_TIME_COMMAND_SET,
			      ktime_get_real_ns());
	moderato_time_output(priv);
	spin_unlock_irqrestore(&ptp->lock, flags);
}

/* Called before the interface exists. A kernel without PTP has no clock, and
 * that is no error.
 */
int moderato_ptp_init(struct moderato_priv *priv)
{
	struct moderato_ptp *ptp;

	if (!(priv->features & MODERATO_FEATURES_TIMESTAMP))
		return 0;

	/* A boot loader, or another kernel, may have left it on */
	writel(0, priv->regs + MODERATO_TIME_CTRL);
	ptp = devm_kzalloc(priv->dev, sizeof(*ptp), GFP_KERNEL);
	if (!ptp)
		return -ENOMEM;
	spin_lock_init(&ptp->lock);
	ptp->priv = priv;
	ptp->info = moderato_ptp_info;
	ptp->increment = moderato_increment(priv->clock_hz);
	/* A registered clock may be set at once */
	priv->ptp = ptp;
	moderato_ptp_start(priv);
	ptp->clock = ptp_clock_register(&ptp->info, priv->dev);
	if (IS_ERR_OR_NULL(ptp->clock)) {
		priv->ptp = NULL;
		moderato_time_tune(priv, 0);
		return PTR_ERR(ptp->clock);
	}
	priv->ethtool_ops.get_ts_info = moderato_get_ts_info;
	return 0;
}

/* Called after the interface is gone */
void moderato_ptp_free(struct moderato_priv *priv)
{
	if (!priv->ptp)
		return;
	ptp_clock_unregister(priv->ptp->clock);
	/* Nothing uses the clock any more */
	writel(0, priv->regs + MODERATO_TIME_CTRL);
}

int moderato_ptp_rx_create(struct moderato_rx *rx)
{
	if (rx->queue->priv->ptp) {
		rx->more = true;
		rx->ahead = MODERATO_STAMP_OCTETS;
		rx->stamp = moderato_rx_stamped;
	}
	return 0;
}

void moderato_ptp_tx_create(struct moderato_tx *tx)
{
	if (tx->queue->priv->ptp) {
		tx->asks = true;
		tx->stamps = &moderato_stamp_ops;
	}
}
