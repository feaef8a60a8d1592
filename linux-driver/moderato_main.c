// SPDX-License-Identifier: GPL-2.0-only
/* Moderato Ethernet MAC: probe and remove, ndo_*, link */

#include <linux/crc32.h>
#include <linux/module.h>
#include <linux/of_net.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/rtnetlink.h>

#include "moderato.h"

/* NAPI, and Tx interrupts that are few but prompt */
static const struct moderato_config moderato_default_config = {
	.rx = { .frames = 1 },
	.tx = { .frames = 32, .usecs = MODERATO_PROMPT_USECS },
	.rx_order = MODERATO_DEFAULT_ORDER,
	.tx_order = MODERATO_DEFAULT_ORDER,
#ifndef MODERATO_CORE
	.rx_napi = true,
	.tx_napi = true,
#endif
};

/* As far as the hardware goes */
static void moderato_set_defaults(struct moderato_priv *priv)
{
	struct moderato_config *config = &priv->config;

	*config = moderato_default_config;
	/* DIM, which it would be otherwise, gains nothing on a single CPU */
	config->adaptive_rx = priv->has_pacing;
	config->rx_order = min(config->rx_order, priv->max_order);
	config->tx_order = min(config->tx_order, priv->max_order);
	moderato_coalesce_fit(&config->rx, config->rx_order, priv->usecs_max);
	moderato_coalesce_fit(&config->tx, config->tx_order, priv->usecs_max);
	priv->ndev->mtu = min(priv->ndev->mtu, priv->ndev->max_mtu);
}

/* Interrupts --------------------------------------------------------------- */

static irqreturn_t moderato_rx_interrupt(int irq, void *data)
{
	struct moderato_priv *priv = data;

#ifdef MODERATO_CORE
	moderato_rx_napi_handle(priv->rx);
#else
	priv->rx->ops->irq(priv->rx);
#endif
	return IRQ_HANDLED;
}

static irqreturn_t moderato_tx_interrupt(int irq, void *data)
{
	struct moderato_priv *priv = data;
#ifdef MODERATO_CORE

	moderato_tx_poll_handle(priv->tx);
#else
	struct moderato_tx *tx = priv->tx;

	WRITE_ONCE(tx->in_irq, true);
	/* Without the strategy's asking: the ring halted, a frame was stamped,
	 * or the strategy was being changed to one without interrupts.
	 */
	if (unlikely(!tx->ops->irq))
#ifdef MODERATO_OFFLOADS
		moderato_tx_none_interrupt(tx);
#else
		moderato_rearm_after(priv, &tx->ring, 0);
#endif
	else
		tx->ops->irq(tx);
	WRITE_ONCE(tx->in_irq, false);
#endif
	return IRQ_HANDLED;
}

/* Disabled until moderato_rx_up() and moderato_tx_up() */
static int moderato_request_irqs(struct moderato_priv *priv)
{
	int err;

#ifdef MODERATO_QUEUES
	const char *number = priv->queue ? "1" : "";

	snprintf(priv->rx_irq_name, sizeof(priv->rx_irq_name), "%s-rx%s",
		 priv->ndev->name, number);
	snprintf(priv->tx_irq_name, sizeof(priv->tx_irq_name), "%s-tx%s",
		 priv->ndev->name, number);
#else
	snprintf(priv->rx_irq_name, sizeof(priv->rx_irq_name), "%s-rx",
		 priv->ndev->name);
	snprintf(priv->tx_irq_name, sizeof(priv->tx_irq_name), "%s-tx",
		 priv->ndev->name);
#endif

	err = request_irq(priv->rx_irq, moderato_rx_interrupt, IRQF_NO_AUTOEN,
			  priv->rx_irq_name, priv);
	if (err)
		return err;
	err = request_irq(priv->tx_irq, moderato_tx_interrupt, IRQF_NO_AUTOEN,
			  priv->tx_irq_name, priv);
	if (err)
		free_irq(priv->rx_irq, priv);
#ifdef MODERATO_QUEUES
	else
		moderato_queues_hint(priv, true);
#endif
	return err;
}

static void moderato_free_irqs(struct moderato_priv *priv)
{
#ifdef MODERATO_QUEUES
	moderato_queues_hint(priv, false);
#endif
	free_irq(priv->tx_irq, priv);
	free_irq(priv->rx_irq, priv);
}

/* Up and down -------------------------------------------------------------- */

static int moderato_create_rings(struct moderato_priv *priv)
{
	const struct moderato_config *config = &priv->config;
	struct moderato_rx *rx;
	struct moderato_tx *tx;

#ifdef MODERATO_CORE
	rx = moderato_rx_create(priv, config->rx_order, priv->ndev->mtu);
#else
	rx = moderato_rx_create(priv, config->rx_order, priv->ndev->mtu,
				moderato_rx_ops(config));
#endif
	if (IS_ERR(rx))
		return PTR_ERR(rx);
	tx = moderato_tx_create(priv, config->tx_order);
	if (IS_ERR(tx)) {
		moderato_rx_destroy(rx);
		return PTR_ERR(tx);
	}
	priv->rx = rx;
	priv->tx = tx;
	return 0;
}

static void moderato_destroy_rings(struct moderato_priv *priv)
{
	moderato_tx_destroy(priv->tx);
	moderato_rx_destroy(priv->rx);
	priv->tx = NULL;
	priv->rx = NULL;
}

/* One queue's rings and interrupts, without which it cannot be up
 *
 * Return: 0, or an error, and nothing is left
 */
int moderato_queue_create(struct moderato_priv *priv)
{
	int err = moderato_create_rings(priv);

	if (err)
		return err;
	err = moderato_request_irqs(priv);
	if (err)
		moderato_destroy_rings(priv);
	return err;
}

/* After it is down, and nobody transmits any more */
void moderato_queue_destroy(struct moderato_priv *priv)
{
#ifdef MODERATO_QUEUES
	struct netdev_queue *queue = netdev_get_tx_queue(priv->ndev,
							 priv->queue);

	/* The watchdog looks at those that are not used, too: such a one is
	 * neither stopped nor does it wait for anything.
	 */
	netdev_tx_reset_queue(queue);
	netif_tx_start_queue(queue);
#endif
	moderato_free_irqs(priv);
	moderato_destroy_rings(priv);
}

/* Return: 0, or an error, and none is left */
static int moderato_create_queues(struct moderato_priv *priv)
{
	struct moderato_priv *q;
	int err;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		err = moderato_queue_create(q);
		if (!err)
			continue;
		while (q-- != priv)
			moderato_queue_destroy(q);
		return err;
	}
	return 0;
}

static void moderato_destroy_queues(struct moderato_priv *priv)
{
	struct moderato_priv *q;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++)
		moderato_queue_destroy(q);
}

void moderato_queue_up(struct moderato_priv *priv)
{
	moderato_rx_up(priv->rx);
	moderato_tx_up(priv->tx);
}

/* Harmless if it is down already. Return: 0, or an error if some DMA does not
 * stop
 */
int moderato_queue_down(struct moderato_priv *priv)
{
	int tx_err = moderato_tx_down(priv->tx);
	int rx_err = moderato_rx_down(priv->rx);

#ifndef MODERATO_CORE
	moderato_rx_timer_cancel(priv);
#endif
	return tx_err ?: rx_err;
}

static void moderato_up(struct moderato_priv *priv)
{
	struct moderato_priv *q;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++)
		moderato_queue_up(q);
}

static int moderato_down(struct moderato_priv *priv)
{
	struct moderato_priv *q;
	int err = 0;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++)
		err = moderato_queue_down(q) ?: err;
	return err;
}

static int moderato_open(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	int err;

	err = moderato_create_queues(priv);
	if (err)
		return err;
	err = phylink_of_phy_connect(priv->phylink, priv->dev->of_node, 0);
	if (err) {
		moderato_destroy_queues(priv);
		return err;
	}

	moderato_hw_set_mtu(priv, ndev->mtu);
	moderato_up(priv);
	moderato_stats_start(priv);
	phylink_start(priv->phylink);
	return 0;
}

/* Frames on the Tx ring leave while there is a link */
static int moderato_stop(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (moderato_down(priv))
		moderato_give_up(priv);
	phylink_stop(priv->phylink);
	phylink_disconnect_phy(priv->phylink);
	moderato_stats_stop(priv);
	moderato_destroy_queues(priv);
	return 0;
}

/* Reset -------------------------------------------------------------------- */

/* A ring that halts again and again is not reset more often than that: it must
 * not keep the CPU from everything else.
 */
#define MODERATO_RESET_INTERVAL	(HZ / 10)

static void moderato_schedule_reset(struct moderato_priv *priv, int bit)
{
	struct moderato_priv *first = moderato_first(priv);
	unsigned long delay = READ_ONCE(first->reset_next) - jiffies;

	set_bit(bit, &priv->resets);
	schedule_delayed_work(&first->reset_task,
			      delay <= MODERATO_RESET_INTERVAL ? delay : 0);
}

/* Return: whether the ring is halted; then its reset is on the way */
bool moderato_reset_if_halted(struct moderato_priv *priv,
			      const struct moderato_ring *ring)
{
	if (!moderato_ring_halted(priv, ring))
		return false;
	/* What is not re-armed keeps its line up */
	moderato_disarm(ring);
	moderato_schedule_reset(priv, ring->dir->reset);
	return true;
}

static void moderato_tx_timeout(struct net_device *ndev, unsigned int queue)
{
	struct moderato_priv *priv = netdev_priv(ndev);

#ifdef MODERATO_OFFLOADS
	priv += queue;
#endif
	moderato_schedule_reset(priv, MODERATO_RESET_TX);
}

/* Whether the ring is to be reset; counts and tells if it halted */
static bool moderato_reset_wanted(struct moderato_priv *priv,
				  const struct moderato_ring *ring)
{
	if (!test_bit(ring->dir->reset, &priv->resets))
		return false;

	if (moderato_ring_halted(priv, ring)) {
		moderato_first(priv)->halts++;
		if (net_ratelimit())
			netdev_err(priv->ndev,
				   "%s ring halted by a bus error: reset\n",
				   ring->dir->name);
	}
	return true;
}

static void moderato_reset_task(struct work_struct *work)
{
	struct moderato_priv *priv = container_of(to_delayed_work(work),
						  struct moderato_priv,
						  reset_task);
#ifdef MODERATO_OFFLOADS
	struct moderato_priv *q;
#endif
	int err = 0;

	rtnl_lock();
	WRITE_ONCE(priv->reset_next, jiffies + MODERATO_RESET_INTERVAL);
	if (netif_running(priv->ndev) && netif_device_present(priv->ndev)) {
#ifdef MODERATO_OFFLOADS
		for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
			if (!err && moderato_reset_wanted(q, &q->tx->ring))
				err = moderato_tx_reset(q->tx);
			if (!err && moderato_reset_wanted(q, &q->rx->ring))
				err = moderato_rx_reset(q->rx);
		}
#else
		if (moderato_reset_wanted(priv, &priv->tx->ring))
			err = moderato_tx_reset(priv->tx);
		if (!err && moderato_reset_wanted(priv, &priv->rx->ring))
			err = moderato_rx_reset(priv->rx);
#endif
		if (err)
			moderato_give_up(priv);
	}
	rtnl_unlock();
}

/* After a DMA did not stop: no ring is started any more, since the hardware
 * would go on with its old indices. Whoever asks is told that the device is
 * not there.
 */
void moderato_give_up(struct moderato_priv *priv)
{
	netdev_err(priv->ndev, "out of order until the hardware is reset\n");
	netif_device_detach(priv->ndev);
	moderato_down(priv);
}

/* Settings ----------------------------------------------------------------- */

/* Rings that are to take the places of those of the queues that are used */
struct moderato_spare {
	struct moderato_rx *rx[MODERATO_MAX_QUEUES];
	struct moderato_tx *tx[MODERATO_MAX_QUEUES];
};

/* Those that do not go into the place of another one */
static void moderato_spare_destroy(struct moderato_spare *spare)
{
	for (int i = 0; i < MODERATO_MAX_QUEUES; i++) {
		if (spare->rx[i])
			moderato_rx_destroy(spare->rx[i]);
		if (spare->tx[i])
			moderato_tx_destroy(spare->tx[i]);
	}
}

/* Return: 0, or an error, and there are none */
static int moderato_spare_create(struct moderato_priv *priv,
				 struct moderato_spare *spare,
				 const struct moderato_config *config,
				 unsigned int mtu, bool with_rx, bool with_tx)
{
	struct moderato_priv *q;
	struct moderato_rx *rx;
	struct moderato_tx *tx;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		if (with_rx) {
#ifdef MODERATO_CORE
			rx = moderato_rx_create(q, config->rx_order, mtu);
#else
			rx = moderato_rx_create(q, config->rx_order, mtu,
						moderato_rx_ops(config));
#endif
			if (IS_ERR(rx)) {
				moderato_spare_destroy(spare);
				return PTR_ERR(rx);
			}
			spare->rx[q - priv] = rx;
		}
		if (with_tx) {
			tx = moderato_tx_create(q, config->tx_order);
			if (IS_ERR(tx)) {
				moderato_spare_destroy(spare);
				return PTR_ERR(tx);
			}
			spare->tx[q - priv] = tx;
		}
	}
	return 0;
}

/* In place of the running ones, which are moved out */
static int moderato_spare_install_rx(struct moderato_priv *priv,
				     struct moderato_spare *spare)
{
	struct moderato_priv *q;
	int err = 0;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		struct moderato_rx *rx = spare->rx[q - priv];

		if (rx && !err) {
			spare->rx[q - priv] = NULL;
			err = moderato_rx_install(q, rx);
		}
	}
	return err;
}

static int moderato_spare_install_tx(struct moderato_priv *priv,
				     struct moderato_spare *spare)
{
	struct moderato_priv *q;
	int err = 0;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++) {
		struct moderato_tx *tx = spare->tx[q - priv];

		if (tx && !err) {
			spare->tx[q - priv] = NULL;
			err = moderato_tx_install(q, tx);
		}
	}
	return err;
}

/* Of all queues, also of those that are not used now. Their moderation is each
 * one's own; that in @config is the first one's.
 */
static void moderato_configure(struct moderato_priv *priv,
			       const struct moderato_config *config)
{
#ifdef MODERATO_QUEUES
	struct moderato_priv *q;

	for (q = moderato_first(priv) + 1; q < moderato_queues_end(priv); q++) {
		struct moderato_config own = *config;

		own.rx = q->config.rx;
		own.tx = q->config.tx;
		own.rx_cqe = q->config.rx_cqe;
		own.tx_cqe = q->config.tx_cqe;
		own.adaptive_rx = q->config.adaptive_rx;
		own.adaptive_tx = q->config.adaptive_tx;
#ifndef MODERATO_CORE
		own.poll_usecs = q->config.poll_usecs;
#endif
		q->config = own;
	}
#endif
	priv->config = *config;
}

/* Puts @config and @mtu into effect, with new rings where they are needed. First
 * comes all that can fail; then the configuration; then the rings, which follow
 * it from their first interrupt on.
 *
 * Return: 0, or an error, and nothing is changed; unless that is a DMA that does
 * not stop, after which nothing runs any more
 */
int moderato_change(struct moderato_priv *priv,
		    const struct moderato_config *config, unsigned int mtu,
		    bool with_rx, bool with_tx)
{
	bool running = netif_running(priv->ndev);
	struct moderato_spare spare = {};
	int err;

	if (running) {
		err = moderato_spare_create(priv, &spare, config, mtu, with_rx,
					    with_tx);
		if (err)
			return err;
	}

	moderato_configure(priv, config);
	err = moderato_spare_install_rx(priv, &spare);
	if (!err && mtu != priv->ndev->mtu) {
		if (running)
			moderato_hw_set_mtu(priv, mtu);
		WRITE_ONCE(priv->ndev->mtu, mtu);
	}
	err = err ?: moderato_spare_install_tx(priv, &spare);
	moderato_spare_destroy(&spare);
	return err;
}

static void moderato_set_rx_mode(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct netdev_hw_addr *ha;
	u64 hash = 0;
	u32 set = 0;

	if (ndev->flags & IFF_PROMISC)
		set |= MODERATO_CTRL_PROMISCUOUS;
	if (ndev->flags & IFF_ALLMULTI)
		set |= MODERATO_CTRL_ALLMULTI;
#ifdef MODERATO_OFFLOADS
	if (!moderato_hw_set_unicast(priv))
		set |= MODERATO_CTRL_PROMISCUOUS;
#endif
	netdev_for_each_mc_addr(ha, ndev)
		hash |= BIT_ULL(ether_crc(ETH_ALEN, ha->addr) >> 26);

	moderato_hw_set_hash(priv, hash);
	moderato_hw_ctrl(priv, MODERATO_CTRL_PROMISCUOUS |
			 MODERATO_CTRL_ALLMULTI, set);
}

#ifdef MODERATO_OFFLOADS
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

/* The others of hw_features need no more than that they are there */
static int moderato_set_features(struct net_device *ndev,
				 netdev_features_t features)
{
	moderato_hw_set_vlan(netdev_priv(ndev), features);
	return 0;
}

/* All that the hardware knows of VLANs: what it has may be of a boot loader */
static void moderato_vlan_apply(struct moderato_priv *priv)
{
	if (priv->features & MODERATO_FEATURES_VLAN_FILTER)
		for (unsigned int row = 0; row < ARRAY_SIZE(priv->vlans); row++)
			moderato_hw_set_vlan_row(priv, row);
	moderato_hw_set_vlan(priv, priv->ndev->features);
}

#endif
/* What the hardware forgets when it loses power; the rings bring their own */
static void moderato_restore(struct moderato_priv *priv)
{
	struct net_device *ndev = priv->ndev;

	moderato_hw_set_address(priv, ndev->dev_addr);
	moderato_hw_set_mtu(priv, ndev->mtu);
	netif_addr_lock_bh(ndev);
	moderato_set_rx_mode(ndev);
	netif_addr_unlock_bh(ndev);
#ifdef MODERATO_OFFLOADS
	moderato_vlan_apply(priv);
#endif
#ifndef MODERATO_CORE
	moderato_flow_apply(priv);
#endif
#ifdef MODERATO_QUEUES
	moderato_queues_apply(priv);
#endif
	moderato_stats_resync(priv);
#ifdef MODERATO_TIMESTAMPS
	moderato_ptp_start(priv);
#endif
}

static int moderato_set_mac_address(struct net_device *ndev, void *address)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	int err;

	err = eth_mac_addr(ndev, address);
	if (err)
		return err;
	moderato_hw_set_address(priv, ndev->dev_addr);
	return 0;
}

static int moderato_change_mtu(struct net_device *ndev, int mtu)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	const struct moderato_config config = priv->config;

#ifdef MODERATO_OFFLOADS
	/* Tx rings for the buffers that they have */
	return moderato_change(priv, &config, mtu, true,
			       moderato_has_jumbo(priv));
#else
	return moderato_change(priv, &config, mtu, true, false);
#endif
}

#ifdef MODERATO_CORE
static int moderato_eth_ioctl(struct net_device *ndev, struct ifreq *ifr,
			      int cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return phylink_mii_ioctl(priv->phylink, ifr, cmd);
}

#endif
#ifndef MODERATO_CORE
#ifdef CONFIG_NET_POLL_CONTROLLER
static void moderato_poll_controller(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_priv *q;

	for (q = moderato_first(priv); q < moderato_used_end(priv); q++)
		moderato_tx_netpoll(q->tx);
}
#endif

#endif
static const struct net_device_ops moderato_netdev_ops = {
	.ndo_open = moderato_open,
	.ndo_stop = moderato_stop,
	.ndo_start_xmit = moderato_start_xmit,
	.ndo_tx_timeout = moderato_tx_timeout,
	.ndo_set_rx_mode = moderato_set_rx_mode,
	.ndo_set_mac_address = moderato_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = moderato_change_mtu,
#ifdef MODERATO_CORE
	.ndo_eth_ioctl = moderato_eth_ioctl,
#endif
#ifdef MODERATO_TIMESTAMPS
#ifdef MODERATO_LINUX_6_1
	.ndo_eth_ioctl = moderato_ptp_ioctl,
#else
	.ndo_hwtstamp_get = moderato_hwtstamp_get,
	.ndo_hwtstamp_set = moderato_hwtstamp_set,
#endif
#endif
	.ndo_get_stats64 = moderato_get_stats64,
	.ndo_fix_features = moderato_fix_features,
#ifdef MODERATO_OFFLOADS
#ifdef MODERATO_GATHER
	.ndo_features_check = moderato_features_check,
#endif
	.ndo_set_features = moderato_set_features,
	.ndo_vlan_rx_add_vid = moderato_vlan_rx_add_vid,
	.ndo_vlan_rx_kill_vid = moderato_vlan_rx_kill_vid,
#endif
#ifndef MODERATO_CORE
#ifdef CONFIG_NET_POLL_CONTROLLER
	.ndo_poll_controller = moderato_poll_controller,
#endif
#endif
};

/* Link --------------------------------------------------------------------- */

/* The MAC follows its PHY's clock and knows neither speed nor duplex, so that
 * phylink has nothing to set here: it tracks the link and the carrier. The
 * speed says how long frames take to leave, and pauses last.
 */
static void moderato_mac_config(struct phylink_config *config,
				unsigned int mode,
				const struct phylink_link_state *state)
{
}

static void moderato_mac_link_down(struct phylink_config *config,
				   unsigned int mode, phy_interface_t interface)
{
	struct moderato_priv *priv = netdev_priv(to_net_dev(config->dev));

#ifdef MODERATO_OFFLOADS
	moderato_hw_set_pause(priv, 0, false, false);
#endif
	WRITE_ONCE(priv->speed, 0);
}

static void moderato_mac_link_up(struct phylink_config *config,
				 struct phy_device *phy, unsigned int mode,
				 phy_interface_t interface, int speed,
				 int duplex, bool tx_pause, bool rx_pause)
{
	struct moderato_priv *priv = netdev_priv(to_net_dev(config->dev));

#ifdef MODERATO_OFFLOADS
	moderato_hw_set_pause(priv, speed, tx_pause, rx_pause);
#endif
	WRITE_ONCE(priv->speed, speed);
}

static const struct phylink_mac_ops moderato_mac_ops = {
#ifdef MODERATO_LINUX_6_1
	.validate = phylink_generic_validate,
#endif
	.mac_config = moderato_mac_config,
	.mac_link_down = moderato_mac_link_down,
	.mac_link_up = moderato_mac_link_up,
};

/* Whether RGMII works at 10 and 100 Mb/s */
static bool moderato_has_rates(struct moderato_priv *priv)
{
#ifndef MODERATO_CORE
	/* nobody could say that this is the link's speed */
	if (!IS_ENABLED(CONFIG_MDIO_BITBANG))
		return false;

#endif
	return readl(priv->regs + MODERATO_CAPABILITY) &
	       MODERATO_CAPABILITY_RATES;
}

/* What the MAC can follow, of which phylink takes what the interface can carry.
 * RGMII has an octet per clock at 1000 Mb/s only, and a nibble below, which not
 * every interface between MAC and pins knows.
 */
static unsigned long moderato_capabilities(struct moderato_priv *priv,
					   phy_interface_t mode)
{
	if (phy_interface_mode_is_rgmii(mode) && !moderato_has_rates(priv))
		return MAC_1000FD;
	return MAC_10FD | MAC_100FD | MAC_1000FD;
}

static int moderato_create_phylink(struct moderato_priv *priv)
{
	struct phylink_config *config = &priv->phylink_config;
	struct phylink *phylink;
	int mode;

	mode = device_get_phy_mode(priv->dev);
	if (mode < 0)
		return dev_err_probe(priv->dev, mode,
				     "phy-mode is missing or unknown\n");

	config->dev = &priv->ndev->dev;
	config->type = PHYLINK_NETDEV;
	config->mac_capabilities = moderato_capabilities(priv, mode);
#ifdef MODERATO_OFFLOADS
	if (priv->features & MODERATO_FEATURES_PAUSE)
		config->mac_capabilities |= MAC_SYM_PAUSE | MAC_ASYM_PAUSE;
#endif
	__set_bit(mode, config->supported_interfaces);

	phylink = phylink_create(config, dev_fwnode(priv->dev), mode,
				 &moderato_mac_ops);
	if (IS_ERR(phylink))
		return dev_err_probe(priv->dev, PTR_ERR(phylink),
				     "cannot create phylink\n");
	priv->phylink = phylink;
	return 0;
}

/* Probe and remove --------------------------------------------------------- */

static int moderato_get_resources(struct platform_device *pdev,
				  struct moderato_priv *priv)
{
	priv->regs = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(priv->regs))
		return PTR_ERR(priv->regs);
	priv->rx_irq = platform_get_irq_byname(pdev, "rx");
	if (priv->rx_irq < 0)
		return priv->rx_irq;
	priv->tx_irq = platform_get_irq_byname(pdev, "tx");
	if (priv->tx_irq < 0)
		return priv->tx_irq;
	return dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(32));
}

static int moderato_get_address(struct moderato_priv *priv)
{
	int err = of_get_ethdev_address(priv->dev->of_node, priv->ndev);

	/* The address may be in a memory that is not there yet */
	if (err == -EPROBE_DEFER)
		return err;
	if (err) {
		eth_hw_addr_random(priv->ndev);
		dev_warn(priv->dev, "no MAC address, using random %pM\n",
			 priv->ndev->dev_addr);
	}
	moderato_hw_set_address(priv, priv->ndev->dev_addr);
	return 0;
}

static int moderato_probe(struct platform_device *pdev)
{
	struct moderato_priv *priv, *q;
	struct net_device *ndev;
	int err;

#ifdef MODERATO_OFFLOADS
	ndev = devm_alloc_etherdev_mqs(&pdev->dev,
				       sizeof(*priv) * MODERATO_MAX_QUEUES,
				       MODERATO_MAX_QUEUES,
				       MODERATO_MAX_QUEUES);
#else
	ndev = devm_alloc_etherdev(&pdev->dev, sizeof(*priv));
#endif
	if (!ndev)
		return -ENOMEM;
	SET_NETDEV_DEV(ndev, &pdev->dev);
	platform_set_drvdata(pdev, ndev);

	priv = netdev_priv(ndev);
	priv->ndev = ndev;
	priv->dev = &pdev->dev;
#ifdef MODERATO_OFFLOADS
	priv->first = priv;
	priv->queues = 1;
	priv->max_queues = 1;
#endif
	spin_lock_init(&priv->ctrl_lock);
	INIT_DELAYED_WORK(&priv->reset_task, moderato_reset_task);
	priv->reset_next = jiffies;

	err = moderato_get_resources(pdev, priv);
	if (err)
		return err;
	err = moderato_hw_init(priv);
	if (err)
		return err;
	moderato_set_defaults(priv);
#ifdef MODERATO_QUEUES
	err = moderato_queues_init(priv);
	if (err)
		return err;
#endif
#ifndef MODERATO_CORE
	moderato_flow_apply(priv);
#endif
	err = moderato_get_address(priv);
	if (err)
		return err;
	err = moderato_create_phylink(priv);
	if (err)
		return err;
	moderato_stats_init(priv);
#ifndef MODERATO_CORE
	for (q = moderato_first(priv); q < moderato_queues_end(priv); q++)
		moderato_rx_timer_init(q);
#endif
	err = moderato_dim_init(priv);
	if (err)
		goto err_phylink;

	ndev->netdev_ops = &moderato_netdev_ops;
	ndev->ethtool_ops = &moderato_ethtool_ops;
#ifdef MODERATO_OFFLOADS
#ifndef MODERATO_LINUX_6_1
	ndev->stat_ops = &moderato_stat_ops;
#endif
#endif
	ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
#ifdef MODERATO_OFFLOADS
	ndev->priv_flags |= IFF_UNICAST_FLT;
#endif
	moderato_tx_features(ndev);
#ifdef MODERATO_OFFLOADS
	moderato_vlan_apply(priv);
#endif
#ifdef MODERATO_CORE
	for (q = moderato_first(priv); q < moderato_queues_end(priv); q++) {
		netif_napi_add(ndev, &q->napi, moderato_napi_poll);
		netif_napi_set_irq(&q->napi, q->rx_irq);
	}
#else
	for (q = moderato_first(priv); q < moderato_queues_end(priv); q++)
		netif_napi_add_weight(ndev, &q->napi, moderato_napi_poll,
				      MODERATO_NAPI_WEIGHT);
#endif
#ifndef MODERATO_CORE
	for (q = moderato_first(priv); q < moderato_queues_end(priv); q++)
		if (IS_ENABLED(CONFIG_SMP))
			moderato_shared_init(q);
#endif

#ifdef MODERATO_QUEUES
	err = moderato_queues_publish(priv);
	if (err)
		goto err_dim;
#endif
	netif_carrier_off(ndev);
#ifdef MODERATO_TIMESTAMPS
	err = moderato_ptp_init(priv);
	if (err)
		goto err_dim;
#endif
	err = register_netdev(ndev);
	if (err)
#ifdef MODERATO_TIMESTAMPS
		goto err_ptp;
#else
		goto err_dim;
#endif
#ifdef MODERATO_OFFLOADS
	moderato_queues_spread(priv);
#endif
	return 0;

#ifdef MODERATO_TIMESTAMPS
err_ptp:
	moderato_ptp_free(priv);
#endif
err_dim:
	moderato_dim_free(priv);
err_phylink:
	phylink_destroy(priv->phylink);
	return err;
}

static void moderato_remove(struct platform_device *pdev)
{
	struct net_device *ndev = platform_get_drvdata(pdev);
	struct moderato_priv *priv = netdev_priv(ndev);

	unregister_netdev(ndev);
#ifdef MODERATO_TIMESTAMPS
	moderato_ptp_free(priv);
#endif
	cancel_delayed_work_sync(&priv->reset_task);
	moderato_dim_free(priv);
	phylink_destroy(priv->phylink);
}

/* The DMA must not write to the memory of the kernel that comes next */
static void moderato_shutdown(struct platform_device *pdev)
{
	struct net_device *ndev = platform_get_drvdata(pdev);

	rtnl_lock();
	netif_device_detach(ndev);
	dev_close(ndev);
	rtnl_unlock();
}

/* Sleep -------------------------------------------------------------------- */

static int moderato_sleep(struct moderato_priv *priv)
{
	int err;

	ASSERT_RTNL();
	moderato_stats_stop(priv);
	netif_device_detach(priv->ndev);
	if (!netif_running(priv->ndev))
		return 0;

	err = moderato_down(priv);
	if (err) {
		moderato_give_up(priv);
		return err;
	}
	phylink_suspend(priv->phylink, false);
	return 0;
}

static int moderato_wake(struct moderato_priv *priv)
{
	struct moderato_priv *q;
	int err;

	ASSERT_RTNL();
	err = moderato_hw_reset(priv);
	if (err)
		return err;

	moderato_restore(priv);
	if (netif_running(priv->ndev)) {
		for (q = moderato_first(priv); q < moderato_used_end(priv); q++)
			moderato_rx_fill(q->rx);
		moderato_up(priv);
		moderato_stats_start(priv);
		phylink_resume(priv->phylink);
	}
	netif_device_attach(priv->ndev);
	return 0;
}

static int moderato_suspend(struct device *dev)
{
	int err;

	rtnl_lock();
	err = moderato_sleep(netdev_priv(dev_get_drvdata(dev)));
	rtnl_unlock();
	return err;
}

static int moderato_resume(struct device *dev)
{
	int err;

	rtnl_lock();
	err = moderato_wake(netdev_priv(dev_get_drvdata(dev)));
	rtnl_unlock();
	return err;
}

static DEFINE_SIMPLE_DEV_PM_OPS(moderato_pm_ops, moderato_suspend,
				moderato_resume);

static const struct of_device_id moderato_of_match[] = {
	{ .compatible = "moderato,mac-1.0" },
	{ }
};
MODULE_DEVICE_TABLE(of, moderato_of_match);

static struct platform_driver moderato_driver = {
	.driver = {
		.name = KBUILD_MODNAME,
		.of_match_table = moderato_of_match,
		.pm = pm_sleep_ptr(&moderato_pm_ops),
	},
	.probe = moderato_probe,
#ifdef MODERATO_LINUX_6_1
	.remove_new = moderato_remove,
#else
	.remove = moderato_remove,
#endif
	.shutdown = moderato_shutdown,
};
module_platform_driver(moderato_driver);

MODULE_DESCRIPTION("Moderato Ethernet MAC with interrupt moderation");
MODULE_LICENSE("GPL");
