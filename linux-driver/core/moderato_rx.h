/* SPDX-License-Identifier: GPL-2.0-only */
/* Receive ring and receive strategies */
#ifndef MODERATO_RX_H
#define MODERATO_RX_H

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>

#include "moderato_dma.h"

struct moderato_queue;
struct moderato_rx;
struct moderato_rx_buf;
struct moderato_rx_done;
struct page_pool;

/* Longest frame without its payload, with one VLAN tag */
#define MODERATO_OVERHEAD	(ETH_HLEN + VLAN_HLEN + ETH_FCS_LEN)

/**
 * struct moderato_rx_ops - receive strategy: the context that passes frames on
 * @pooled: buffers come from a page pool, which only a softirq may use
 * @shared: polls on several CPUs take turns at the ring
 * @polled: NAPI polls the ring
 * @start: optional: the ring has started, interrupts are still off
 * @stop: the ring has stopped and interrupts are off: pass on what is left
 * @irq: hard interrupt
 * @schedule: schedules the poll from a Tx interrupt, as it serves both rings
 */
struct moderato_rx_ops {
	bool pooled;
	bool shared;
	bool polled;
	void (*start)(struct moderato_rx *rx);
	void (*stop)(struct moderato_rx *rx);
	void (*irq)(struct moderato_rx *rx);
	void (*schedule)(struct moderato_queue *q);
};

extern const struct moderato_rx_ops moderato_rx_napi_ops;

/**
 * struct moderato_rx_buf - buffer of one slot
 * @data: start of the buffer
 * @dma: its bus address
 */
struct moderato_rx_buf {
	void *data;
	dma_addr_t dma;
};

/**
 * struct moderato_rx - receive ring
 * @ring: its descriptors. The hardware owns all that are not completed, and each
 *	  slot has a buffer: producer = consumer + size. Only zero-copy AF_XDP
 *	  may leave slots without one (xsk_rx.c).
 * @queue: the queue
 * @ndev: the net device
 * @dev: the device, for DMA mappings
 * @ops: receive strategy
 * @pool: page pool, if @ops is pooled
 * @buf: buffers, by slot
 * @truesize: bytes of a buffer, with headroom and struct skb_shared_info
 * @room: bytes of a buffer that the hardware may write
 * @longest: octets of the longest frame
 * @more: descriptors carry more than the frame's length
 * @ahead: octets of the timestamp before a stamped frame
 * @receive: called by the poll, with its budget; returns the number of frames
 * @stamp: moves the timestamp from the start of the frame into the skb
 * @headroom: bytes of a buffer before @room
 * @dir: direction of the buffers' DMA mapping
 * @fill: gives a slot its buffer before the ring runs
 */
struct moderato_rx {
	struct moderato_ring ring;
	struct moderato_queue *queue;
	struct net_device *ndev;
	struct device *dev;
	const struct moderato_rx_ops *ops;
	struct page_pool *pool;
	struct moderato_rx_buf *buf;
	unsigned int truesize;
	unsigned int room;
	unsigned int longest;
	bool more;
	/** @looked: rx_urgent.c: index up to which it has looked for urgent frames */
	u16 looked;
	/* The data path needs only the fields above: one cache line */
	unsigned int ahead;
	int (*receive)(struct moderato_rx *rx, struct napi_struct *napi,
		       int budget, struct moderato_rx_done *done);
	void (*stamp)(struct moderato_rx *rx, struct sk_buff *skb);
	unsigned int headroom;
	enum dma_data_direction dir;
	bool (*fill)(struct moderato_rx *rx, struct moderato_rx_buf *buf,
		     gfp_t gfp);
	/** @merge: rx_merge.c: segments that wait for their continuation */
	struct moderato_merge *merge;
	/** @program: moderato_xdp.c: the XDP program, and its state */
	struct moderato_xdp_rx *program;
};

/**
 * struct moderato_rx_done - what one pass over the ring has received
 * @taken: descriptors, those of lost frames included
 * @packets: frames
 * @bytes: of these frames
 * @errors: frames of a wrong length, and those with a DMA error
 * @alloc_failed: frames dropped for want of a new buffer
 */
struct moderato_rx_done {
	unsigned int taken;
	unsigned int packets;
	unsigned int bytes;
	unsigned int errors;
	unsigned int alloc_failed;
};

struct moderato_rx *moderato_rx_create(struct moderato_queue *q, u8 order,
				       unsigned int mtu,
				       const struct moderato_rx_ops *ops);
void moderato_rx_destroy(struct moderato_rx *rx);
void moderato_rx_fill(struct moderato_rx *rx);
void moderato_rx_up(struct moderato_rx *rx);
int moderato_rx_down(struct moderato_rx *rx);
int moderato_rx_reset(struct moderato_rx *rx);
int moderato_rx_install(struct moderato_queue *q, struct moderato_rx *rx);
struct sk_buff *moderato_rx_take(struct moderato_rx *rx, u16 index, u32 status,
				 struct moderato_rx_done *done);
bool moderato_rx_replace(struct moderato_rx *rx, u32 slot);
int moderato_pool_create(struct moderato_rx *rx);
void moderato_pool_destroy(struct moderato_rx *rx);
bool moderato_pool_alloc(struct moderato_rx *rx, struct moderato_rx_buf *buf,
			 gfp_t gfp);
void moderato_pool_free(struct moderato_rx *rx,
			const struct moderato_rx_buf *buf);
void moderato_pool_up(struct moderato_rx *rx);
void moderato_pool_down(struct moderato_rx *rx);
void moderato_rx_tell(struct moderato_rx *rx, u32 slot, u32 status,
		      struct sk_buff *skb, struct moderato_rx_done *done);
int moderato_features_rx_create(struct moderato_rx *rx);
void moderato_features_rx_up(struct moderato_rx *rx);
void moderato_features_rx_destroy(struct moderato_rx *rx);
int moderato_vlan_rx_create(struct moderato_rx *rx);
int moderato_merge_create(struct moderato_rx *rx);
void moderato_merge_destroy(struct moderato_rx *rx);
void moderato_rx_finish(struct moderato_rx *rx,
			const struct moderato_rx_done *done);

/* Takes the oldest descriptor, posts it again, and returns its index */
static inline u16 moderato_rx_next(struct moderato_rx *rx,
				   struct moderato_rx_done *done)
{
	rx->ring.producer++;
	done->taken++;
	return rx->ring.consumer++;
}

int moderato_rx_receive(struct moderato_rx *rx, struct napi_struct *napi,
			int budget, struct moderato_rx_done *done);
int moderato_napi_poll(struct napi_struct *napi, int budget);
void moderato_napi_add(struct moderato_queue *q);
void moderato_rx_napi_handle(struct moderato_rx *rx);
void moderato_rx_napi_schedule(struct moderato_queue *q);
void moderato_rx_napi_up(struct moderato_rx *rx);
void moderato_rx_napi_stop(struct moderato_rx *rx);

#endif /* MODERATO_RX_H */
