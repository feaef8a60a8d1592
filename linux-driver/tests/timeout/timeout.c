// SPDX-License-Identifier: GPL-2.0-only
/* Does what the kernel does when a transmit queue stood still for 5 s, at once:
 * a test can't wait for it, 5 s are 500 M cycles.
 */

#include <linux/module.h>
#include <linux/netdevice.h>

static char *port = "eth0";
module_param(port, charp, 0);

static int __init timeout_init(void)
{
	struct net_device *ndev = dev_get_by_name(&init_net, port);

	if (!ndev)
		return -ENODEV;

	netif_tx_lock_bh(ndev);
	ndev->netdev_ops->ndo_tx_timeout(ndev, 0);
	netif_tx_unlock_bh(ndev);
	dev_put(ndev);
	return 0;
}
module_init(timeout_init);

static void __exit timeout_exit(void)
{
}
module_exit(timeout_exit);

MODULE_DESCRIPTION("Reports a transmit timeout to a network driver");
MODULE_LICENSE("GPL");
