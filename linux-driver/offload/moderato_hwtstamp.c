// SPDX-License-Identifier: GPL-2.0-only
/* Selects the frames that the hardware stamps (hwstamp_ctl) */

#include "moderato_ptp.h"

int moderato_hwtstamp_init(struct moderato_priv *priv)
{
	if (!priv->ptp)
		return 0;
	priv->netdev_ops.ndo_hwtstamp_get = moderato_hwtstamp_get;
	priv->netdev_ops.ndo_hwtstamp_set = moderato_hwtstamp_set;
	return 0;
}
