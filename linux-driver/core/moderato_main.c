// SPDX-License-Identifier: GPL-2.0-only
/* Moderato Ethernet MAC: probe and remove, net device operations */

#include <linux/crc32.h>
#include <linux/module.h>
#include <linux/of_net.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/rtnetlink.h>

#include "moderato_channels.h"
#include "moderato_dim.h"
#include "moderato_hw.h"

/* Defaults: NAPI; few Tx interrupts, but prompt ones */
static const struct moderato_config moderato_default_config = {
	.rx = { .frames = 1 },
	.tx = { .frames = 32, .usecs = MODERATO_PROMPT_USECS },
	.rx_order = MODERATO_DEFAULT_ORDER,
	.tx_order = MODERATO_DEFAULT_ORDER,
	.rx_ops = &moderato_rx_napi_ops,
	.tx_ops = &moderato_tx_poll_ops,
};

/* Adapts the defaults to the hardware */
static void moderato_set_defaults(struct moderato_priv *priv)
{
	struct moderato_config config = moderato_default_config;

	/* Without pacing, adaptive-rx would select DIM, which gains nothing on
	 * a single CPU
	 */
	config.adaptive_rx = priv->has_pacing;
	config.paces = priv->has_pacing;
	config.rx_order = min(config.rx_order, priv->max_order);
	config.tx_order = min(config.tx_order, priv->max_order);
	moderato_coalesce_fit(&config.rx, config.rx_order, priv->usecs_max);
	moderato_coalesce_fit(&config.tx, config.tx_order, priv->usecs_max);
	for (int i = 0; i < priv->ndev->num_rx_queues; i++)
		priv->queue[i].config = config;
	priv->ndev->mtu = min(priv->ndev->mtu, priv->ndev->max_mtu);
}

/* Up and down -------------------------------------------------------------- */

/* Return: 0, or an error; then no queue is left */
static int moderato_create_queues(struct moderato_priv *priv)
{
	struct moderato_queue *q;
	int err;

	for (q = priv->queue; q < moderato_used_end(priv); q++) {
		err = moderato_queue_create(q);
		if (!err)
			continue;
		while (q-- != priv->queue)
			moderato_queue_destroy(q);
		return err;
	}
	return 0;
}

static void moderato_destroy_queues(struct moderato_priv *priv)
{
	struct moderato_queue *q;

	for (q = priv->queue; q < moderato_used_end(priv); q++)
		moderato_queue_destroy(q);
}

static void moderato_up(struct moderato_priv *priv)
{
	struct moderato_queue *q;

	for (q = priv->queue; q < moderato_used_end(priv); q++)
		moderato_queue_up(q);
}

static int moderato_down(struct moderato_priv *priv)
{
	struct moderato_queue *q;
	int err = 0;

	for (q = priv->queue; q < moderato_used_end(priv); q++)
		err = moderato_queue_down(q) ?: err;
	return err;
}

/* Starts unused queues of a running port: Linux' watchdog would mistake a
 * stopped queue for one that hangs. The driver drops frames sent to them.
 */
void moderato_start_unused(struct moderato_priv *priv)
{
	for (unsigned int i = priv->used; i < priv->ndev->num_tx_queues; i++)
		netif_tx_start_queue(netdev_get_tx_queue(priv->ndev, i));
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
	moderato_start_unused(priv);
	moderato_stats_start(priv);
	phylink_start(priv->phylink);
	return 0;
}

/* With a link, frames on the Tx ring still leave */
static int moderato_stop(struct net_device *ndev)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	/* Queues without rings, too. A poll may wake the others until they are
	 * down.
	 */
	netif_tx_disable(ndev);
	if (moderato_down(priv))
		moderato_give_up(priv);
	phylink_stop(priv->phylink);
	phylink_disconnect_phy(priv->phylink);
	moderato_stats_stop(priv);
	moderato_destroy_queues(priv);
	return 0;
}

/* Reset -------------------------------------------------------------------- */

/* Shortest time between two resets of a ring that keeps halting, so that resets
 * do not take all of the CPU
 */
#define MODERATO_RESET_INTERVAL	(HZ / 10)

static void moderato_schedule_reset(struct moderato_priv *priv, int bit)
{
	unsigned long delay = READ_ONCE(priv->reset_next) - jiffies;

	set_bit(bit, &priv->resets);
	schedule_delayed_work(&priv->reset_task,
			      delay <= MODERATO_RESET_INTERVAL ? delay : 0);
}

/* Return: whether the ring is halted; then its reset is scheduled */
bool moderato_reset_if_halted(struct moderato_priv *priv,
			      const struct moderato_ring *ring)
{
	if (!moderato_ring_halted(priv, ring))
		return false;
	/* A ring that is not re-armed keeps its interrupt line high */
	moderato_disarm(ring);
	moderato_schedule_reset(priv, ring->dir->reset);
	return true;
}

static void moderato_tx_timeout(struct net_device *ndev, unsigned int queue)
{
	moderato_schedule_reset(netdev_priv(ndev),
				moderato_tx_directions[queue].reset);
}

/* Whether the ring needs a reset; counts and logs a halt */
static bool moderato_reset_wanted(struct moderato_priv *priv,
				  const struct moderato_ring *ring)
{
	if (!test_bit(ring->dir->reset, &priv->resets))
		return false;

	if (moderato_ring_halted(priv, ring)) {
		priv->halts++;
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
	struct moderato_queue *q;
	int err = 0;

	rtnl_lock();
	WRITE_ONCE(priv->reset_next, jiffies + MODERATO_RESET_INTERVAL);
	if (netif_running(priv->ndev) && netif_device_present(priv->ndev)) {
		for (q = priv->queue; q < moderato_used_end(priv); q++) {
			if (!err && moderato_reset_wanted(priv, &q->tx->ring))
				err = moderato_tx_reset(q->tx);
			if (!err && moderato_reset_wanted(priv, &q->rx->ring))
				err = moderato_rx_reset(q->rx);
		}
		if (err)
			moderato_give_up(priv);
	}
	rtnl_unlock();
}

/* Gives up the device after a DMA did not stop: no ring may start again, since
 * the hardware would continue with its old indices. Commands report that the
 * device is absent.
 */
void moderato_give_up(struct moderato_priv *priv)
{
	netdev_err(priv->ndev, "out of order until the hardware is reset\n");
	netif_device_detach(priv->ndev);
	moderato_down(priv);
}

/* Settings ----------------------------------------------------------------- */

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
	if (!moderato_hw_set_unicast(priv))
		set |= MODERATO_CTRL_PROMISCUOUS;
	netdev_for_each_mc_addr(ha, ndev)
		hash |= BIT_ULL(ether_crc(ETH_ALEN, ha->addr) >> 26);

	moderato_hw_set_hash(priv, hash);
	moderato_hw_ctrl(priv, MODERATO_CTRL_PROMISCUOUS |
			 MODERATO_CTRL_ALLMULTI, set);
}

/* Writes the registers that lose their values without power; rings write their
 * own
 */
static void moderato_restore(struct moderato_priv *priv)
{
	struct net_device *ndev = priv->ndev;

	moderato_hw_set_address(priv, ndev->dev_addr);
	moderato_hw_set_mtu(priv, ndev->mtu);
	netif_addr_lock_bh(ndev);
	moderato_set_rx_mode(ndev);
	netif_addr_unlock_bh(ndev);
	moderato_stats_resync(priv);
	moderato_features_restore(priv);
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
	const struct moderato_config config = priv->queue[0].config;

	/* New Tx rings, if their copy buffers are too small */
	return moderato_change(priv, &config, mtu, true,
			       moderato_has_jumbo(priv));
}

static int moderato_eth_ioctl(struct net_device *ndev, struct ifreq *ifr,
			      int cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	return phylink_mii_ioctl(priv->phylink, ifr, cmd);
}

static const struct net_device_ops moderato_netdev_ops = {
	.ndo_open = moderato_open,
	.ndo_stop = moderato_stop,
	.ndo_start_xmit = moderato_start_xmit,
	.ndo_tx_timeout = moderato_tx_timeout,
	.ndo_set_rx_mode = moderato_set_rx_mode,
	.ndo_set_mac_address = moderato_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = moderato_change_mtu,
	.ndo_eth_ioctl = moderato_eth_ioctl,
	.ndo_get_stats64 = moderato_get_stats64,
	.ndo_fix_features = moderato_fix_features,
};

/* Probe and remove --------------------------------------------------------- */

static int moderato_get_resources(struct platform_device *pdev,
				  struct moderato_priv *priv)
{
	struct moderato_queue *first = priv->queue;

	first->rx_irq = platform_get_irq_byname(pdev, "rx");
	if (first->rx_irq < 0)
		return first->rx_irq;
	first->tx_irq = platform_get_irq_byname(pdev, "tx");
	if (first->tx_irq < 0)
		return first->tx_irq;
	return dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(32));
}

static int moderato_get_address(struct moderato_priv *priv)
{
	int err = of_get_ethdev_address(priv->dev->of_node, priv->ndev);

	/* The memory with the address may not have probed yet */
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

/* The net device, with all queues that the hardware may have; one is used at
 * first
 */
static struct net_device *moderato_alloc(struct platform_device *pdev,
					 void __iomem *regs)
{
	unsigned int queues = moderato_hw_queues(regs);
	struct moderato_priv *priv;
	struct net_device *ndev;

	ndev = devm_alloc_etherdev_mqs(&pdev->dev,
				       struct_size(priv, queue, queues),
				       queues, queues);
	if (!ndev)
		return NULL;
	SET_NETDEV_DEV(ndev, &pdev->dev);
	platform_set_drvdata(pdev, ndev);

	priv = netdev_priv(ndev);
	priv->regs = regs;
	priv->ndev = ndev;
	priv->dev = &pdev->dev;
	priv->used = 1;
	priv->count = 1;
	for (int i = 0; i < queues; i++) {
		priv->queue[i].priv = priv;
		priv->queue[i].index = i;
	}
	spin_lock_init(&priv->ctrl_lock);
	INIT_DELAYED_WORK(&priv->reset_task, moderato_reset_task);
	priv->reset_next = jiffies;
	return ndev;
}

static int moderato_probe(struct platform_device *pdev)
{
	struct moderato_priv *priv;
	struct moderato_queue *q;
	struct net_device *ndev;
	void __iomem *regs;
	int err;

	regs = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(regs))
		return PTR_ERR(regs);
	ndev = moderato_alloc(pdev, regs);
	if (!ndev)
		return -ENOMEM;

	priv = netdev_priv(ndev);
	err = moderato_get_resources(pdev, priv);
	if (err)
		return err;
	err = moderato_hw_init(priv);
	if (err)
		return err;
	moderato_set_defaults(priv);
	err = moderato_get_address(priv);
	if (err)
		return err;
	err = moderato_create_phylink(priv);
	if (err)
		return err;

	priv->netdev_ops = moderato_netdev_ops;
	ndev->netdev_ops = &priv->netdev_ops;
	ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_UNICAST_FLT;
	err = moderato_features_init(priv);
	if (err)
		goto err_phylink;
	moderato_stats_init(priv);
	err = moderato_dim_init(priv);
	if (err)
		goto err_features;
	moderato_tx_features(ndev);
	for (q = priv->queue; q < moderato_queues_end(priv); q++)
		moderato_napi_add(q);

	netif_set_real_num_tx_queues(ndev, priv->used);
	err = netif_set_real_num_rx_queues(ndev, priv->used);
	if (err)
		goto err_dim;
	netif_carrier_off(ndev);
	/* Queues have no rings until the port is up */
	netif_tx_stop_all_queues(ndev);
	err = register_netdev(ndev);
	if (err)
		goto err_dim;
	moderato_channels_spread(priv);
	return 0;

err_dim:
	moderato_dim_free(priv);
err_features:
	moderato_features_free(priv);
err_phylink:
	phylink_destroy(priv->phylink);
	return err;
}

static void moderato_remove(struct platform_device *pdev)
{
	struct net_device *ndev = platform_get_drvdata(pdev);
	struct moderato_priv *priv = netdev_priv(ndev);

	unregister_netdev(ndev);
	cancel_delayed_work_sync(&priv->reset_task);
	moderato_dim_free(priv);
	moderato_features_free(priv);
	phylink_destroy(priv->phylink);
}

/* The DMA must not write to the next kernel's memory */
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
	struct moderato_queue *q;
	int err;

	ASSERT_RTNL();
	err = moderato_hw_reset(priv);
	if (err)
		return err;

	moderato_restore(priv);
	if (netif_running(priv->ndev)) {
		for (q = priv->queue; q < moderato_used_end(priv); q++)
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
	.remove = moderato_remove,
	.shutdown = moderato_shutdown,
};
module_platform_driver(moderato_driver);

MODULE_DESCRIPTION("Moderato Ethernet MAC with interrupt moderation");
MODULE_LICENSE("GPL");
