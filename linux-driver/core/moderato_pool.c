// SPDX-License-Identifier: GPL-2.0-only
/* Buffers of polled receive rings, from a page pool. Only a softirq may use
 * one.
 */

#include <net/page_pool/helpers.h>

#include "moderato_priv.h"

/* The pool has no NAPI until its ring is up: freeing a ring that never ran must
 * not disable direct recycling for the ring that runs.
 */
int moderato_pool_create(struct moderato_rx *rx)
{
	const struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.pool_size = moderato_size(rx->ring.order),
		.nid = NUMA_NO_NODE,
		.dev = rx->dev,
		.netdev = rx->ndev,
		.dma_dir = rx->dir,
		/* Each jumbo frame has pages of its own */
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
	unsigned int size = rx->truesize;
	unsigned int offset;
	struct page *page;

	page = page_pool_alloc(rx->pool, &offset, &size, gfp);
	if (unlikely(!page))
		return false;

	/* The pool keeps its pages mapped */
	buf->data = page_address(page) + offset;
	buf->dma = page_pool_get_dma_addr(page) + offset + NET_SKB_PAD;
	return true;
}

void moderato_pool_free(struct moderato_rx *rx,
			const struct moderato_rx_buf *buf)
{
	page_pool_free_va(rx->pool, buf->data, false);
}

/* skbs freed in the poll's context return their page to the pool directly,
 * unless several polls share the ring
 */
void moderato_pool_up(struct moderato_rx *rx)
{
	if (!rx->ops->shared)
		WRITE_ONCE(rx->pool->p.napi, &rx->queue->napi);
}

/* Ends that before another ring uses the poll */
void moderato_pool_down(struct moderato_rx *rx)
{
	page_pool_disable_direct_recycling(rx->pool);
}
