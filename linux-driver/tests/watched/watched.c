// SPDX-License-Identifier: GPL-2.0-only
/* At the end of moderato_main.c in some tests; see watched.py.
 *
 * fail: the n-th allocation from now on fails; 0: none
 * starve: each n-th buffer for a received frame fails; 0: none
 * poll: microseconds between two polls of each port as netpoll does them, with
 *	 interrupts off, whatever else goes on; 0: none
 * panic: that many messages leave eth1 with interrupts off, as netconsole sends them in a
 *	  panic; an error if one finds no room
 * state: what a user chose, and what there is for it; reading it warns if
 *	  something does not fit, or is not at rest
 */

#include "moderato_variants.h"

static int watched_fail;
module_param_named(fail, watched_fail, int, 0644);

static unsigned int watched_starve, watched_taken;
module_param_named(starve, watched_starve, uint, 0644);

bool watched_fails(void)
{
	return in_task() && watched_fail > 0 && !--watched_fail;
}

bool watched_starves(void)
{
	return !in_task() && watched_starve &&
	       !(++watched_taken % watched_starve);
}

/* What netpoll looks at before it polls, and what its lock keeps it out of */
static void watched_poll_port(struct net_device *ndev)
{
	if (!netif_running(ndev) || !(ndev->flags & IFF_UP))
		return;
	moderato_poll_controller(ndev);
}

static unsigned int watched_poll;
static struct hrtimer watched_timer;

static struct net_device *watched_port(const char *name)
{
	struct net_device *ndev = dev_get_by_name_rcu(&init_net, name);

	if (!ndev || ndev->netdev_ops->ndo_open != moderato_open)
		return NULL;
	return ndev;
}

static enum hrtimer_restart watched_expired(struct hrtimer *timer)
{
	static const char * const names[] = { "eth0", "eth1" };

	rcu_read_lock();
	for (int i = 0; i < ARRAY_SIZE(names); i++)
		if (watched_port(names[i]))
			watched_poll_port(watched_port(names[i]));
	rcu_read_unlock();
	hrtimer_forward_now(timer, ns_to_ktime(watched_poll * 1000ULL));
	return HRTIMER_RESTART;
}

static int watched_set_poll(const char *text, const struct kernel_param *param)
{
	int err = param_set_uint(text, param);

	if (watched_timer.function)
		hrtimer_cancel(&watched_timer);
	hrtimer_init(&watched_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	watched_timer.function = watched_expired;
	if (!err && watched_poll)
		hrtimer_start(&watched_timer, ns_to_ktime(watched_poll * 1000ULL),
			      HRTIMER_MODE_REL_HARD);
	return err;
}

static const struct kernel_param_ops watched_poll_ops = {
	.set = watched_set_poll,
	.get = param_get_uint,
};
module_param_cb(poll, &watched_poll_ops, &watched_poll, 0644);

static struct sk_buff *watched_message(struct net_device *ndev)
{
	struct sk_buff *skb = alloc_skb(ETH_ZLEN, GFP_ATOMIC);

	if (!skb)
		return NULL;
	eth_broadcast_addr(skb_put(skb, ETH_ALEN));
	ether_addr_copy(skb_put(skb, ETH_ALEN), ndev->dev_addr);
	put_unaligned_be16(ETH_P_802_EX1, skb_put(skb, 2));
	skb_put_zero(skb, ETH_ZLEN - ETH_HLEN);
	skb->dev = ndev;
	return skb;
}

/* As __netpoll_send_skb(), for 10 ms at most */
static int watched_say(struct net_device *ndev)
{
	struct netdev_queue *txq = netdev_get_tx_queue(ndev, 0);
	struct sk_buff *skb = watched_message(ndev);
	netdev_tx_t status = NETDEV_TX_BUSY;

	for (int tries = 200; skb && tries && status == NETDEV_TX_BUSY; tries--) {
		if (!netif_xmit_stopped(txq) && __netif_tx_trylock(txq)) {
			status = netdev_start_xmit(skb, ndev, txq, false);
			__netif_tx_unlock(txq);
			continue;
		}
		moderato_poll_controller(ndev);
		udelay(50);
	}
	if (status == NETDEV_TX_BUSY)
		kfree_skb(skb);
	return status == NETDEV_TX_BUSY ? -EBUSY : 0;
}

static int watched_set_panic(const char *text, const struct kernel_param *param)
{
	struct net_device *ndev;
	unsigned int messages;
	unsigned long flags;
	int err = kstrtouint(text, 0, &messages);

	rcu_read_lock();
	ndev = watched_port("eth1");
	local_irq_save(flags);
	while (!err && messages--)
		err = watched_say(ndev);
	local_irq_restore(flags);
	rcu_read_unlock();
	return err;
}

static const struct kernel_param_ops watched_panic_ops = {
	.set = watched_set_panic,
};
module_param_cb(panic, &watched_panic_ops, NULL, 0200);

/* Judgement ---------------------------------------------------------------- */

static struct netdev_queue *watched_queue(struct moderato_queue *q)
{
	return netdev_get_tx_queue(q->priv->ndev, q->index);
}

/* @up: its port runs */
static void watched_resting(struct moderato_queue *q, bool up)
{
	struct netdev_queue *queue = watched_queue(q);
	u32 enables = moderato_rx_dir(q)->enable | moderato_tx_dir(q)->enable;

	WARN_ON(q->rx || q->tx);
	WARN_ON(timer_pending(&q->delay->tick) ||
		hrtimer_active(&q->delay->timer));
	WARN_ON(work_busy(&q->rx_dim.work) || work_busy(&q->tx_dim.work));
	WARN_ON(irq_has_action(q->rx_irq) || irq_has_action(q->tx_irq));
	WARN_ON(readl(q->priv->regs + MODERATO_CTRL) & enables);
	/* Stopped, but where the watchdog looks at it */
	WARN_ON(netif_tx_queue_stopped(queue) == up);
	WARN_ON(netif_xmit_stopped(queue) && up);
#ifdef CONFIG_BQL
	WARN_ON(queue->dql.num_queued != queue->dql.num_completed);
#endif
}

static void watched_ring(struct moderato_queue *q,
			 const struct moderato_ring *ring, u8 order)
{
	u32 frames = readl(ring->regs + MODERATO_DIR_FRAMES);

	WARN_ON(!ring->running || ring->stuck);
	WARN_ON(ring->order != order);
	WARN_ON(readl(ring->regs + MODERATO_DIR_RING_ORDER) != order);
	WARN_ON(readl(ring->regs + MODERATO_DIR_RING_BASE) != (u32)ring->dma);
	/* Otherwise it fills up before the interrupt */
	WARN_ON(frames > moderato_size(order) / 2);
}

static void watched_running(struct moderato_queue *q)
{
	const struct moderato_config *config = &q->config;
	u32 frames = readl(q->rx->ring.regs + MODERATO_DIR_FRAMES);

	watched_ring(q, &q->rx->ring, config->rx_order);
	watched_ring(q, &q->tx->ring, config->tx_order);
	WARN_ON(q->rx->ops != config->rx_ops);
	WARN_ON(!moderato_rx_paced(config) && !moderato_rx_dim(config) &&
		frames != config->rx.frames);
	WARN_ON(!irq_has_action(q->rx_irq) || !irq_has_action(q->tx_irq));
	WARN_ON(q->rx->room < q->priv->ndev->mtu + MODERATO_OVERHEAD);
}

/* What is one setting has to be the same in each queue */
static void watched_same(const struct moderato_queue *q)
{
	const struct moderato_config *a = &q->priv->queue[0].config;
	const struct moderato_config *b = &q->config;

	WARN_ON(a->rx_order != b->rx_order || a->tx_order != b->tx_order);
	WARN_ON(a->rx_ops != b->rx_ops || a->tx_ops != b->tx_ops ||
		a->paces != b->paces);
	WARN_ON(moderato_coalesce_check(&b->rx, b->rx_order, q->priv->usecs_max));
	WARN_ON(moderato_coalesce_check(&b->tx, b->tx_order, q->priv->usecs_max));
}

static int watched_port_state(struct net_device *ndev, char *to, int room)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	bool up = netif_running(ndev) && netif_device_present(ndev);
	struct moderato_queue *q;
	int len;

	len = scnprintf(to, room, "%s up %d mtu %u used %ld", ndev->name, up,
			ndev->mtu, (long)(moderato_used_end(priv) - priv->queue));
	WARN_ON(ndev->real_num_tx_queues != priv->used);
	WARN_ON(ndev->real_num_rx_queues != priv->used);
	WARN_ON(!up && delayed_work_pending(&priv->hw_stats.work));
	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		const struct moderato_config *config = &q->config;

		watched_same(q);
		if (up && q < moderato_used_end(priv))
			watched_running(q);
		else
			watched_resting(q, up);
		len += scnprintf(to + len, room - len,
				 " rings %px %px order %u %u strategies %px %px %d adaptive %d%d moderation %*phN %*phN %u",
				 q->rx, q->tx, config->rx_order,
				 config->tx_order, config->rx_ops, config->tx_ops,
				 config->paces,
				 config->adaptive_rx, config->adaptive_tx,
				 (int)sizeof(config->rx), &config->rx,
				 (int)sizeof(config->tx), &config->tx,
				 config->poll_usecs);
	}
	return len;
}

static int watched_get_state(char *to, const struct kernel_param *param)
{
	int len = 0;

	rtnl_lock();
	rcu_read_lock();
	for (int i = 0; i < 2; i++) {
		struct net_device *ndev = watched_port(i ? "eth1" : "eth0");

		if (ndev)
			len += watched_port_state(ndev, to + len,
						  PAGE_SIZE - len);
	}
	rcu_read_unlock();
	rtnl_unlock();
	return len + scnprintf(to + len, PAGE_SIZE - len, "\n");
}

static const struct kernel_param_ops watched_state_ops = {
	.get = watched_get_state,
};
module_param_cb(state, &watched_state_ops, NULL, 0444);
