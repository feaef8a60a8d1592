// SPDX-License-Identifier: GPL-2.0-only
/* For Linux 6.1, in place of files that need a later kernel: there are no
 * statistics of queues, and DIM's profiles and the RSS table cannot be changed
 */

#include <linux/dim.h>
#include <linux/uaccess.h>

#include "moderato_channels.h"
#include "moderato_dim.h"
#include "moderato_ptp.h"

int moderato_queue_stats_init(struct moderato_priv *priv)
{
	return 0;
}

int moderato_rss_init(struct moderato_priv *priv)
{
	return 0;
}

/* moderato_hwtstamp.c ------------------------------------------------------ */

static int moderato_ptp_ioctl(struct net_device *ndev, struct ifreq *ifr,
			      int cmd)
{
	struct kernel_hwtstamp_config config = {};
	struct hwtstamp_config asked = {};
	int err;

	if (cmd == SIOCSHWTSTAMP) {
		if (copy_from_user(&asked, ifr->ifr_data, sizeof(asked)))
			return -EFAULT;
		config.tx_type = asked.tx_type;
		config.rx_filter = asked.rx_filter;
		err = moderato_hwtstamp_set(ndev, &config, NULL);
	} else if (cmd == SIOCGHWTSTAMP) {
		err = moderato_hwtstamp_get(ndev, &config);
	} else {
		const struct moderato_priv *priv = netdev_priv(ndev);

		return phylink_mii_ioctl(priv->phylink, ifr, cmd);
	}
	if (err)
		return err;

	asked.tx_type = config.tx_type;
	asked.rx_filter = config.rx_filter;
	return copy_to_user(ifr->ifr_data, &asked, sizeof(asked)) ? -EFAULT : 0;
}

int moderato_hwtstamp_init(struct moderato_priv *priv)
{
	if (priv->ptp)
		priv->netdev_ops.ndo_eth_ioctl = moderato_ptp_ioctl;
	return 0;
}

/* moderato_profiles.c ------------------------------------------------------ */

struct dim_cq_moder
moderato_dim_rx_profile(struct moderato_queue *q)
{
	return moderato_rx_profile[q->rx_dim.profile_ix];
}

struct dim_cq_moder
moderato_dim_tx_profile(struct moderato_queue *q)
{
	return moderato_tx_profile[q->tx_dim.profile_ix];
}

static void moderato_dim_init_one(struct moderato_queue *q, struct dim *dim,
				  work_func_t work)
{
	INIT_WORK(&dim->work, work);
	dim->priv = q;
	dim->profile_ix = NET_DIM_DEF_PROFILE_EQE;
}

int moderato_dim_init(struct moderato_priv *priv)
{
	struct moderato_queue *q;

	for (q = priv->queue; q < moderato_queues_end(priv); q++) {
		moderato_dim_init_one(q, &q->rx_dim, moderato_rx_dim_work);
		moderato_dim_init_one(q, &q->tx_dim, moderato_tx_dim_work);
	}
	return 0;
}

void moderato_dim_free(struct moderato_priv *priv)
{
}

/* moderato_pool.c ---------------------------------------------------------- */

/* A page pool splits pages only on request, and needs room in struct page for
 * the count: without it, a buffer takes a whole page.
 */
#define MODERATO_POOL_PARTS \
	(PAGE_POOL_DMA_USE_PP_FRAG_COUNT ? 0 : PP_FLAG_PAGE_FRAG)

int moderato_pool_create(struct moderato_rx *rx)
{
	const struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV |
			 MODERATO_POOL_PARTS,
		.pool_size = moderato_size(rx->ring.order),
		.nid = NUMA_NO_NODE,
		.dev = rx->dev,
		.dma_dir = rx->dir,
		.order = get_order(rx->truesize),
		.max_len = PAGE_SIZE << get_order(rx->truesize),
	};
	struct page_pool *pool = page_pool_create(&params);

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	rx->pool = pool;
	return 0;
}

void moderato_pool_destroy(struct moderato_rx *rx)
{
	page_pool_destroy(rx->pool);
}

bool moderato_pool_alloc(struct moderato_rx *rx, struct moderato_rx_buf *buf,
			 gfp_t gfp)
{
	unsigned int offset = 0;
	struct page *page;

	if (rx->pool->p.flags & PP_FLAG_PAGE_FRAG)
		page = page_pool_alloc_frag(rx->pool, &offset, rx->truesize,
					    gfp);
	else
		page = page_pool_alloc_pages(rx->pool, gfp);
	if (!page)
		return false;

	buf->data = page_address(page) + offset;
	buf->dma = page_pool_get_dma_addr(page) + offset + NET_SKB_PAD;
	return true;
}

void moderato_pool_free(struct moderato_rx *rx,
			const struct moderato_rx_buf *buf)
{
	page_pool_put_full_page(rx->pool, virt_to_head_page(buf->data), false);
}

void moderato_pool_up(struct moderato_rx *rx)
{
}

void moderato_pool_down(struct moderato_rx *rx)
{
}
