// SPDX-License-Identifier: GPL-2.0-only
/* Calls of the optional parts: hardware options, and strategies for comparison.
 * Each part is in a file of its own.
 */

#include "moderato_channels.h"
#include "moderato_offload.h"
#include "moderato_priv.h"
#include "moderato_ptp.h"
#include "moderato_tc.h"
#include "moderato_variants.h"
#include "moderato_xdp.h"

/* Called after the net device is gone, also without a successful
 * moderato_features_init()
 */
void moderato_features_free(struct moderato_priv *priv)
{
	moderato_offload_free(priv);
	moderato_ptp_free(priv);
	moderato_shared_free(priv);
}

/* Called before the net device is registered, with the hardware known. A part
 * may add to the kernel's operations.
 *
 * Return: 0, or an error; then no part holds anything
 */
int moderato_features_init(struct moderato_priv *priv)
{
	int err;

	err = moderato_queue_stats_init(priv);
	err = err ?: moderato_ethtool_init(priv);
	err = err ?: moderato_vlan_init(priv);
	err = err ?: moderato_gather_init(priv);
	err = err ?: moderato_channels_init(priv);
	err = err ?: moderato_rss_init(priv);
	err = err ?: moderato_merge_init(priv);
	err = err ?: moderato_rxnfc_init(priv);
	err = err ?: moderato_rx_timer_init(priv);
	err = err ?: moderato_shared_init(priv);
	err = err ?: moderato_variants_init(priv);
	err = err ?: moderato_ptp_init(priv);
	err = err ?: moderato_hwtstamp_init(priv);
	err = err ?: moderato_offload_init(priv);
	err = err ?: moderato_xdp_init(priv);
	err = err ?: moderato_xsk_init(priv);
	err = err ?: moderato_tc_init(priv);
	if (err)
		moderato_features_free(priv);
	return err;
}

/* Writes the registers again after a reset */
void moderato_features_restore(struct moderato_priv *priv)
{
	moderato_vlan_apply(priv);
	moderato_channels_apply(priv);
	moderato_rxnfc_apply(priv);
	moderato_ptp_start(priv);
	moderato_offload_reset(priv);
	moderato_tc_restore(priv);
}

void moderato_features_rx_destroy(struct moderato_rx *rx)
{
	moderato_merge_destroy(rx);
	moderato_xdp_rx_destroy(rx);
}

/* Return: 0, or an error; moderato_rx_destroy() frees what exists */
int moderato_features_rx_create(struct moderato_rx *rx)
{
	int err = 0;

	/* Defaults */
	rx->fill = moderato_pool_alloc;
	rx->headroom = NET_SKB_PAD;
	rx->dir = DMA_FROM_DEVICE;
	err = err ?: moderato_vlan_rx_create(rx);
	err = err ?: moderato_channels_rx_create(rx);
	err = err ?: moderato_merge_create(rx);
	err = err ?: moderato_ptp_rx_create(rx);
	err = err ?: moderato_xdp_rx_create(rx);
	err = err ?: moderato_xsk_rx_create(rx);
	return err;
}

/* Called when a ring starts, before the hardware knows of a buffer */
void moderato_features_rx_up(struct moderato_rx *rx)
{
	moderato_rxnfc_rx_up(rx);
	moderato_rx_choose_poll(rx->queue);
	moderato_xsk_rx_up(rx);
}

void moderato_features_tx_create(struct moderato_tx *tx)
{
	moderato_vlan_tx_create(tx);
	moderato_gather_create(tx);
	moderato_tx_none_create(tx);
	moderato_ptp_tx_create(tx);
	moderato_xdp_tx_create(tx);
}

/* Called with the queue's rings and interrupts off */
void moderato_features_queue_down(struct moderato_queue *q)
{
	moderato_rx_timer_cancel(q);
	moderato_offload_queue_down(q);
	moderato_xsk_queue_down(q);
}
