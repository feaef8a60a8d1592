// SPDX-License-Identifier: GPL-2.0-only
/* Zero-copy AF_XDP (xsk_rx.c, xsk_tx.c): while sockets are bound to a queue and
 * there is a program, its rings use the sockets' memory. The rings restart, but
 * are not replaced, so that the end of a socket allocates nothing and cannot
 * fail.
 */

#include <net/xdp_sock_drv.h>

#include "moderato_xdp.h"

/* The driver synchronizes each buffer when it uses it */
#define MODERATO_XSK_DMA	DMA_ATTR_SKIP_CPU_SYNC

/* Rings --------------------------------------------------------------------- */

/* Called with the first buffer, once the ring's size is known */
static bool moderato_xsk_rx_fill(struct moderato_rx *rx,
				 struct moderato_rx_buf *buf, gfp_t gfp)
{
	struct moderato_xdp_rx *program = rx->program;

	if (!program->zero)
		program->zero = kvcalloc(moderato_size(rx->ring.order),
					 sizeof(*program->zero), GFP_KERNEL);
	return program->zero && moderato_xdp_fill(rx, buf, gfp);
}

int moderato_xsk_rx_create(struct moderato_rx *rx)
{
	if (rx->program)
		rx->fill = moderato_xsk_rx_fill;
	return 0;
}

/* The memory that a queue's rings use; NULL: their own */
static struct xsk_buff_pool *moderato_xsk_pool(const struct moderato_queue *q)
{
	const struct moderato_xdp *xdp = q->priv->xdp;

	return xdp->prog ? xdp->xsk[q->index].pool : NULL;
}

/* An application with few chunks, or a slow one, must not pause the link for
 * ever
 */
static void moderato_xsk_pause_less(struct moderato_priv *priv)
{
	if (priv->features & MODERATO_FEATURES_PAUSE)
		for (int i = 0; i < priv->count; i++)
			if (moderato_xsk_pool(&priv->queue[i]))
				writel(0, priv->regs + MODERATO_PAUSE_RING);
}

/* Called without polls, which use the pool, too */
void moderato_xsk_queue_down(struct moderato_queue *q)
{
	struct moderato_xsk *xsk = &q->priv->xdp->xsk[q->index];

	if (xsk->rx)
		moderato_xsk_empty(xsk->rx);
	xsk->rx = NULL;
}

void moderato_xsk_rx_up(struct moderato_rx *rx)
{
	struct moderato_queue *q = rx->queue;
	struct xsk_buff_pool *pool = moderato_xsk_pool(q);
	u32 size = moderato_size(rx->ring.order);
	u32 control;

	/* Memory of this ring, or of the one that it replaces */
	moderato_xsk_queue_down(q);
	if (!rx->program)
		return;
	moderato_xsk_pause_less(q->priv);
	rx->program->pool = pool;
	if (!pool)
		return;
	q->priv->xdp->xsk[q->index].rx = rx;

	/* Chunks may be shorter than frames that other stations send */
	control = FIELD_PREP(MODERATO_DESC_CONTROL_LENGTH,
			     min(rx->room,
				 xsk_pool_get_rx_frame_size(pool)));
	for (u32 slot = 0; slot < size; slot++)
		rx->ring.desc[slot].control = cpu_to_le32(control);
	/* The first poll fills the slots; with polled Tx it comes at once */
	rx->ring.producer = 0;
	WRITE_ONCE(q->napi.poll, moderato_xsk_poll);
}

static void moderato_xsk_kick(struct moderato_queue *q)
{
	local_bh_disable();
	napi_schedule(&q->napi);
	local_bh_enable();
}

void moderato_xsk_tx_up(struct moderato_tx *tx)
{
	struct moderato_queue *q = tx->queue;
	struct xsk_buff_pool *pool = moderato_xsk_pool(q);

	/* This ring sends skbs only */
	if (!tx->drop_frame)
		return;
	__netif_tx_lock_bh(tx->txq);
	tx->pool = pool;
	tx->planned = pool ? moderato_xsk_take : moderato_xdp_take;
	tx->drop_frame = pool ? moderato_xsk_drop : moderato_xdp_drop;
	__netif_tx_unlock_bh(tx->txq);
	/* Sends what sockets have requested before */
	if (pool)
		moderato_xsk_kick(q);
}

/* Sockets ------------------------------------------------------------------- */

/* Restarts @q's rings with the memory that it has now. Return: 0, or an error
 * if a DMA does not stop
 */
static int moderato_xsk_switch(struct moderato_queue *q)
{
	struct moderato_priv *priv = q->priv;
	int err;

	if (!netif_running(priv->ndev) || !netif_device_present(priv->ndev) ||
	    !priv->xdp->prog)
		return 0;
	err = moderato_rx_reset(q->rx) ?: moderato_tx_reset(q->tx);
	if (err)
		moderato_give_up(priv);
	return err;
}

/* Return: why @pool cannot be used, or NULL */
static const char *moderato_xsk_refused(const struct moderato_queue *q,
					struct xsk_buff_pool *pool)
{
	if (pool->unaligned)
		return "zero copy needs aligned chunks";
	if (xsk_pool_get_headroom(pool) % MODERATO_RX_BUFFER_ALIGN)
		return "zero copy needs a headroom of words of 8 octets";
	return moderato_xdp_unfit(q->priv, &q->config, q->priv->ndev->mtu);
}

static int moderato_xsk_register(struct moderato_queue *q,
				 struct moderato_xsk *xsk)
{
	struct moderato_priv *priv = q->priv;
	int err;

	err = xsk_pool_dma_map(xsk->pool, priv->dev, MODERATO_XSK_DMA);
	if (err)
		return err;
	err = xdp_rxq_info_reg(&xsk->rxq, priv->ndev, q->index,
			       q->napi.napi_id);
	if (err)
		goto err_unmap;
	err = xdp_rxq_info_reg_mem_model(&xsk->rxq, MEM_TYPE_XSK_BUFF_POOL,
					 NULL);
	if (err)
		goto err_unreg;
	xsk_pool_set_rxq_info(xsk->pool, &xsk->rxq);
	return 0;

err_unreg:
	xdp_rxq_info_unreg(&xsk->rxq);
err_unmap:
	xsk_pool_dma_unmap(xsk->pool, MODERATO_XSK_DMA);
	return err;
}

/* If the hardware did not stop, it may still write to this memory, or send it:
 * keep the pages allocated after the application has ended.
 */
static void moderato_xsk_leave(struct xsk_buff_pool *pool)
{
	for (u32 i = 0; i < pool->umem->npgs; i++)
		get_page(pool->umem->pgs[i]);
}

/* Detaches @pool; the memory is the application's again in any case */
static void moderato_xsk_detach(struct moderato_queue *q,
				struct moderato_xsk *xsk,
				struct xsk_buff_pool *pool)
{
	xsk->pool = NULL;
	moderato_xsk_switch(q);
	if (!netif_device_present(q->priv->ndev))
		moderato_xsk_leave(pool);
	xdp_rxq_info_unreg(&xsk->rxq);
	xsk_pool_dma_unmap(pool, MODERATO_XSK_DMA);
}

/* Return: 0, or an error; then nothing has changed, unless a DMA does not stop
 */
static int moderato_xsk_attach(struct moderato_queue *q,
			       struct moderato_xsk *xsk,
			       struct xsk_buff_pool *pool)
{
	const char *why;
	int err;

	xsk->pool = pool;
	why = moderato_xsk_refused(q, pool);
	if (why) {
		/* There is no extack */
		netdev_warn(q->priv->ndev, "%s\n", why);
		xsk->pool = NULL;
		return -EOPNOTSUPP;
	}
	err = moderato_xsk_register(q, xsk);
	if (err) {
		xsk->pool = NULL;
		return err;
	}
	err = moderato_xsk_switch(q);
	if (err)
		moderato_xsk_detach(q, xsk, pool);
	return err;
}

static int moderato_xsk_bpf(struct net_device *ndev, struct netdev_bpf *bpf)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_queue *q;
	struct moderato_xsk *xsk;

	if (bpf->command != XDP_SETUP_XSK_POOL)
		return priv->xdp->bpf(ndev, bpf);

	if (bpf->xsk.queue_id >= priv->count)
		return -EINVAL;
	q = &priv->queue[bpf->xsk.queue_id];
	xsk = &priv->xdp->xsk[bpf->xsk.queue_id];
	if (bpf->xsk.pool)
		return moderato_xsk_attach(q, xsk, bpf->xsk.pool);
	if (xsk->pool)
		moderato_xsk_detach(q, xsk, xsk->pool);
	return 0;
}

/* An application has filled a ring of the socket */
static int moderato_xsk_wakeup(struct net_device *ndev, u32 queue, u32 flags)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (!netif_running(ndev))
		return -ENETDOWN;
	if (queue >= READ_ONCE(priv->used) || !READ_ONCE(priv->xdp->prog))
		return -ENXIO;
	moderato_xsk_kick(&priv->queue[queue]);
	return 0;
}

/* Life ---------------------------------------------------------------------- */

int moderato_xsk_init(struct moderato_priv *priv)
{
	XSK_CHECK_PRIV_TYPE(struct moderato_xdp_buff);
	priv->xdp->bpf = priv->netdev_ops.ndo_bpf;
	priv->netdev_ops.ndo_bpf = moderato_xsk_bpf;
	priv->netdev_ops.ndo_xsk_wakeup = moderato_xsk_wakeup;
	priv->ndev->xdp_features |= NETDEV_XDP_ACT_XSK_ZEROCOPY;
	return 0;
}
