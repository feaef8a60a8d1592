// SPDX-License-Identifier: GPL-2.0-only
/* Credit-based shapers of the Tx queues (IEEE 802.1Qav): `cbs` with `offload 1` */

#include <net/pkt_sched.h>

#include "moderato_cbs.h"
#include "moderato_tc.h"

/* Hardware, with tc->lock held --------------------------------------------- */

/* The send slope is that of the link's rate now, whatever it was at the request.
 * A queue whose idle slope is more than the link's rate is not limited.
 */
static void moderato_cbs_write(struct moderato_priv *priv, int n)
{
	const struct moderato_cbs *cbs = &priv->tc->cbs[n];
	void __iomem *regs = priv->regs +
			     moderato_tx_dir(&priv->queue[n])->base -
			     MODERATO_TX_BASE;
	u32 link = moderato_cbs_slope(moderato_cbs_link(priv->tc->octet),
				      priv->clock_hz);
	u32 idle = min(moderato_cbs_slope(cbs->idle, priv->clock_hz), link);

	if (cbs->on) {
		writel(idle, regs + MODERATO_TX_IDLE_SLOPE);
		writel(link - idle, regs + MODERATO_TX_SEND_SLOPE);
		writel(cbs->high, regs + MODERATO_TX_HIGH_CREDIT);
		writel(cbs->low, regs + MODERATO_TX_LOW_CREDIT);
	}
	writel(cbs->on ? MODERATO_TX_SHAPER_ON : 0, regs + MODERATO_TX_SHAPER);
}

/* Requests ----------------------------------------------------------------- */

/* The qdisc has no extack for its driver */
static int moderato_cbs_check(const struct moderato_priv *priv,
			      const struct tc_cbs_qopt_offload *cbs)
{
	if (cbs->queue < 0 || cbs->queue >= priv->count)
		return -EINVAL;
	if (!cbs->enable)
		return 0;
	if (cbs->idleslope <= 0 || cbs->hicredit < 0 || cbs->locredit > 0)
		return -EINVAL;
	if (cbs->hicredit > MODERATO_TX_CREDIT_MAX ||
	    cbs->locredit < -MODERATO_TX_CREDIT_MAX)
		return -ERANGE;
	return 0;
}

int moderato_cbs_setup(struct moderato_priv *priv,
		       const struct tc_cbs_qopt_offload *offload)
{
	struct moderato_tc *tc = priv->tc;
	int err;

	if (!(priv->features & MODERATO_FEATURES_SHAPER))
		return -EOPNOTSUPP;
	err = moderato_cbs_check(priv, offload);
	if (err)
		return err;

	mutex_lock(&tc->lock);
	tc->cbs[offload->queue] = (struct moderato_cbs) {
		.on = offload->enable,
		.idle = offload->idleslope,
		.high = offload->hicredit,
		.low = -offload->locredit,
	};
	if (netif_device_present(priv->ndev))
		moderato_cbs_write(priv, offload->queue);
	mutex_unlock(&tc->lock);
	return 0;
}

/* Other events ------------------------------------------------------------- */

/* The link has another rate. Called with tc->lock held */
void moderato_cbs_apply(struct moderato_priv *priv)
{
	if (!(priv->features & MODERATO_FEATURES_SHAPER))
		return;
	for (int i = 0; i < priv->count; i++)
		moderato_cbs_write(priv, i);
}

/* The hardware was reset */
void moderato_cbs_restart(struct moderato_priv *priv)
{
	mutex_lock(&priv->tc->lock);
	moderato_cbs_apply(priv);
	mutex_unlock(&priv->tc->lock);
}
