/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of optional parts */
#ifndef MODERATO_FEATURES_H
#define MODERATO_FEATURES_H

#include <linux/types.h>

struct ethtool_coalesce;
struct netlink_ext_ack;
struct moderato_config;
struct moderato_priv;
struct moderato_queue;
struct moderato_rx;
struct moderato_tx;

/**
 * struct moderato_feature - an optional part of the driver; each hook may be NULL
 * @init: before the net device is registered, with the hardware known; may add
 *	  to the kernel's operations
 * @registered: after that
 * @free: after the net device is gone, also without a successful @init
 * @restore: writes the registers again after a reset
 * @rx_create: a receive ring is created
 * @rx_up: a receive ring starts; the hardware knows of no buffer yet
 * @rx_destroy: a receive ring ends
 * @tx_create: a transmit ring is created
 * @tx_destroy: a transmit ring ends
 * @tx_up: a transmit ring runs
 * @irqs: a queue's interrupts were requested, or are about to be freed
 * @queue_down: a queue's rings and interrupts are off
 * @one_queue: whether only one queue may be used
 * @set_coalesce: further options of ethtool -C
 * @get_coalesce: the same
 */
struct moderato_feature {
	int (*init)(struct moderato_priv *priv);
	void (*registered)(struct moderato_priv *priv);
	void (*free)(struct moderato_priv *priv);
	void (*restore)(struct moderato_priv *priv);
	int (*rx_create)(struct moderato_rx *rx);
	void (*rx_up)(struct moderato_rx *rx);
	void (*rx_destroy)(struct moderato_rx *rx);
	void (*tx_create)(struct moderato_tx *tx);
	void (*tx_destroy)(struct moderato_tx *tx);
	void (*tx_up)(struct moderato_tx *tx);
	void (*irqs)(struct moderato_queue *q, bool on);
	void (*queue_down)(struct moderato_queue *q);
	bool (*one_queue)(const struct moderato_priv *priv);
	int (*set_coalesce)(struct moderato_config *config,
			    const struct ethtool_coalesce *ec,
			    struct netlink_ext_ack *extack);
	void (*get_coalesce)(const struct moderato_queue *q,
			     struct ethtool_coalesce *ec);
};

extern const struct moderato_feature moderato_ethtool_feature;
extern const struct moderato_feature moderato_rxnfc_feature;
extern const struct moderato_feature moderato_gather_feature;
extern const struct moderato_feature moderato_hwtstamp_feature;
extern const struct moderato_feature moderato_merge_feature;
extern const struct moderato_feature moderato_none_feature;
extern const struct moderato_feature moderato_offload_feature;
extern const struct moderato_feature moderato_ptp_feature;
extern const struct moderato_feature moderato_queue_stats_feature;
extern const struct moderato_feature moderato_channels_feature;
extern const struct moderato_feature moderato_rss_feature;
extern const struct moderato_feature moderato_shared_feature;
extern const struct moderato_feature moderato_timer_feature;
extern const struct moderato_feature moderato_variants_feature;
extern const struct moderato_feature moderato_vlan_feature;
extern const struct moderato_feature moderato_xdp_feature;
extern const struct moderato_feature moderato_xsk_feature;

int moderato_features_init(struct moderato_priv *priv);
void moderato_features_registered(struct moderato_priv *priv);
void moderato_features_free(struct moderato_priv *priv);
void moderato_features_restore(struct moderato_priv *priv);
int moderato_features_rx_create(struct moderato_rx *rx);
void moderato_features_rx_up(struct moderato_rx *rx);
void moderato_features_rx_destroy(struct moderato_rx *rx);
void moderato_features_tx_create(struct moderato_tx *tx);
void moderato_features_tx_destroy(struct moderato_tx *tx);
void moderato_features_tx_up(struct moderato_tx *tx);
void moderato_features_irqs(struct moderato_queue *q, bool on);
void moderato_features_queue_down(struct moderato_queue *q);
bool moderato_features_one_queue(const struct moderato_priv *priv);
int moderato_features_set_coalesce(struct moderato_config *config,
				   const struct ethtool_coalesce *ec,
				   struct netlink_ext_ack *extack);
void moderato_features_get_coalesce(const struct moderato_queue *q,
				    struct ethtool_coalesce *ec);

#endif /* MODERATO_FEATURES_H */
