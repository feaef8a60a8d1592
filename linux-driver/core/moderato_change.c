// SPDX-License-Identifier: GPL-2.0-only
/* Changes of settings, also under traffic: every step that can fail comes first
 */

#include "moderato_hw.h"

/* Rings that will replace those of the used queues */
struct moderato_spare {
	struct moderato_rx *rx[MODERATO_MAX_QUEUES];
	struct moderato_tx *tx[MODERATO_MAX_QUEUES];
};

/* Frees the rings that were not installed */
static void moderato_spare_destroy(struct moderato_spare *spare)
{
	for (int i = 0; i < MODERATO_MAX_QUEUES; i++) {
		if (spare->rx[i])
			moderato_rx_destroy(spare->rx[i]);
		if (spare->tx[i])
			moderato_tx_destroy(spare->tx[i]);
	}
}

/* Return: 0, or an error; then no ring is left */
static int moderato_spare_create(struct moderato_priv *priv,
				 struct moderato_spare *spare,
				 const struct moderato_config *config,
				 unsigned int mtu, bool with_rx, bool with_tx)
{
	struct moderato_queue *q;
	struct moderato_rx *rx;
	struct moderato_tx *tx;

	for (q = priv->queue; q < moderato_used_end(priv); q++) {
		if (with_rx) {
			rx = moderato_rx_create(q, config->rx_order, mtu,
						config->rx_ops);
			if (IS_ERR(rx)) {
				moderato_spare_destroy(spare);
				return PTR_ERR(rx);
			}
			spare->rx[q->index] = rx;
		}
		if (with_tx) {
			tx = moderato_tx_create(q, config->tx_order);
			if (IS_ERR(tx)) {
				moderato_spare_destroy(spare);
				return PTR_ERR(tx);
			}
			spare->tx[q->index] = tx;
		}
	}
	return 0;
}

/* Installs @rx in place of the running ring. After moderato_give_up(), the
 * queue is down and @rx does not start either.
 */
static int moderato_spare_put_rx(struct moderato_queue *q,
				 struct moderato_rx *rx)
{
	struct moderato_rx *old = q->rx;

	if (netif_device_present(q->priv->ndev))
		return moderato_rx_install(q, rx);
	q->rx = rx;
	moderato_rx_destroy(old);
	return 0;
}

static int moderato_spare_put_tx(struct moderato_queue *q,
				 struct moderato_tx *tx)
{
	struct moderato_tx *old = q->tx;

	if (netif_device_present(q->priv->ndev))
		return moderato_tx_install(q, tx);
	q->tx = tx;
	/* As in moderato_tx_install() */
	synchronize_net();
	moderato_tx_destroy(old);
	return 0;
}

/* Swaps the running rings with the new ones */
static int moderato_spare_install_rx(struct moderato_priv *priv,
				     struct moderato_spare *spare)
{
	struct moderato_queue *q;
	int err = 0;

	for (q = priv->queue; q < moderato_used_end(priv); q++) {
		struct moderato_rx *rx = spare->rx[q->index];

		if (!rx)
			continue;
		spare->rx[q->index] = NULL;
		err = moderato_spare_put_rx(q, rx) ?: err;
	}
	return err;
}

static int moderato_spare_install_tx(struct moderato_priv *priv,
				     struct moderato_spare *spare)
{
	struct moderato_queue *q;
	int err = 0;

	for (q = priv->queue; q < moderato_used_end(priv); q++) {
		struct moderato_tx *tx = spare->tx[q->index];

		if (!tx)
			continue;
		spare->tx[q->index] = NULL;
		err = moderato_spare_put_tx(q, tx) ?: err;
	}
	return err;
}

/* Configures all queues, unused ones included. Each queue keeps its own
 * moderation; that of @config is the first queue's.
 */
static void moderato_configure(struct moderato_priv *priv,
			       const struct moderato_config *config)
{
	struct moderato_queue *q;

	for (q = priv->queue + 1; q < moderato_queues_end(priv); q++) {
		q->config.rx_order = config->rx_order;
		q->config.tx_order = config->tx_order;
		q->config.rx_ops = config->rx_ops;
		q->config.tx_ops = config->tx_ops;
		q->config.paces = config->paces;
	}
	priv->queue[0].config = *config;
}

/* Puts @config and @mtu into effect, with new rings where they are needed.
 * Every step that can fail comes first, then the configuration, then the rings,
 * which follow it from their first interrupt on.
 *
 * Return: 0, or an error and nothing has changed. If a DMA does not stop,
 * everything has changed and the device is given up.
 */
int moderato_change(struct moderato_priv *priv,
		    const struct moderato_config *config, unsigned int mtu,
		    bool with_rx, bool with_tx)
{
	bool running = netif_running(priv->ndev);
	struct moderato_spare spare = {};
	int rx_err, tx_err, err;

	if (priv->suits && !priv->suits(priv, config, mtu))
		return -EBUSY;
	if (running) {
		err = moderato_spare_create(priv, &spare, config, mtu, with_rx,
					    with_tx);
		if (err)
			return err;
	}

	moderato_configure(priv, config);
	rx_err = moderato_spare_install_rx(priv, &spare);
	if (mtu != priv->ndev->mtu) {
		if (running)
			moderato_hw_set_mtu(priv, mtu);
		WRITE_ONCE(priv->ndev->mtu, mtu);
	}
	tx_err = moderato_spare_install_tx(priv, &spare);
	return rx_err ?: tx_err;
}

