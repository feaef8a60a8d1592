// SPDX-License-Identifier: GPL-2.0-only
/* MDIO of a LiteEth PHY: software drives the wires by the registers of
 * LiteEthPHYMDIO. The kernel finds PHY chips by this bus.
 */

#include <linux/io.h>
#include <linux/mdio-bitbang.h>
#include <linux/module.h>
#include <linux/of_mdio.h>
#include <linux/platform_device.h>

#define MDIO_LITEX_OUT		0x0
#define MDIO_LITEX_OUT_MDC	BIT(0)
#define MDIO_LITEX_OUT_ENABLE	BIT(1)
#define MDIO_LITEX_OUT_DATA	BIT(2)
#define MDIO_LITEX_IN		0x4
#define MDIO_LITEX_IN_DATA	BIT(0)

struct mdio_litex {
	struct mdiobb_ctrl ctrl;
	void __iomem *regs;
	u32 out;
};

/* phylib's lock serializes access to the bus */
static void mdio_litex_change(struct mdiobb_ctrl *ctrl, u32 bit, int set)
{
	struct mdio_litex *mdio = container_of(ctrl, struct mdio_litex, ctrl);

	mdio->out = set ? mdio->out | bit : mdio->out & ~bit;
	writel(mdio->out, mdio->regs + MDIO_LITEX_OUT);
}

static void mdio_litex_set_mdc(struct mdiobb_ctrl *ctrl, int level)
{
	mdio_litex_change(ctrl, MDIO_LITEX_OUT_MDC, level);
}

static void mdio_litex_set_dir(struct mdiobb_ctrl *ctrl, int output)
{
	mdio_litex_change(ctrl, MDIO_LITEX_OUT_ENABLE, output);
}

static void mdio_litex_set_data(struct mdiobb_ctrl *ctrl, int value)
{
	mdio_litex_change(ctrl, MDIO_LITEX_OUT_DATA, value);
}

static int mdio_litex_get_data(struct mdiobb_ctrl *ctrl)
{
	struct mdio_litex *mdio = container_of(ctrl, struct mdio_litex, ctrl);

	return !!(readl(mdio->regs + MDIO_LITEX_IN) & MDIO_LITEX_IN_DATA);
}

static const struct mdiobb_ops mdio_litex_ops = {
	.owner = THIS_MODULE,
	.set_mdc = mdio_litex_set_mdc,
	.set_mdio_dir = mdio_litex_set_dir,
	.set_mdio_data = mdio_litex_set_data,
	.get_mdio_data = mdio_litex_get_data,
};

static void mdio_litex_free(void *bus)
{
	free_mdio_bitbang(bus);
}

static void mdio_litex_unregister(void *bus)
{
	mdiobus_unregister(bus);
}

static int mdio_litex_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct mdio_litex *mdio;
	struct mii_bus *bus;
	int err;

	mdio = devm_kzalloc(dev, sizeof(*mdio), GFP_KERNEL);
	if (!mdio)
		return -ENOMEM;
	mdio->regs = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(mdio->regs))
		return PTR_ERR(mdio->regs);
	mdio->ctrl.ops = &mdio_litex_ops;

	bus = alloc_mdio_bitbang(&mdio->ctrl);
	if (!bus)
		return -ENOMEM;
	err = devm_add_action_or_reset(dev, mdio_litex_free, bus);
	if (err)
		return err;
	bus->name = "LiteEth MDIO";
	bus->parent = dev;
	snprintf(bus->id, sizeof(bus->id), "%s", dev_name(dev));

	err = of_mdiobus_register(bus, dev->of_node);
	if (err)
		return dev_err_probe(dev, err, "cannot register the bus\n");
	return devm_add_action_or_reset(dev, mdio_litex_unregister, bus);
}

static const struct of_device_id mdio_litex_match[] = {
	{ .compatible = "litex,liteeth-mdio" },
	{ }
};
MODULE_DEVICE_TABLE(of, mdio_litex_match);

static struct platform_driver mdio_litex_driver = {
	.probe = mdio_litex_probe,
	.driver = {
		.name = "mdio-litex",
		.of_match_table = mdio_litex_match,
	},
};
module_platform_driver(mdio_litex_driver);

MODULE_DESCRIPTION("MDIO of LiteEth's PHYs");
MODULE_LICENSE("GPL");
