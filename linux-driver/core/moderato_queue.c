// SPDX-License-Identifier: GPL-2.0-only
/* One queue: its rings and interrupts, up and down */

#include "moderato_channels.h"
#include "moderato_priv.h"

/* Interrupts --------------------------------------------------------------- */

static irqreturn_t moderato_rx_interrupt(int irq, void *data)
{
	struct moderato_queue *q = data;

	q->rx->ops->irq(q->rx);
	return IRQ_HANDLED;
}

static irqreturn_t moderato_tx_interrupt(int irq, void *data)
{
	struct moderato_queue *q = data;

	q->tx->ops->irq(q->tx);
	return IRQ_HANDLED;
}

/* The interrupts stay disabled until moderato_rx_up() and moderato_tx_up() */
static int moderato_request_irqs(struct moderato_queue *q)
{
	const char *name = q->priv->ndev->name;
	const char *number = q->index ? "1" : "";
	int err;

	snprintf(q->rx_irq_name, sizeof(q->rx_irq_name), "%s-rx%s", name,
		 number);
	snprintf(q->tx_irq_name, sizeof(q->tx_irq_name), "%s-tx%s", name,
		 number);

	err = request_irq(q->rx_irq, moderato_rx_interrupt, IRQF_NO_AUTOEN,
			  q->rx_irq_name, q);
	if (err)
		return err;
	err = request_irq(q->tx_irq, moderato_tx_interrupt, IRQF_NO_AUTOEN,
			  q->tx_irq_name, q);
	if (err) {
		free_irq(q->rx_irq, q);
		return err;
	}
	moderato_channels_hint(q, true);
	return 0;
}

static void moderato_free_irqs(struct moderato_queue *q)
{
	moderato_channels_hint(q, false);
	free_irq(q->tx_irq, q);
	free_irq(q->rx_irq, q);
}

/* Life --------------------------------------------------------------------- */

static int moderato_create_rings(struct moderato_queue *q)
{
	const struct moderato_config *config = &q->config;
	struct moderato_rx *rx;
	struct moderato_tx *tx;

	rx = moderato_rx_create(q, config->rx_order, q->priv->ndev->mtu,
				config->rx_ops);
	if (IS_ERR(rx))
		return PTR_ERR(rx);
	tx = moderato_tx_create(q, config->tx_order);
	if (IS_ERR(tx)) {
		moderato_rx_destroy(rx);
		return PTR_ERR(tx);
	}
	q->rx = rx;
	q->tx = tx;
	return 0;
}

static void moderato_destroy_rings(struct moderato_queue *q)
{
	moderato_tx_destroy(q->tx);
	moderato_rx_destroy(q->rx);
	q->tx = NULL;
	q->rx = NULL;
}

/* Creates rings and requests interrupts.
 *
 * Return: 0, or an error; then nothing is left
 */
int moderato_queue_create(struct moderato_queue *q)
{
	int err = moderato_create_rings(q);

	if (err)
		return err;
	err = moderato_request_irqs(q);
	if (err)
		moderato_destroy_rings(q);
	return err;
}

/* Called after moderato_queue_down(). The queue stays stopped, so that no
 * sender uses freed rings.
 */
void moderato_queue_destroy(struct moderato_queue *q)
{
	netdev_tx_reset_queue(q->tx->txq);
	moderato_free_irqs(q);
	moderato_destroy_rings(q);
}

void moderato_queue_up(struct moderato_queue *q)
{
	moderato_rx_up(q->rx);
	moderato_tx_up(q->tx);
}

/* Does nothing if the queue is down already.
 *
 * Return: 0, or an error if a DMA does not stop
 */
int moderato_queue_down(struct moderato_queue *q)
{
	int tx_err = moderato_tx_down(q->tx);
	int rx_err = moderato_rx_down(q->rx);

	moderato_features_queue_down(q);
	return tx_err ?: rx_err;
}
