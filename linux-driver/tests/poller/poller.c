// SPDX-License-Identifier: GPL-2.0-only
/* Polls a port as the kernel does for a message that finds its transmit queue full:
 * interrupts off, budget 0. A message does so only once in a while. Needs netconsole
 * on the port.
 */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/netpoll.h>

static char *port = "eth0";
module_param(port, charp, 0);

static unsigned int polls = 50;
module_param(polls, uint, 0);

static int __init poll_init(void)
{
	struct net_device *ndev = dev_get_by_name(&init_net, port);
	unsigned long flags;
	unsigned int n;

	if (!ndev)
		return -ENODEV;

	for (n = 0; n < polls; n++) {
		local_irq_save(flags);
		netpoll_poll_dev(ndev);
		local_irq_restore(flags);
		udelay(100);
	}
	dev_put(ndev);
	return 0;
}
module_init(poll_init);

static void __exit poll_exit(void)
{
}
module_exit(poll_exit);

MODULE_DESCRIPTION("Polls a network port with interrupts off");
MODULE_LICENSE("GPL");
