// SPDX-License-Identifier: GPL-2.0-only
/* Which frames the hardware stamps (hwstamp_ctl) */

#include "moderato_features.h"
#include "moderato_ptp.h"

static int moderato_hwtstamp_init(struct moderato_priv *priv)
{
	if (!priv->ptp)
		return 0;
	priv->netdev_ops.ndo_hwtstamp_get = moderato_hwtstamp_get;
	priv->netdev_ops.ndo_hwtstamp_set = moderato_hwtstamp_set;
	return 0;
}

const struct moderato_feature moderato_hwtstamp_feature = {
	.init = moderato_hwtstamp_init,
};
