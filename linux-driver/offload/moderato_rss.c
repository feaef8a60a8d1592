// SPDX-License-Identifier: GPL-2.0-only
/* RSS: key and table (ethtool -X) */

#include <linux/ethtool.h>

#include "moderato_channels.h"

static u32 moderato_get_rxfh_indir_size(struct net_device *ndev)
{
	return MODERATO_RSS_TABLE;
}

static u32 moderato_get_rxfh_key_size(struct net_device *ndev)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	return sizeof(priv->rss->key);
}

static int moderato_get_rxfh(struct net_device *ndev,
			     struct ethtool_rxfh_param *rxfh)
{
	const struct moderato_priv *priv = netdev_priv(ndev);

	rxfh->hfunc = ETH_RSS_HASH_TOP;
	if (rxfh->key)
		memcpy(rxfh->key, priv->rss->key, sizeof(priv->rss->key));
	for (int i = 0; rxfh->indir && i < MODERATO_RSS_TABLE; i++)
		rxfh->indir[i] = priv->rss->table[i / 32] >> i % 32 & 1;
	return 0;
}

/* Takes effect at once: a flow that moves may be out of order for a moment */
static int moderato_set_rxfh(struct net_device *ndev,
			     struct ethtool_rxfh_param *rxfh,
			     struct netlink_ext_ack *extack)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE &&
	    rxfh->hfunc != ETH_RSS_HASH_TOP) {
		NL_SET_ERR_MSG_MOD(extack, "the hash is Toeplitz' (toeplitz)");
		return -EOPNOTSUPP;
	}

	if (rxfh->key)
		memcpy(priv->rss->key, rxfh->key, sizeof(priv->rss->key));
	for (int i = 0; rxfh->indir && i < MODERATO_RSS_TABLE; i++)
		moderato_channels_set_entry(priv, i, rxfh->indir[i]);
	moderato_channels_apply(priv);
	return 0;
}

int moderato_rss_init(struct moderato_priv *priv)
{
	if (!priv->rss)
		return 0;
	priv->ethtool_ops.get_rxfh_indir_size = moderato_get_rxfh_indir_size;
	priv->ethtool_ops.get_rxfh_key_size = moderato_get_rxfh_key_size;
	priv->ethtool_ops.get_rxfh = moderato_get_rxfh;
	priv->ethtool_ops.set_rxfh = moderato_set_rxfh;
	return 0;
}
