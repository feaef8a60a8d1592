// SPDX-License-Identifier: GPL-2.0-only
/* VLANs: the hardware strips, inserts and filters tags */

#include <linux/bitfield.h>

#include "moderato_hw.h"

/* Sets stripping and filtering to @features. Descriptors request the tags of
 * sent frames.
 */
static void moderato_hw_set_vlan(struct moderato_priv *priv,
				 netdev_features_t features)
{
	bool strip = features & NETIF_F_HW_VLAN_CTAG_RX;
	bool filter = features & NETIF_F_HW_VLAN_CTAG_FILTER;

	if (priv->features & MODERATO_FEATURES_VLAN)
		writel(MODERATO_VLAN_INSERT |
		       FIELD_PREP(MODERATO_VLAN_STRIP, strip) |
		       FIELD_PREP(MODERATO_VLAN_FILTER, filter),
		       priv->regs + MODERATO_VLAN);
}

static void moderato_hw_set_vlan_row(struct moderato_priv *priv,
				     unsigned int row)
{
	writel(FIELD_PREP(MODERATO_VLAN_TABLE_ROW, row) |
	       FIELD_PREP(MODERATO_VLAN_TABLE_MEMBERS, priv->vlans[row]),
	       priv->regs + MODERATO_VLAN_TABLE);
}

static int moderato_vlan_rx_add_vid(struct net_device *ndev, __be16 proto,
				    u16 vid)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	unsigned int row = vid / MODERATO_VLAN_ROW;

	priv->vlans[row] |= BIT(vid % MODERATO_VLAN_ROW);
	moderato_hw_set_vlan_row(priv, row);
	return 0;
}

static int moderato_vlan_rx_kill_vid(struct net_device *ndev, __be16 proto,
				     u16 vid)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	unsigned int row = vid / MODERATO_VLAN_ROW;

	priv->vlans[row] &= ~BIT(vid % MODERATO_VLAN_ROW);
	moderato_hw_set_vlan_row(priv, row);
	return 0;
}

/* The other features need no register */
static int moderato_set_features(struct net_device *ndev,
				 netdev_features_t features)
{
	moderato_hw_set_vlan(netdev_priv(ndev), features);
	return 0;
}

/* Writes all VLAN registers: a boot loader may have used them */
void moderato_vlan_apply(struct moderato_priv *priv)
{
	if (priv->features & MODERATO_FEATURES_VLAN_FILTER)
		for (unsigned int row = 0; row < ARRAY_SIZE(priv->vlans); row++)
			moderato_hw_set_vlan_row(priv, row);
	moderato_hw_set_vlan(priv, priv->ndev->features);
}

int moderato_vlan_init(struct moderato_priv *priv)
{
	struct net_device *ndev = priv->ndev;
	netdev_features_t vlan = 0;

	priv->netdev_ops.ndo_set_features = moderato_set_features;
	priv->netdev_ops.ndo_vlan_rx_add_vid = moderato_vlan_rx_add_vid;
	priv->netdev_ops.ndo_vlan_rx_kill_vid = moderato_vlan_rx_kill_vid;
	if (priv->features & MODERATO_FEATURES_VLAN)
		vlan |= NETIF_F_HW_VLAN_CTAG_RX | NETIF_F_HW_VLAN_CTAG_TX;
	if (priv->features & MODERATO_FEATURES_VLAN_FILTER)
		vlan |= NETIF_F_HW_VLAN_CTAG_FILTER;
	ndev->hw_features |= vlan;
	ndev->features |= vlan;
	moderato_vlan_apply(priv);
	return 0;
}

int moderato_vlan_rx_create(struct moderato_rx *rx)
{
	if (rx->queue->priv->features & MODERATO_FEATURES_VLAN)
		rx->more = true;
	return 0;
}

void moderato_vlan_tx_create(struct moderato_tx *tx)
{
	if (tx->queue->priv->features & MODERATO_FEATURES_VLAN)
		tx->asks = true;
}
