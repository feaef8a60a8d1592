/* SPDX-License-Identifier: GPL-2.0-only */
/* At the end of the driver's header in some tests: what it asks the kernel for in
 * process context fails on demand; so do buffers for received frames, now and then.
 */
#ifndef WATCHED_H
#define WATCHED_H

#include <linux/slab.h>
#include <net/page_pool/helpers.h>

bool watched_fails(void);
bool watched_starves(void);

#undef kzalloc
#define kzalloc(...) (watched_fails() ? NULL : kzalloc_noprof(__VA_ARGS__))
#undef kvcalloc
#define kvcalloc(...) (watched_fails() ? NULL : kvcalloc_noprof(__VA_ARGS__))
#define dma_alloc_coherent(...) \
	(watched_fails() ? NULL : dma_alloc_coherent(__VA_ARGS__))
#define page_pool_create(...) \
	(watched_fails() ? ERR_PTR(-ENOMEM) : page_pool_create(__VA_ARGS__))
#define page_pool_alloc(...) \
	(watched_fails() || watched_starves() ? \
		 NULL : page_pool_alloc(__VA_ARGS__))
#define page_frag_alloc_align(...) \
	(watched_fails() ? NULL : page_frag_alloc_align(__VA_ARGS__))
#define request_irq(...) (watched_fails() ? -ENOMEM : request_irq(__VA_ARGS__))
#define netif_set_real_num_queues(ndev, tx, rx) \
	((tx) > (ndev)->real_num_tx_queues && watched_fails() ? \
		 -ENOMEM : netif_set_real_num_queues(ndev, tx, rx))
#define phylink_of_phy_connect(...) \
	(watched_fails() ? -ENOMEM : phylink_of_phy_connect(__VA_ARGS__))

#endif /* WATCHED_H */
