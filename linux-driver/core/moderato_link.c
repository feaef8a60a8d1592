// SPDX-License-Identifier: GPL-2.0-only
/* The link, by phylink */

#include <linux/property.h>

#include "moderato_hw.h"
#include "moderato_tc.h"

/* Nothing to configure: the MAC follows its PHY's clock and knows neither speed
 * nor duplex. phylink tracks the link and the carrier. The driver uses the
 * speed for pause times, and for the time in which frames leave.
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

	moderato_hw_set_pause(priv, 0, false, false);
	WRITE_ONCE(priv->speed, 0);
}

static void moderato_mac_link_up(struct phylink_config *config,
				 struct phy_device *phy, unsigned int mode,
				 phy_interface_t interface, int speed,
				 int duplex, bool tx_pause, bool rx_pause)
{
	struct moderato_priv *priv = netdev_priv(to_net_dev(config->dev));

	moderato_hw_set_pause(priv, speed, tx_pause, rx_pause);
	moderato_tc_set_speed(priv, speed);
	WRITE_ONCE(priv->speed, speed);
}

static const struct phylink_mac_ops moderato_mac_ops = {
	.mac_config = moderato_mac_config,
	.mac_link_down = moderato_mac_link_down,
	.mac_link_up = moderato_mac_link_up,
};

/* Whether RGMII works at 10 and 100 Mb/s */
static bool moderato_has_rates(struct moderato_priv *priv)
{
	return readl(priv->regs + MODERATO_CAPABILITY) &
	       MODERATO_CAPABILITY_RATES;
}

/* Speeds that the MAC can follow; phylink restricts them to those of the
 * interface. RGMII transfers an octet per clock at 1000 Mb/s only, and a nibble
 * below, which not every interface between MAC and pins supports.
 */
static unsigned long moderato_capabilities(struct moderato_priv *priv,
					   phy_interface_t mode)
{
	if (phy_interface_mode_is_rgmii(mode) && !moderato_has_rates(priv))
		return MAC_1000FD;
	return MAC_10FD | MAC_100FD | MAC_1000FD;
}

int moderato_create_phylink(struct moderato_priv *priv)
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
	if (priv->features & MODERATO_FEATURES_PAUSE)
		config->mac_capabilities |= MAC_SYM_PAUSE | MAC_ASYM_PAUSE;
	__set_bit(mode, config->supported_interfaces);

	phylink = phylink_create(config, dev_fwnode(priv->dev), mode,
				 &moderato_mac_ops);
	if (IS_ERR(phylink))
		return dev_err_probe(priv->dev, PTR_ERR(phylink),
				     "cannot create phylink\n");
	priv->phylink = phylink;
	return 0;
}
