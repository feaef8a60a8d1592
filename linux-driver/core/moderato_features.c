// SPDX-License-Identifier: GPL-2.0-only
/* Optional parts of the driver: hardware options, and strategies for
 * comparison. Each is in a file of its own, and the rest of the driver knows
 * only its line in this table.
 */

#include "moderato_features.h"
#include "moderato_priv.h"

static const struct moderato_feature * const moderato_features[] = {
	&moderato_queue_stats_feature,
	&moderato_ethtool_feature,
	&moderato_vlan_feature,
	&moderato_gather_feature,
	&moderato_channels_feature,
	&moderato_rss_feature,
	&moderato_merge_feature,
	&moderato_rxnfc_feature,
	&moderato_timer_feature,
	&moderato_none_feature,
	&moderato_shared_feature,
	&moderato_variants_feature,
	&moderato_ptp_feature,
	&moderato_hwtstamp_feature,
	&moderato_offload_feature,
	/* Last, because they run before what the others install */
	&moderato_xdp_feature,
	&moderato_xsk_feature,
};

void moderato_features_free(struct moderato_priv *priv)
{
	for (int i = ARRAY_SIZE(moderato_features) - 1; i >= 0; i--)
		if (moderato_features[i]->free)
			moderato_features[i]->free(priv);
}

/* Return: 0, or an error; then no feature holds anything */
int moderato_features_init(struct moderato_priv *priv)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++) {
		int err = 0;

		if (moderato_features[i]->init)
			err = moderato_features[i]->init(priv);
		if (err) {
			moderato_features_free(priv);
			return err;
		}
	}
	return 0;
}

void moderato_features_registered(struct moderato_priv *priv)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->registered)
			moderato_features[i]->registered(priv);
}

void moderato_features_restore(struct moderato_priv *priv)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->restore)
			moderato_features[i]->restore(priv);
}

void moderato_features_rx_destroy(struct moderato_rx *rx)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->rx_destroy)
			moderato_features[i]->rx_destroy(rx);
}

/* Return: 0, or an error; moderato_rx_destroy() frees what exists */
int moderato_features_rx_create(struct moderato_rx *rx)
{
	int err = 0;

	/* Defaults */
	rx->fill = moderato_pool_alloc;
	rx->headroom = NET_SKB_PAD;
	rx->dir = DMA_FROM_DEVICE;
	for (int i = 0; !err && i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->rx_create)
			err = moderato_features[i]->rx_create(rx);
	return err;
}

void moderato_features_rx_up(struct moderato_rx *rx)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->rx_up)
			moderato_features[i]->rx_up(rx);
}

void moderato_features_tx_create(struct moderato_tx *tx)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->tx_create)
			moderato_features[i]->tx_create(tx);
}

void moderato_features_tx_destroy(struct moderato_tx *tx)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->tx_destroy)
			moderato_features[i]->tx_destroy(tx);
}

void moderato_features_tx_up(struct moderato_tx *tx)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->tx_up)
			moderato_features[i]->tx_up(tx);
}

void moderato_features_irqs(struct moderato_queue *q, bool on)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->irqs)
			moderato_features[i]->irqs(q, on);
}

void moderato_features_queue_down(struct moderato_queue *q)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->queue_down)
			moderato_features[i]->queue_down(q);
}

bool moderato_features_one_queue(const struct moderato_priv *priv)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->one_queue &&
		    moderato_features[i]->one_queue(priv))
			return true;
	return false;
}

int moderato_features_set_coalesce(struct moderato_config *config,
				   const struct ethtool_coalesce *ec,
				   struct netlink_ext_ack *extack)
{
	int err = 0;

	for (int i = 0; !err && i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->set_coalesce)
			err = moderato_features[i]->set_coalesce(config, ec,
								 extack);
	return err;
}

void moderato_features_get_coalesce(const struct moderato_queue *q,
				    struct ethtool_coalesce *ec)
{
	for (int i = 0; i < ARRAY_SIZE(moderato_features); i++)
		if (moderato_features[i]->get_coalesce)
			moderato_features[i]->get_coalesce(q, ec);
}
