/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MODERATO_PTP_H
#define MODERATO_PTP_H

#include <linux/net_tstamp.h>

#include "moderato_priv.h"

struct ptp_system_timestamp;

int moderato_ptp_init(struct moderato_priv *priv);
void moderato_ptp_free(struct moderato_priv *priv);
void moderato_ptp_start(struct moderato_priv *priv);
u64 moderato_ptp_time(struct moderato_priv *priv,
		      struct ptp_system_timestamp *sts);
int moderato_ptp_rx_create(struct moderato_rx *rx);
void moderato_ptp_tx_create(struct moderato_tx *tx);
int moderato_hwtstamp_init(struct moderato_priv *priv);
int moderato_hwtstamp_get(struct net_device *ndev,
			  struct kernel_hwtstamp_config *config);
int moderato_hwtstamp_set(struct net_device *ndev,
			  struct kernel_hwtstamp_config *config,
			  struct netlink_ext_ack *extack);

#endif /* MODERATO_PTP_H */
