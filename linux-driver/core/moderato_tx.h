/* SPDX-License-Identifier: GPL-2.0-only */
/* Transmit ring and transmit strategies */
#ifndef MODERATO_TX_H
#define MODERATO_TX_H

#include <linux/netdevice.h>
#include <net/netdev_queues.h>

#include "moderato_dma.h"

struct moderato_queue;
struct moderato_tx;
struct moderato_tx_done;
struct xdp_frame;
struct xsk_buff_pool;

/**
 * struct moderato_tx_ops - transmit strategy: the context that frees sent skbs
 * @polled: NAPI polls the ring
 * @quiet: completions raise no interrupt
 * @irq: hard interrupt
 * @prepare: optional: before a frame is posted, under the queue's lock
 * @posted: optional: after that, under the same lock
 * @stop: optional: no transmission uses the strategy any more
 */
struct moderato_tx_ops {
	bool polled;
	bool quiet;
	void (*irq)(struct moderato_tx *tx);
	void (*prepare)(struct moderato_tx *tx);
	void (*posted)(struct moderato_tx *tx);
	void (*stop)(struct moderato_tx *tx);
};

extern const struct moderato_tx_ops moderato_tx_poll_ops;

/* Flags of a slot:
 * ACCOUNTED: byte queue limits count the frame
 * PAGE: @dma maps a fragment
 * TAGGED: the hardware inserts a VLAN tag
 * PLANNED: in pieces, tagged, stamped, or without an skb
 * FRAME: an xdp_frame
 * POOLED: the page pool that owns the frame keeps it mapped
 * XSK: in the memory of a zero-copy socket
 * LAUNCH: the frame has a launch time
 */
#define MODERATO_TX_ACCOUNTED	BIT(0)
#define MODERATO_TX_PAGE	BIT(1)
#define MODERATO_TX_TAGGED	BIT(2)
#define MODERATO_TX_PLANNED	BIT(3)
#define MODERATO_TX_FRAME	BIT(4)
#define MODERATO_TX_POOLED	BIT(5)
#define MODERATO_TX_XSK		BIT(6)
#define MODERATO_TX_LAUNCH	BIT(7)

/**
 * struct moderato_tx_buf - what the driver knows of one slot
 * @skb: the skb; NULL in all slots but the first of a frame in pieces
 * @frame: the frame, with MODERATO_TX_FRAME
 * @pool: the memory, with MODERATO_TX_XSK
 * @dma: bus address of the skb's data, of a fragment, or of the slot's copy
 * @len: mapped bytes; 0: mapped together with the slot before
 * @segs: frames that the hardware makes of the skb; 0 in all slots but the first
 * @more: number of further slots of this frame
 * @flags: MODERATO_TX_*
 */
struct moderato_tx_buf {
	union {
		struct sk_buff *skb;
		struct xdp_frame *frame;
		struct xsk_buff_pool *pool;
	};
	dma_addr_t dma;
	u32 len;
	u16 segs;
	u8 more;
	u8 flags;
};

/**
 * struct moderato_tx - transmit ring
 * @ring: its descriptors
 * @queue: the queue
 * @ndev: the net device
 * @dev: the device, for DMA mappings
 * @ops: transmit strategy; changes under the queue's lock only
 * @txq: the kernel's queue
 * @buf: what the driver knows, by slot
 * @prompt: sent skbs are freed soon, see moderato_tx_prompt(); changes under the
 *	    queue's lock only
 * @draining: the queue stays stopped. Set under the queue's lock, and cleared by a
 *	      release when the ring is ready.
 * @masked: an interrupt, of either direction, has left the ring to the poll
 * @asks: descriptors can ask the hardware for something
 * @rung: producer index that the hardware knows
 * @reserve: the queue stops when fewer descriptors are free: 1 until an skb
 *	     needs more
 * @gather: set if the hardware gathers frames
 * @stamps: set if the hardware stamps frames
 * @planned: moderato_tx_take() for a slot with MODERATO_TX_PLANNED
 * @drop_frame: frees an unsent frame without an skb, which is not mapped any
 *		more; NULL if the ring sends skbs only
 * @copies: each slot's own buffer, allocated at its first use
 * @copy_mtu: the MTU that the buffers in @copies suit
 */
struct moderato_tx {
	struct moderato_ring ring;
	struct moderato_queue *queue;
	struct net_device *ndev;
	struct device *dev;
	const struct moderato_tx_ops *ops;
	struct netdev_queue *txq;
	struct moderato_tx_buf *buf;
	bool prompt;
	bool draining;
	bool masked;
	bool asks;
	u16 rung;
	u16 reserve;
	/** @in_irq: tx_irq.c: the interrupt frees skbs at this moment */
	bool in_irq;
	/* The data path needs only the fields above: one cache line */
	/** @timer: tx_none.c: frees skbs when no further transmission does */
	struct hrtimer timer;
	const struct moderato_gather_ops *gather;
	const struct moderato_stamp_ops *stamps;
	struct sk_buff *(*planned)(struct moderato_tx *tx,
				   struct moderato_tx_done *done);
	void (*drop_frame)(struct moderato_tx_buf *buf);
	/** @pool: xsk_tx.c: zero-copy sockets that send, under the queue's lock */
	struct xsk_buff_pool *pool;
	/** @aside: xdp_tx.c: sent frames that are still to be freed */
	struct xdp_frame *aside;
	u8 **copies;
	unsigned int copy_mtu;
};

enum moderato_tx_way {
	MODERATO_TX_MAP,	/* in one piece, where it is */
	MODERATO_TX_GATHER,	/* in pieces, where they are */
	MODERATO_TX_COPY,	/* copied to buffers of the ring */
};

/**
 * struct moderato_tx_plan - how to send an skb
 * @way: mapped or copied
 * @stamp: the hardware stamps it
 * @inserts: the hardware inserts checksums
 * @flags: MODERATO_TX_TAGGED, MODERATO_TX_PLANNED, MODERATO_TX_LAUNCH
 * @pieces: number of descriptors, if it is gathered
 * @status: status of its first descriptor
 * @checksum: checksum word of its first descriptor, if it is not segmented
 */
struct moderato_tx_plan {
	enum moderato_tx_way way;
	bool stamp;
	bool inserts;
	u8 flags;
	u8 pieces;
	u32 status;
	u32 checksum;
};

/**
 * struct moderato_gather_ops - frames in pieces
 * @plans: fills @plan and returns true if it sends @skb
 * @post: returns the number of octets, or a negative error
 */
struct moderato_gather_ops {
	bool (*plans)(const struct moderato_tx *tx, const struct sk_buff *skb,
		      struct moderato_tx_plan *plan);
	int (*post)(struct moderato_tx *tx, struct sk_buff *skb,
		    const struct moderato_tx_plan *plan);
};

/**
 * struct moderato_stamp_ops - timestamps of sent frames
 * @wanted: whether an application has enabled them
 * @stamped: passes @stamp to the owner of @skb
 */
struct moderato_stamp_ops {
	bool (*wanted)(const struct moderato_tx *tx);
	void (*stamped)(const struct moderato_tx *tx, struct sk_buff *skb,
			u32 stamp);
};

/**
 * struct moderato_tx_done - what one pass has taken off the ring
 * @frames: all frames
 * @packets: frames that were sent without error
 * @bytes: of @packets
 * @accounted_frames: frames that byte queue limits count
 * @accounted_bytes: bytes of these
 */
struct moderato_tx_done {
	unsigned int frames;
	unsigned int packets;
	unsigned int bytes;
	unsigned int accounted_frames;
	unsigned int accounted_bytes;
};

struct moderato_tx *moderato_tx_create(struct moderato_queue *q, u8 order);
void moderato_tx_destroy(struct moderato_tx *tx);
void moderato_tx_up(struct moderato_tx *tx);
int moderato_tx_down(struct moderato_tx *tx);
int moderato_tx_reset(struct moderato_tx *tx);
int moderato_tx_install(struct moderato_queue *q, struct moderato_tx *tx);
void moderato_tx_switch(struct moderato_tx *tx);
struct sk_buff *moderato_tx_take(struct moderato_tx *tx,
				 struct moderato_tx_done *done);
struct sk_buff *moderato_tx_take_planned(struct moderato_tx *tx,
					 struct moderato_tx_done *done);
void moderato_tx_finish(struct moderato_tx *tx,
			const struct moderato_tx_done *done);
void moderato_tx_reclaim(struct moderato_tx *tx);
void moderato_copies_free(struct moderato_tx *tx);
int moderato_tx_copy(struct moderato_tx *tx, struct sk_buff *skb,
		     const struct moderato_tx_plan *plan);
void moderato_tx_unmap(struct moderato_tx *tx, struct moderato_tx_buf *buf);
void moderato_features_tx_create(struct moderato_tx *tx);
void moderato_vlan_tx_create(struct moderato_tx *tx);
void moderato_gather_create(struct moderato_tx *tx);
void moderato_tx_features(struct net_device *ndev);
netdev_features_t moderato_fix_features(struct net_device *ndev,
					netdev_features_t features);
netdev_tx_t moderato_start_xmit(struct sk_buff *skb, struct net_device *ndev);
unsigned int moderato_tx_poll(struct moderato_tx *tx, int budget);
void moderato_tx_poll_end(struct moderato_tx *tx, unsigned int freed);

/* The poll that an Rx interrupt schedules also frees sent skbs */
static inline void moderato_tx_poll_comes(struct moderato_tx *tx)
{
	if (!READ_ONCE(tx->ops)->polled)
		return;
	moderato_disarm(&tx->ring);
	WRITE_ONCE(tx->masked, true);
}

static inline u32 moderato_tx_space(const struct moderato_tx *tx)
{
	/* Pairs with the release in moderato_tx_take(): once a slot looks free,
	 * its skb has been freed.
	 */
	u16 consumer = smp_load_acquire(&tx->ring.consumer);

	return moderato_space(tx->ring.producer, consumer, tx->ring.order);
}

static inline u32 moderato_tx_wake_threshold(const struct moderato_tx *tx)
{
	return moderato_wake_threshold(tx->ring.order, READ_ONCE(tx->reserve));
}

static __always_inline void moderato_tx_stop_when_full(struct moderato_tx *tx)
{
	netif_txq_maybe_stop(tx->txq, moderato_tx_space(tx), tx->reserve,
			     moderato_tx_wake_threshold(tx));
}

/* Announces all descriptors posted since the last doorbell */
static inline void moderato_tx_ring_doorbell(struct moderato_tx *tx)
{
	if (tx->rung == tx->ring.producer)
		return;
	tx->rung = tx->ring.producer;
	moderato_doorbell(&tx->ring, tx->rung);
}

/* Writes the status of the descriptor at @index. Another CPU may check meanwhile
 * whether it is completed: it never seems to be.
 */
static inline void moderato_tx_put_status(struct moderato_ring *ring, u16 index,
					  u32 status)
{
	u32 slot = moderato_slot(index, ring->order);

	status |= moderato_pending(index, ring->order);
	WRITE_ONCE(ring->desc[slot].status, cpu_to_le32(status));
}

/* Number of descriptors that are posted and not taken back */
static inline u16 moderato_tx_pending(const struct moderato_tx *tx)
{
	return tx->ring.producer - tx->ring.consumer;
}

#endif /* MODERATO_TX_H */
