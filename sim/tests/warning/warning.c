// SPDX-License-Identifier: GPL-2.0-only
/* A module that warns when it is loaded, to see that the guest's WARN works. */
#include <linux/module.h>

static int __init warning_init(void)
{
	WARN(1, "as asked\n");
	return 0;
}

static void __exit warning_exit(void)
{
}

module_init(warning_init);
module_exit(warning_exit);
MODULE_DESCRIPTION("Warns when loaded");
MODULE_LICENSE("GPL");
