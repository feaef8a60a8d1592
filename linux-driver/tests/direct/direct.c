// SPDX-License-Identifier: GPL-2.0-only
/* Sends frames past the stack by a queue that was chosen before, as pktgen and packet
 * sockets do: whether it is still used, nobody looks.
 */

#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>

static char *port = "eth0";
module_param(port, charp, 0);

static unsigned int queue = 1;
module_param(queue, uint, 0);

static unsigned int frames = 1;
module_param(frames, uint, 0);

/* After the header, in a fragment */
static unsigned int octets = 100;
module_param(octets, uint, 0);

static int direct_send(struct net_device *ndev)
{
	struct sk_buff *skb = netdev_alloc_skb(ndev, ETH_HLEN);
	struct page *page;

	if (!skb)
		return -ENOMEM;
	page = alloc_pages(GFP_KERNEL | __GFP_COMP, get_order(octets));
	if (!page) {
		kfree_skb(skb);
		return -ENOMEM;
	}
	eth_zero_addr(skb_put(skb, ETH_ALEN));
	ether_addr_copy(skb_put(skb, ETH_ALEN), ndev->dev_addr);
	put_unaligned_be16(ETH_P_802_EX1, skb_put(skb, 2));
	skb_add_rx_frag(skb, 0, page, 0, octets, PAGE_SIZE << get_order(octets));
	skb->protocol = htons(ETH_P_802_EX1);
	skb_reset_mac_header(skb);
	return dev_direct_xmit(skb, queue);
}

static int __init direct_init(void)
{
	struct net_device *ndev = dev_get_by_name(&init_net, port);
	int err = 0;

	if (!ndev)
		return -ENODEV;
	while (frames-- && !err)
		err = direct_send(ndev);
	dev_put(ndev);
	return err < 0 ? err : 0;
}
module_init(direct_init);

static void __exit direct_exit(void)
{
}
module_exit(direct_exit);

MODULE_DESCRIPTION("Sends frames by a queue that was chosen before");
MODULE_LICENSE("GPL");
