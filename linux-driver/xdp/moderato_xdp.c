// SPDX-License-Identifier: GPL-2.0-only
/* XDP: attaches and detaches programs (xdp_rx.c, xdp_tx.c).
 *
 * Rings for XDP have other buffers, with the headroom for programs, and mapped
 * in both directions. So the first program needs new rings, and so does the end
 * of the last one; the exchange of a program does not.
 */

#include <net/xdp_sock_drv.h>

#include "moderato_tc.h"
#include "moderato_variants.h"
#include "moderato_verdict.h"

/* Names that other drivers use */
static const char moderato_xdp_names[][ETH_GSTRING_LEN] = {
	[MODERATO_XDP_PASSED] = "rx_xdp_pass",
	[MODERATO_XDP_DROPPED] = "rx_xdp_drop",
	[MODERATO_XDP_SENT] = "rx_xdp_tx",
	[MODERATO_XDP_SEND_FAILED] = "rx_xdp_tx_errors",
	[MODERATO_XDP_REDIRECTED] = "rx_xdp_redirect",
	[MODERATO_XDP_FAILED] = "rx_xdp_errors",
	[MODERATO_XDP_RX_COUNTERS + MODERATO_XDP_XMIT] = "tx_xdp_xmit",
	[MODERATO_XDP_RX_COUNTERS + MODERATO_XDP_XMIT_FAILED] =
		"tx_xdp_xmit_errors",
};

static_assert(ARRAY_SIZE(moderato_xdp_names) == MODERATO_XDP_COUNTERS);

/* Rings --------------------------------------------------------------------- */

/* Called before the first buffer, once the pool exists and the frames' size is
 * known
 */
static int moderato_xdp_register(struct moderato_rx *rx)
{
	struct xdp_rxq_info *rxq = &rx->program->rxq;
	struct moderato_queue *q = rx->queue;
	int err;

	if (rx->truesize < PAGE_SIZE)
		rx->program->spread = PAGE_SIZE - rx->truesize - 1;
	err = xdp_rxq_info_reg(rxq, rx->ndev, q->index, q->napi.napi_id);
	if (err)
		return err;
	return xdp_rxq_info_reg_mem_model(rxq, MEM_TYPE_PAGE_POOL, rx->pool);
}

bool moderato_xdp_fill(struct moderato_rx *rx, struct moderato_rx_buf *buf,
		       gfp_t gfp)
{
	if (!xdp_rxq_info_is_reg(&rx->program->rxq) &&
	    moderato_xdp_register(rx))
		return false;
	return moderato_xdp_get(rx, buf, gfp);
}

int moderato_xdp_rx_create(struct moderato_rx *rx)
{
	struct bpf_prog *prog = rx->queue->priv->xdp->prog;

	if (!prog)
		return 0;
	rx->program = kzalloc(sizeof(*rx->program), GFP_KERNEL);
	if (!rx->program)
		return -ENOMEM;
	rx->program->prog = prog;
	rx->receive = rx->more ? moderato_xdp_receive_more :
				 moderato_xdp_receive;
	rx->fill = moderato_xdp_fill;
	rx->headroom = XDP_PACKET_HEADROOM;
	rx->dir = DMA_BIDIRECTIONAL;
	return 0;
}

void moderato_xdp_rx_destroy(struct moderato_rx *rx)
{
	if (!rx->program)
		return;
	if (xdp_rxq_info_is_reg(&rx->program->rxq))
		xdp_rxq_info_unreg(&rx->program->rxq);
	kvfree(rx->program->zero);
	kfree(rx->program);
}

void moderato_xdp_tx_create(struct moderato_tx *tx)
{
	if (!tx->queue->priv->xdp->prog)
		return;
	tx->planned = moderato_xdp_take;
	tx->drop_frame = moderato_xdp_drop;
}

/* Checks of settings --------------------------------------------------------- */

/* Whether rings are for XDP. The end of a program may have found no memory for
 * others.
 */
static bool moderato_xdp_has_rings(const struct moderato_priv *priv)
{
	const struct moderato_rx *rx = priv->queue[0].rx;

	return priv->xdp->prog || (rx && rx->program);
}

/* Return: why no program can run with the present zero-copy sockets, and what
 * to switch; or NULL
 */
const char *moderato_xdp_unfit(const struct moderato_priv *priv,
			       const struct moderato_config *config,
			       unsigned int mtu)
{
	const char *why = moderato_xdp_unsuited(config, mtu);

	for (int i = 0; !why && i < priv->count; i++) {
		struct xsk_buff_pool *pool = priv->xdp->xsk[i].pool;
		u32 room = pool ? xsk_pool_get_rx_frame_size(pool) : 0;

		if (pool)
			why = moderato_xsk_unsuited(config, mtu, room);
	}
	return why;
}

/* Settings have to suit the rings, as long as they are for XDP */
static bool moderato_xdp_suits(const struct moderato_priv *priv,
			       const struct moderato_config *config,
			       unsigned int mtu)
{
	const char *why = NULL;

	if (moderato_xdp_has_rings(priv))
		why = moderato_xdp_unfit(priv, config, mtu);
	if (why)
		netdev_warn(priv->ndev, "%s, or detach the program\n", why);
	return !why;
}

static netdev_features_t moderato_xdp_fix_features(struct net_device *ndev,
						   netdev_features_t features)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (moderato_xdp_has_rings(priv))
		features &= ~NETIF_F_GRO_HW;
	return priv->xdp->netdev_ops.ndo_fix_features(ndev, features);
}

static int moderato_xdp_set_rxnfc(struct net_device *ndev,
				  struct ethtool_rxnfc *cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (moderato_xdp_has_rings(priv) && cmd->cmd == ETHTOOL_SRXCLSRLINS) {
		netdev_warn(ndev,
			    "no frame is urgent with XDP: detach the program\n");
		return -EBUSY;
	}
	return priv->xdp->ethtool_ops.set_rxnfc(ndev, cmd);
}

/* Programs ------------------------------------------------------------------ */

/* Return: 0, or an error that @extack explains */
static int moderato_xdp_check(const struct moderato_priv *priv,
			      struct netlink_ext_ack *extack)
{
	const char *why = moderato_xdp_unfit(priv, &priv->queue[0].config,
					     priv->ndev->mtu);
	bool urgent = moderato_rules_urgent(priv);

	if (moderato_taprio_on(priv))
		why = "gates and XDP exclude each other: delete the qdisc taprio";
	return moderato_xdp_refuse(why ?:
		moderato_xdp_unsuited_too(priv->ndev->features, urgent), extack);
}

/* Frames of programs do not wait for gates. Return: 0, or an error that @extack
 * explains: there is a program
 */
int moderato_xdp_refuse_gates(const struct moderato_priv *priv,
			      struct netlink_ext_ack *extack)
{
	if (!priv->xdp || !priv->xdp->prog)
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "gates and XDP exclude each other: detach the program");
	return -EBUSY;
}

/* The end of the last program cannot fail. Without memory for other rings, the
 * same ones come up again, without sockets' memory, and pass their frames to
 * the stack.
 */
static void moderato_xdp_keep_rings(struct moderato_priv *priv)
{
	bool present = netif_device_present(priv->ndev);
	struct moderato_queue *q;
	int err = 0;

	for (q = priv->queue; q < moderato_used_end(priv); q++) {
		if (present && !err)
			err = moderato_rx_reset(q->rx) ?:
			      moderato_tx_reset(q->tx);
		WRITE_ONCE(q->rx->program->prog, NULL);
	}
	if (err)
		moderato_give_up(priv);
}

/* Installs new rings, with @prog or without. Return: 0, or an error and nothing
 * has changed. If the hardware has failed, the rings are new, and none runs.
 */
static int moderato_xdp_switch(struct moderato_priv *priv,
			       struct bpf_prog *prog)
{
	const struct moderato_config config = priv->queue[0].config;
	bool present = netif_device_present(priv->ndev);
	struct moderato_xdp *xdp = priv->xdp;
	struct bpf_prog *old = xdp->prog;
	int err;

	/* Other devices may send to it only while its rings are for XDP */
	if (!prog)
		xdp_features_clear_redirect_target(priv->ndev);
	xdp->prog = prog;
	err = moderato_change(priv, &config, priv->ndev->mtu, true, true);
	if (err && present && !netif_device_present(priv->ndev))
		err = 0;
	if (err && !prog) {
		moderato_xdp_keep_rings(priv);
		err = 0;
	}
	if (err)
		xdp->prog = old;
	if (xdp->prog)
		xdp_features_set_redirect_target(priv->ndev, false);
	return err;
}

/* Exchanges the program of running rings */
static void moderato_xdp_replace(struct moderato_priv *priv,
				 struct bpf_prog *prog)
{
	struct moderato_queue *q;

	priv->xdp->prog = prog;
	for (q = priv->queue; q < moderato_used_end(priv); q++)
		if (q->rx)
			WRITE_ONCE(q->rx->program->prog, prog);
}

/* Return: 0, or an error; then nothing has changed */
static int moderato_xdp_setup(struct moderato_priv *priv, struct bpf_prog *prog,
			      struct netlink_ext_ack *extack)
{
	struct bpf_prog *old = priv->xdp->prog;
	int err;

	if (prog && !old) {
		err = moderato_xdp_check(priv, extack);
		if (err)
			return err;
	}
	if (!prog == !old) {
		moderato_xdp_replace(priv, prog);
	} else {
		err = moderato_xdp_switch(priv, prog);
		if (err) {
			NL_SET_ERR_MSG_MOD(extack,
					   "no new rings: is there memory for them?");
			return err;
		}
		/* GRO_HW depends on the program */
		netdev_update_features(priv->ndev);
	}
	/* Polls that still run the program end before bpf_prog_put() frees it */
	if (old)
		bpf_prog_put(old);
	return 0;
}

static int moderato_xdp_bpf(struct net_device *ndev, struct netdev_bpf *bpf)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (bpf->command != XDP_SETUP_PROG)
		return -EINVAL;
	return moderato_xdp_setup(priv, bpf->prog, bpf->extack);
}

/* Metadata of a frame -------------------------------------------------------- */

static int moderato_xdp_rx_timestamp(const struct xdp_md *ctx, u64 *timestamp)
{
	return moderato_xdp_stamp((const void *)ctx, timestamp);
}

static int moderato_xdp_rx_vlan_tag(const struct xdp_md *ctx,
				    __be16 *vlan_proto, u16 *vlan_tci)
{
	return moderato_xdp_tag((const void *)ctx, vlan_proto, vlan_tci);
}

/* For kfuncs of programs bound to the device. Linux returns -EOPNOTSUPP for
 * absent functions; descriptors have no hash.
 */
static void moderato_xdp_metadata(struct moderato_priv *priv)
{
	struct xdp_metadata_ops *ops = &priv->xdp->metadata_ops;

	if (priv->ptp)
		ops->xmo_rx_timestamp = moderato_xdp_rx_timestamp;
	if (priv->features & MODERATO_FEATURES_VLAN)
		ops->xmo_rx_vlan_tag = moderato_xdp_rx_vlan_tag;
	if (ops->xmo_rx_timestamp || ops->xmo_rx_vlan_tag)
		priv->ndev->xdp_metadata_ops = ops;
}

/* Statistics ---------------------------------------------------------------- */

static int moderato_xdp_get_sset_count(struct net_device *ndev, int sset)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	int count = priv->xdp->ethtool_ops.get_sset_count(ndev, sset);

	return sset == ETH_SS_STATS ? count + MODERATO_XDP_COUNTERS : count;
}

static void moderato_xdp_get_strings(struct net_device *ndev, u32 sset,
				     u8 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (sset == ETH_SS_STATS)
		for (int i = 0; i < MODERATO_XDP_COUNTERS; i++)
			ethtool_puts(&data, moderato_xdp_names[i]);
	priv->xdp->ethtool_ops.get_strings(ndev, sset, data);
}

static void moderato_xdp_get_stats(struct net_device *ndev,
				   struct ethtool_stats *stats, u64 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	memset(data, 0, MODERATO_XDP_COUNTERS * sizeof(*data));
	for (int i = 0; i < priv->count; i++)
		moderato_xdp_sum(&priv->xdp->stats[i], data);
	data += MODERATO_XDP_COUNTERS;
	priv->xdp->ethtool_ops.get_ethtool_stats(ndev, stats, data);
}

/* Life ---------------------------------------------------------------------- */

/* Called after all parts but sockets: its operations run before those that the
 * others install
 */
int moderato_xdp_init(struct moderato_priv *priv)
{
	struct moderato_xdp *xdp;

	xdp = devm_kzalloc(priv->dev, sizeof(*xdp), GFP_KERNEL);
	if (!xdp)
		return -ENOMEM;
	for (int i = 0; i < MODERATO_MAX_QUEUES; i++) {
		u64_stats_init(&xdp->stats[i].rx_syncp);
		u64_stats_init(&xdp->stats[i].tx_syncp);
	}
	xdp->netdev_ops = priv->netdev_ops;
	xdp->ethtool_ops = priv->ethtool_ops;
	priv->xdp = xdp;
	moderato_xdp_metadata(priv);

	priv->suits = moderato_xdp_suits;
	priv->ethtool_ops.get_sset_count = moderato_xdp_get_sset_count;
	priv->ethtool_ops.get_strings = moderato_xdp_get_strings;
	priv->ethtool_ops.get_ethtool_stats = moderato_xdp_get_stats;
	if (priv->ethtool_ops.set_rxnfc)
		priv->ethtool_ops.set_rxnfc = moderato_xdp_set_rxnfc;
	priv->netdev_ops.ndo_fix_features = moderato_xdp_fix_features;
	priv->netdev_ops.ndo_bpf = moderato_xdp_bpf;
	priv->netdev_ops.ndo_xdp_xmit = moderato_xdp_xmit;
	priv->ndev->xdp_features = NETDEV_XDP_ACT_BASIC |
				   NETDEV_XDP_ACT_REDIRECT;
	return 0;
}
