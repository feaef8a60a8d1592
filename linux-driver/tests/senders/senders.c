// SPDX-License-Identifier: GPL-2.0-only
/* Sends by a port past the stack, from the registration of the interface to its end,
 * whatever happens to the port meanwhile:
 *
 * direct: __dev_direct_xmit(), of sockets that bypass the qdisc, or have copies (AF_XDP)
 * generic: as generic_xdp_tx(), which does not ask whether the port runs
 * netpoll: as __netpoll_send_skb(), in a hard interrupt
 *
 * Each counts the frames that the driver took. The first two take turns at all queues,
 * used or not.
 */

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/netdevice.h>

static unsigned int period_us = 2000;
module_param(period_us, uint, 0);

static char *port = "eth0";
module_param(port, charp, 0);

static unsigned int direct, generic, netpoll;
module_param(direct, uint, 0444);
module_param(generic, uint, 0444);
module_param(netpoll, uint, 0444);

static struct net_device *dev;
static struct task_struct *thread;
static struct hrtimer timer;

/* Each fourth one has a fragment: the driver copies it, or the hardware gathers it */
static struct sk_buff *frame(unsigned int n, unsigned int queue)
{
	struct sk_buff *skb = alloc_skb(128, GFP_ATOMIC);
	struct page *page = NULL;

	if (!skb)
		return NULL;
	if (n % 4 == 0)
		page = alloc_page(GFP_ATOMIC);
	skb_reserve(skb, 16);
	eth_broadcast_addr(skb_put(skb, ETH_ALEN));
	ether_addr_copy(skb_put(skb, ETH_ALEN), dev->dev_addr);
	put_unaligned_be16(ETH_P_802_EX1, skb_put(skb, 2));
	if (page)
		skb_add_rx_frag(skb, 0, page, 0, 60, PAGE_SIZE);
	else
		skb_put_zero(skb, 60);
	skb->protocol = htons(ETH_P_802_EX1);
	skb->dev = dev;
	skb_reset_mac_header(skb);
	skb_set_queue_mapping(skb, queue);
	return skb;
}

static void send_direct(struct sk_buff *skb, unsigned int queue)
{
	int err = __dev_direct_xmit(skb, queue);

	if (err == NETDEV_TX_BUSY)
		kfree_skb(skb);
	else if (err == NETDEV_TX_OK)
		direct++;
}

static void send_generic(struct sk_buff *skb, unsigned int queue)
{
	struct netdev_queue *txq = netdev_get_tx_queue(dev, queue);
	netdev_tx_t status = NETDEV_TX_BUSY;

	local_bh_disable();
	HARD_TX_LOCK(dev, txq, smp_processor_id());
	if (!netif_xmit_frozen_or_drv_stopped(txq))
		status = netdev_start_xmit(skb, dev, txq, false);
	HARD_TX_UNLOCK(dev, txq);
	local_bh_enable();
	if (status == NETDEV_TX_OK)
		generic++;
	else
		kfree_skb(skb);
}

static void send_netpoll(unsigned int n)
{
	unsigned int queue = n % dev->real_num_tx_queues;
	struct netdev_queue *txq = netdev_get_tx_queue(dev, queue);
	netdev_tx_t status = NETDEV_TX_BUSY;
	struct sk_buff *skb;

	if (!netif_running(dev) || !netif_device_present(dev))
		return;
	skb = frame(n, queue);
	if (!skb)
		return;
	/* Without SMP, spinlocks are empty, and each trylock succeeds, even inside of a
	 * transmission; the owner is still set. With DEBUG_SPINLOCK, a trylock that fails
	 * is reported as a bug.
	 */
	if (READ_ONCE(txq->xmit_lock_owner) < 0 && !spin_is_locked(&txq->_xmit_lock) &&
	    __netif_tx_trylock(txq)) {
		if (!netif_xmit_stopped(txq))
			status = netdev_start_xmit(skb, dev, txq, false);
		__netif_tx_unlock(txq);
	}
	if (dev_xmit_complete(status))
		netpoll++;
	else
		dev_kfree_skb_irq(skb);
}

static enum hrtimer_restart tick(struct hrtimer *t)
{
	static unsigned int n;

	send_netpoll(n++);
	hrtimer_forward_now(t, ns_to_ktime(period_us * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static int run(void *data)
{
	for (unsigned int n = 0; !kthread_should_stop(); n++) {
		unsigned int queue = n / 2 % dev->num_tx_queues;
		struct sk_buff *skb = frame(n / 4, queue);

		if (skb && n % 2)
			send_direct(skb, queue);
		else if (skb)
			send_generic(skb, queue);
		usleep_range(period_us, 2 * period_us);
	}
	return 0;
}

static void begin(struct net_device *to)
{
	dev = to;
	dev_hold(dev);
	thread = kthread_run(run, NULL, "senders");
	hrtimer_start(&timer, 0, HRTIMER_MODE_REL_HARD);
}

static void end(void)
{
	hrtimer_cancel(&timer);
	if (!IS_ERR(thread))
		kthread_stop(thread);
	dev_put(dev);
	dev = NULL;
}

static int event(struct notifier_block *nb, unsigned long what, void *ptr)
{
	struct net_device *of = netdev_notifier_info_to_dev(ptr);

	if (what == NETDEV_REGISTER && !dev && !strcmp(of->name, port))
		begin(of);
	else if (what == NETDEV_UNREGISTER && of == dev)
		end();
	return NOTIFY_DONE;
}

static struct notifier_block events = { .notifier_call = event };

static int __init senders_init(void)
{
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = tick;
	return register_netdevice_notifier(&events);
}
module_init(senders_init);

/* Linux reports each interface as gone */
static void __exit senders_exit(void)
{
	unregister_netdevice_notifier(&events);
}
module_exit(senders_exit);

MODULE_DESCRIPTION("Sends by a port past the stack");
MODULE_LICENSE("GPL");
