/* SPDX-License-Identifier: GPL-2.0-only */
/* Moderato Ethernet MAC: what the files of the driver share */
#ifndef MODERATO_H
#define MODERATO_H

#include <linux/dim.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/netdevice.h>
#include <linux/phylink.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <net/netdev_queues.h>

#include "moderato_coalesce.h"
#include "moderato_regs.h"
#include "moderato_ring.h"

#define MODERATO_DEFAULT_ORDER	8

/* Octets around the payload of the longest frame, with one VLAN tag */
#define MODERATO_OVERHEAD	(ETH_HLEN + VLAN_HLEN + ETH_FCS_LEN)

/* VLANs that the hardware is told of at once */
#define MODERATO_VLAN_ROW	16
#define MODERATO_MAX_QUEUES	2

struct moderato_priv;
struct moderato_queue;
struct moderato_rx;
struct moderato_rx_buf;
struct moderato_rx_done;
struct moderato_tx;
struct moderato_tx_done;
struct page_pool;
struct xdp_frame;
struct xsk_buff_pool;

/* Rings ------------------------------------------------------------------- */

struct moderato_desc {
	__le32 address;
	__le32 control;
	__le32 checksum;
	__le32 status;
};

static_assert(sizeof(struct moderato_desc) == MODERATO_DESCRIPTOR_BYTES);
static_assert(offsetof(struct moderato_desc, address) ==
	      MODERATO_DESC_ADDRESS);
static_assert(offsetof(struct moderato_desc, control) ==
	      MODERATO_DESC_CONTROL);
static_assert(offsetof(struct moderato_desc, checksum) ==
	      MODERATO_DESC_RX_CHECKSUM);
static_assert(offsetof(struct moderato_desc, checksum) ==
	      MODERATO_DESC_TX_CHECKSUM);
static_assert(offsetof(struct moderato_desc, status) == MODERATO_DESC_STATUS);

/* What differs between the directions
 * @name: for messages
 * @base: of its registers
 * @enable: its bit in CTRL
 * @idle, @halted: its bits in STATUS
 * @reset: its bit in struct moderato_priv's @resets, unlike any other's
 */
struct moderato_direction {
	const char *name;
	u32 base;
	u32 enable;
	u32 idle;
	u32 halted;
	u8 reset;
};

/* Of each queue */
extern const struct moderato_direction moderato_rx_directions[];
extern const struct moderato_direction moderato_tx_directions[];

/* @regs: registers of this direction
 * @running: started, and not stopped since
 * @stuck: the hardware did not stop, and may use the ring and its buffers for
 *	   ever: they are not freed, and nothing is started any more
 */
struct moderato_ring {
	struct moderato_desc *desc;
	void __iomem *regs;
	dma_addr_t dma;
	u16 producer;
	u16 consumer;
	u8 order;
	bool running;
	bool stuck;
	const struct moderato_direction *dir;
};

/* The status word of the descriptor at @index, and whether it is completed. The
 * driver learns of completions from memory only: a read of a register would
 * stall the CPU for the whole way to the MAC and back.
 */
static inline bool moderato_ring_completed_at(const struct moderato_ring *ring,
					      u16 index, u32 *status)
{
	u32 slot = moderato_slot(index, ring->order);

	*status = le32_to_cpu(READ_ONCE(ring->desc[slot].status));
	if (!moderato_completed(*status, index, ring->order))
		return false;

	/* The hardware writes the status last: nothing that it wrote before,
	 * nor what the CPU wrote for this slot, may be read ahead of it.
	 */
	dma_rmb();
	return true;
}

/* That of the oldest one */
static inline bool moderato_ring_completed(const struct moderato_ring *ring,
					   u32 *status)
{
	return moderato_ring_completed_at(ring, ring->consumer, status);
}

static inline void moderato_doorbell(const struct moderato_ring *ring,
				     u16 index)
{
	/* writel() orders the descriptors in memory before the doorbell */
	writel(index, ring->regs + MODERATO_DIR_DOORBELL);
}

/* Everything before the consumer index was seen. Completions at or beyond it
 * count as unreported at once, so none is lost between the last look at the
 * ring and this write, and no second look is needed after it.
 */
static inline void moderato_rearm(const struct moderato_ring *ring)
{
	writel(ring->consumer, ring->regs + MODERATO_DIR_REARM);
}

static inline void moderato_disarm(const struct moderato_ring *ring)
{
	writel(0, ring->regs + MODERATO_DIR_DISARM);
}

/* Receive ------------------------------------------------------------------ */

/* A receive strategy: in which context frames are handed to the stack.
 * @pooled: buffers come from a page_pool, which only a softirq may use
 * @shared: by polls on several CPUs, one after the other
 * @polled: by NAPI
 * @start: the ring runs from now on, interrupts are still off; may be NULL
 * @stop: the ring stands still and interrupts are off: hand over what is left
 * @irq: the hard interrupt
 * @schedule: of a Tx interrupt, whose ring the poll looks at, too
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

struct moderato_rx_buf {
	void *data;
	dma_addr_t dma;
};

/* The hardware owns every descriptor but the completed ones, and each slot
 * always has a buffer: producer = consumer + size. Only what a socket of AF_XDP
 * receives without copies may find slots that have none (xsk_rx.c).
 * @truesize: bytes of each buffer, with headroom and struct skb_shared_info
 * @room: of these, what the hardware may write
 * @longest: octets of a frame
 * @more: the hardware says more of a frame than its octets
 * @ahead: octets ahead of a frame that is stamped
 * @receive: within the poll, up to a budget. Return: how many frames
 * @stamp: takes the stamp off such a frame's start
 * @headroom: bytes of a buffer ahead of @room
 * @dir: what buffers are mapped for
 * @fill: gets a slot's buffer from the pool before the ring runs
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
	u16 looked;	/* rx_urgent.c */
	/* up to here, what each frame needs: in one cache line */
	unsigned int ahead;
	int (*receive)(struct moderato_rx *rx, struct napi_struct *napi,
		       int budget, struct moderato_rx_done *done);
	void (*stamp)(struct moderato_rx *rx, struct sk_buff *skb);
	unsigned int headroom;
	enum dma_data_direction dir;
	bool (*fill)(struct moderato_rx *rx, struct moderato_rx_buf *buf,
		     gfp_t gfp);
	struct moderato_merge *merge;	/* rx_merge.c */
	struct moderato_xdp_rx *program;	/* moderato_xdp.c */
};

/* What was received in one go
 * @taken: descriptors, of these frames and of lost ones
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
void moderato_rx_finish(struct moderato_rx *rx,
			const struct moderato_rx_done *done);

/* Takes the oldest descriptor, and posts it again. Return: its index */
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

/* Transmit ----------------------------------------------------------------- */

/* A transmit strategy: in which context sent skbs are freed.
 * @polled: by NAPI
 * @quiet: completions raise no interrupt
 * @irq: the hard interrupt
 * @prepare: before a frame is posted, under the queue's lock; may be NULL
 * @posted: after that; may be NULL
 * @stop: transmissions have left the strategy, or are locked out; may be NULL
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

/* @skb: NULL in all slots of a frame in pieces but its first one
 * @frame: instead of it, with MODERATO_TX_FRAME
 * @pool: instead of it, with MODERATO_TX_XSK: where the slot's memory is
 * @dma: of the skb's data, of a fragment, or of the slot's copy
 * @len: of what is mapped; 0: it is mapped with the slot before
 * @segs: frames that the hardware makes of it; 0 in all slots but the first one
 * @more: slots that follow, of the same frame
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

/* Byte queue limits know of it; @dma is of a fragment; the hardware puts a tag in;
 * it is in pieces, has a tag or a stamp, or is no skb; it is an xdp_frame; the pool
 * that it came from keeps it mapped; it is in the memory of a socket's owner
 */
#define MODERATO_TX_ACCOUNTED	BIT(0)
#define MODERATO_TX_PAGE	BIT(1)
#define MODERATO_TX_TAGGED	BIT(2)
#define MODERATO_TX_PLANNED	BIT(3)
#define MODERATO_TX_FRAME	BIT(4)
#define MODERATO_TX_POOLED	BIT(5)
#define MODERATO_TX_XSK		BIT(6)

/* @ops, @prompt: change under the queue's lock only
 * @masked: an interrupt, of either direction, has left the ring to the poll
 * @prompt: sent skbs come back soon (see moderato_tx_prompt())
 * @draining: the queue stays stopped. Set under that lock, and taken back by a release
 *	      when the ring is ready.
 * @asks: the hardware can do something that descriptors ask for
 * @rung: producer index that the hardware knows
 * @reserve: the queue stops when fewer descriptors are free: 1 as long as no skb
 *	     needed more
 * @gather: of hardware that gathers frames; else NULL
 * @stamps: of hardware that stamps frames; else NULL
 * @planned: moderato_tx_take() where a slot has MODERATO_TX_PLANNED
 * @drop_frame: of a ring that sends frames without skbs, too: frees one that was
 *		not sent and is not mapped any more; else NULL
 * @pool: of sockets that send without copies, under the queue's lock; or NULL
 * @aside: frames that were sent, and are still to be freed
 * @copies: each slot's own buffer, once it has one
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
	bool in_irq;	/* tx_irq.c */
	/* up to here, what each frame needs: in one cache line */
	struct hrtimer timer;	/* tx_none.c */
	const struct moderato_gather_ops *gather;
	const struct moderato_stamp_ops *stamps;
	struct sk_buff *(*planned)(struct moderato_tx *tx,
				   struct moderato_tx_done *done);
	void (*drop_frame)(struct moderato_tx_buf *buf);
	struct xsk_buff_pool *pool;	/* xsk_tx.c */
	struct xdp_frame *aside;	/* xdp_tx.c */
	u8 **copies;
	unsigned int copy_mtu;
};

enum moderato_tx_way {
	MODERATO_TX_MAP,	/* as it is */
	MODERATO_TX_GATHER,	/* in pieces */
	MODERATO_TX_COPY,	/* into buffers of the ring */
};

/* How an skb is sent
 * @stamp: the hardware is to stamp it
 * @inserts: the hardware is to put checksums in
 * @flags: MODERATO_TX_TAGGED, MODERATO_TX_PLANNED
 * @pieces: in descriptors, where it is gathered
 * @status: what its first descriptor's status asks for
 * @checksum: what that one's checksum does, if it is not segmented
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

/* Frames in pieces
 * @plans: whether it sends @skb, and how
 * @post: Return: octets, or a negative error
 */
struct moderato_gather_ops {
	bool (*plans)(const struct moderato_tx *tx, const struct sk_buff *skb,
		      struct moderato_tx_plan *plan);
	int (*post)(struct moderato_tx *tx, struct sk_buff *skb,
		    const struct moderato_tx_plan *plan);
};

/* Stamps of sent frames
 * @wanted: whether somebody reads them
 * @stamped: the hardware says @stamp of @skb
 */
struct moderato_stamp_ops {
	bool (*wanted)(const struct moderato_tx *tx);
	void (*stamped)(const struct moderato_tx *tx, struct sk_buff *skb,
			u32 stamp);
};

/* What was taken off the ring in one go
 * @packets, @bytes: of these, what was sent without error
 * @accounted_frames, @accounted_bytes: of these, what byte queue limits know
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
void moderato_tx_features(struct net_device *ndev);
netdev_features_t moderato_fix_features(struct net_device *ndev,
					netdev_features_t features);
netdev_tx_t moderato_start_xmit(struct sk_buff *skb, struct net_device *ndev);
unsigned int moderato_tx_poll(struct moderato_tx *tx, int budget);
void moderato_tx_poll_end(struct moderato_tx *tx, unsigned int freed);

/* From an Rx interrupt, whose poll frees what was sent, too */
static inline void moderato_tx_poll_comes(struct moderato_tx *tx)
{
	if (!READ_ONCE(tx->ops)->polled)
		return;
	moderato_disarm(&tx->ring);
	WRITE_ONCE(tx->masked, true);
}

static inline u32 moderato_tx_space(const struct moderato_tx *tx)
{
	/* Pairs with the release in moderato_tx_take(): a slot that looks
	 * free was left by whoever freed its skb.
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

/* The hardware learns of all that was posted since it was last told */
static inline void moderato_tx_ring_doorbell(struct moderato_tx *tx)
{
	if (tx->rung == tx->ring.producer)
		return;
	tx->rung = tx->ring.producer;
	moderato_doorbell(&tx->ring, tx->rung);
}

/* What the descriptor at @index asks for in its @status. Others may look at it
 * meanwhile, whether it is completed: it never seems to be.
 */
static inline void moderato_tx_put_status(struct moderato_ring *ring, u16 index,
					  u32 status)
{
	u32 slot = moderato_slot(index, ring->order);

	status |= moderato_pending(index, ring->order);
	WRITE_ONCE(ring->desc[slot].status, cpu_to_le32(status));
}

/* Descriptors that were posted and not taken back yet */
static inline u16 moderato_tx_pending(const struct moderato_tx *tx)
{
	return tx->ring.producer - tx->ring.consumer;
}

/* Statistics --------------------------------------------------------------- */

enum moderato_counter {
	MODERATO_RX_INTERRUPTS,
	MODERATO_RX_INTERRUPTS_FRAMES,
	MODERATO_RX_INTERRUPTS_PACKET,
	MODERATO_RX_INTERRUPTS_ABSOLUTE,
	MODERATO_RX_INTERRUPTS_REQUEST,
	MODERATO_RX_INTERRUPTS_HALTED,
	MODERATO_TX_INTERRUPTS,
	MODERATO_TX_INTERRUPTS_FRAMES,
	MODERATO_TX_INTERRUPTS_PACKET,
	MODERATO_TX_INTERRUPTS_ABSOLUTE,
	MODERATO_TX_INTERRUPTS_REQUEST,
	MODERATO_TX_INTERRUPTS_HALTED,
	MODERATO_RX_FILTERED,
	MODERATO_TX_DROP_LENGTH,
	MODERATO_DMA_ERRORS,
	MODERATO_RX_VLAN_FILTERED,
	MODERATO_RX1_INTERRUPTS,
	MODERATO_TX1_INTERRUPTS,
	MODERATO_RX1_DROP_RING,
	MODERATO_RX1_DROP_BUFFER,
	MODERATO_TX1_DROP_LENGTH,
	MODERATO_RX_FLOW_FRAMES,
	MODERATO_RX_FLOW_DROPS,
	/* The ones above are shown by ethtool -S, those below in the standard
	 * groups only.
	 */
	MODERATO_PRIVATE_COUNTERS,
	MODERATO_RX_DROP_FIFO = MODERATO_PRIVATE_COUNTERS,
	MODERATO_RX_DROP_RING,
	MODERATO_RX_DROP_BUFFER,
	MODERATO_RX_FRAMES,
	MODERATO_RX_OCTETS,
	MODERATO_RX_FCS_ERRORS,
	MODERATO_RX_UNDERSIZE,
	MODERATO_RX_OVERSIZE,
	MODERATO_TX_FRAMES,
	MODERATO_TX_OCTETS,
	/* Those that only some hardware has */
	MODERATO_RX_PAUSE,
	MODERATO_RX_CONTROL_UNKNOWN,
	MODERATO_TX_PAUSE,
	MODERATO_RX_FRAGMENTS,
	MODERATO_RX_JABBERS,
	MODERATO_RX_MULTICAST,
	MODERATO_RX_BROADCAST,
	MODERATO_TX_MULTICAST,
	MODERATO_TX_BROADCAST,
	MODERATO_RX_LENGTHS,
	MODERATO_TX_LENGTHS = MODERATO_RX_LENGTHS + MODERATO_RMON_RANGES,
	MODERATO_COUNTERS = MODERATO_TX_LENGTHS + MODERATO_RMON_RANGES,
};

/* Counters of the hardware, which are 32 bits wide and wrap
 * @lock: guards all of it
 */
struct moderato_hw_stats {
	/* see above */
	spinlock_t lock;
	u32 last[MODERATO_COUNTERS];
	u64 total[MODERATO_COUNTERS];
	struct delayed_work work;
};

/* Each is written by one context at a time: mostly a softirq, but also what
 * comes with interrupts off. So they are off whenever the sequence counter in it
 * is written.
 */
struct moderato_rx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t errors;
	u64_stats_t alloc_failed;
	u64_stats_t merged;
	u64_stats_t merges;
	struct u64_stats_sync syncp;
};

struct moderato_tx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t errors;
	struct u64_stats_sync syncp;
};

/* What the driver counts of a queue, as one sees it */
struct moderato_rx_totals {
	u64 packets;
	u64 bytes;
	u64 errors;
	u64 alloc_failed;
	u64 merged;
	u64 merges;
};

struct moderato_tx_totals {
	u64 packets;
	u64 bytes;
	u64 errors;
};

struct moderato_rx_totals
moderato_rx_totals(const struct moderato_rx_stats *rx);
struct moderato_tx_totals
moderato_tx_totals(const struct moderato_tx_stats *tx);
void moderato_stats_init(struct moderato_priv *priv);
void moderato_stats_resync(struct moderato_priv *priv);
void moderato_stats_look(struct moderato_priv *priv);
void moderato_stats_start(struct moderato_priv *priv);
void moderato_stats_stop(struct moderato_priv *priv);
void moderato_stats_read(struct moderato_priv *priv,
			 u64 total[MODERATO_COUNTERS]);
u64 moderato_stats_alloc_failed(struct moderato_priv *priv);
void moderato_get_stats64(struct net_device *ndev,
			  struct rtnl_link_stats64 *stats);

extern const char moderato_counter_names[][ETH_GSTRING_LEN];

/* Device ------------------------------------------------------------------- */

/* What the user chose; kept while the interface is down
 * @paces: adaptive Rx moderation is the hardware's; else DIM's
 * @adaptive_rx, @adaptive_tx: have an effect with polls only
 * @rx_cqe, @tx_cqe: ethtool's usecs and usecs-low have changed places
 */
struct moderato_config {
	struct moderato_coalesce rx;
	struct moderato_coalesce tx;
	u8 rx_order;
	u8 tx_order;
	const struct moderato_rx_ops *rx_ops;
	const struct moderato_tx_ops *tx_ops;
	bool paces;
	bool adaptive_rx;
	bool adaptive_tx;
	bool rx_cqe;
	bool tx_cqe;
	u32 poll_usecs;	/* rx_timer.c */
};

/* Rings that wait for being reset, see struct moderato_direction */
enum {
	MODERATO_RESET_RX,
	MODERATO_RESET_TX,
	MODERATO_RESET_RX1,
	MODERATO_RESET_TX1,
};

/* One of each direction, and what serves them
 * @rx, @tx: exist while the queue is used and the interface is up
 * @index: of the queue
 */
struct moderato_queue {
	struct moderato_priv *priv;
	struct moderato_rx *rx;
	struct moderato_tx *tx;
	u8 index;
	struct moderato_config config;
	struct moderato_rx_stats rx_stats;
	struct moderato_tx_stats tx_stats;
	struct napi_struct napi;
	struct dim rx_dim;
	struct dim tx_dim;
	int rx_irq;
	int tx_irq;
	char rx_irq_name[IFNAMSIZ + 4];
	char tx_irq_name[IFNAMSIZ + 4];
	struct moderato_delay *delay;	/* rx_timer.c */
	struct moderato_helper *helper;	/* rx_shared.c */
} ____cacheline_aligned;

/* @features: what FEATURES reads; 0 where the register map has none
 * @speed: of the link in Mb/s; 0: none
 * @ctrl: what CTRL holds
 * @ctrl_lock: guards @ctrl and the register
 * @has_pacing: the hardware can adapt its moderation
 * @copy_mtu: the MTU for which the latest Tx ring came up
 * @used, @count: of @queue, used and there
 * @netdev_ops, @ethtool_ops: those of all hardware, and those that features add
 * @vlans: members of each row, guarded by RTNL
 * @resets: rings that @reset_task is to reset
 * @reset_next: not sooner than then, in jiffies
 * @halts: halted rings that it found, guarded by RTNL
 * @suits: whether a configuration and an MTU may come into effect, and says why
 *	   not; NULL: all may
 */
struct moderato_priv {
	void __iomem *regs;
	struct net_device *ndev;
	struct device *dev;
	u32 features;

	/* see above */
	spinlock_t ctrl_lock;
	u32 ctrl;
	u32 clock_hz;
	u32 usecs_max;
	u8 max_order;
	bool has_pacing;
	u8 used;
	u8 count;
	unsigned int copy_mtu;

	int speed;
	struct phylink *phylink;
	struct phylink_config phylink_config;
	struct moderato_hw_stats hw_stats;
	struct net_device_ops netdev_ops;
	struct ethtool_ops ethtool_ops;
	struct moderato_ptp *ptp;	/* moderato_ptp.c */
	struct moderato_rss *rss;	/* moderato_channels.c */

	u16 vlans[VLAN_N_VID / MODERATO_VLAN_ROW];
	struct moderato_rules *rules;	/* moderato_rxnfc.c */
	struct moderato_variants *variants;	/* moderato_variants.c */

	struct delayed_work reset_task;
	unsigned long resets;
	unsigned long reset_next;
	u64 halts;
	bool (*suits)(const struct moderato_priv *priv,
		      const struct moderato_config *config, unsigned int mtu);
	struct moderato_xdp *xdp;	/* moderato_xdp.c */
	struct moderato_offload *offload;	/* moderato_offload.c */

	struct moderato_queue queue[];
};

static inline const struct moderato_direction *
moderato_rx_dir(const struct moderato_queue *q)
{
	return &moderato_rx_directions[q->index];
}

static inline const struct moderato_direction *
moderato_tx_dir(const struct moderato_queue *q)
{
	return &moderato_tx_directions[q->index];
}

/* Behind the last of the queues that are used, and of those that there are */
static inline struct moderato_queue *
moderato_used_end(struct moderato_priv *priv)
{
	return priv->queue + READ_ONCE(priv->used);
}

static inline struct moderato_queue *
moderato_queues_end(struct moderato_priv *priv)
{
	return priv->queue + priv->count;
}

static inline bool moderato_is_used(const struct moderato_queue *q)
{
	return q->index < q->priv->used;
}

static inline bool moderato_has_jumbo(const struct moderato_priv *priv)
{
	return priv->features & MODERATO_FEATURES_JUMBO;
}

/* What only some hardware has, and what there is only one of, in a file of its
 * own. Each function may be NULL.
 * @init: before the net device is registered, with the hardware known; it may
 *	  add functions to those of the kernel
 * @registered: after that
 * @free: after it is gone; also what @init has not made
 * @restore: the hardware has forgotten
 * @rx_create, @rx_destroy, @tx_create, @tx_destroy: of each ring
 * @rx_up: before the hardware knows of any buffer
 * @tx_up: it runs
 * @irqs: a queue's interrupts were requested, or are about to be freed
 * @queue_down: a queue's rings and interrupts are off
 * @one_queue: whether only one queue may be used
 * @set_coalesce, @get_coalesce: what else it knows of ethtool -C
 */
struct moderato_feature {
	int (*init)(struct moderato_priv *priv);
	void (*registered)(struct moderato_priv *priv);
	void (*free)(struct moderato_priv *priv);
	void (*restore)(struct moderato_priv *priv);
	int (*rx_create)(struct moderato_rx *rx);
	void (*rx_up)(struct moderato_rx *rx);
	void (*rx_destroy)(struct moderato_rx *rx);
	void (*tx_create)(struct moderato_tx *tx);
	void (*tx_destroy)(struct moderato_tx *tx);
	void (*tx_up)(struct moderato_tx *tx);
	void (*irqs)(struct moderato_queue *q, bool on);
	void (*queue_down)(struct moderato_queue *q);
	bool (*one_queue)(const struct moderato_priv *priv);
	int (*set_coalesce)(struct moderato_config *config,
			    const struct ethtool_coalesce *ec,
			    struct netlink_ext_ack *extack);
	void (*get_coalesce)(const struct moderato_queue *q,
			     struct ethtool_coalesce *ec);
};

extern const struct moderato_feature moderato_ethtool_feature;
extern const struct moderato_feature moderato_rxnfc_feature;
extern const struct moderato_feature moderato_gather_feature;
extern const struct moderato_feature moderato_hwtstamp_feature;
extern const struct moderato_feature moderato_merge_feature;
extern const struct moderato_feature moderato_none_feature;
extern const struct moderato_feature moderato_offload_feature;
extern const struct moderato_feature moderato_ptp_feature;
extern const struct moderato_feature moderato_queue_stats_feature;
extern const struct moderato_feature moderato_channels_feature;
extern const struct moderato_feature moderato_rss_feature;
extern const struct moderato_feature moderato_shared_feature;
extern const struct moderato_feature moderato_timer_feature;
extern const struct moderato_feature moderato_variants_feature;
extern const struct moderato_feature moderato_vlan_feature;
extern const struct moderato_feature moderato_xdp_feature;
extern const struct moderato_feature moderato_xsk_feature;

int moderato_features_init(struct moderato_priv *priv);
void moderato_features_registered(struct moderato_priv *priv);
void moderato_features_free(struct moderato_priv *priv);
void moderato_features_restore(struct moderato_priv *priv);
int moderato_features_rx_create(struct moderato_rx *rx);
void moderato_features_rx_up(struct moderato_rx *rx);
void moderato_features_rx_destroy(struct moderato_rx *rx);
void moderato_features_tx_create(struct moderato_tx *tx);
void moderato_features_tx_destroy(struct moderato_tx *tx);
void moderato_features_tx_up(struct moderato_tx *tx);
void moderato_features_irqs(struct moderato_queue *q, bool on);
void moderato_features_queue_down(struct moderato_queue *q);
bool moderato_features_one_queue(const struct moderato_priv *priv);
int moderato_features_set_coalesce(struct moderato_config *config,
				   const struct ethtool_coalesce *ec,
				   struct netlink_ext_ack *extack);
void moderato_features_get_coalesce(const struct moderato_queue *q,
				    struct ethtool_coalesce *ec);

static inline bool moderato_tx_adapts(const struct moderato_config *config)
{
	return config->tx_ops->polled && READ_ONCE(config->adaptive_tx);
}

/* Whether the hardware adapts Rx moderation, or DIM does */
static inline bool moderato_rx_paced(const struct moderato_config *config)
{
	return config->rx_ops->polled && config->adaptive_rx && config->paces;
}

static inline bool moderato_rx_dim(const struct moderato_config *config)
{
	return config->rx_ops->polled && READ_ONCE(config->adaptive_rx) &&
	       !config->paces;
}

/* The MTU that received frames are taken of: it says what is sent, and others on
 * the link may send what is standard. Hardware with small FIFOs takes less.
 */
static inline unsigned int moderato_rx_mtu(const struct moderato_priv *priv,
					   unsigned int mtu)
{
	return max(mtu, min_t(unsigned int, ETH_DATA_LEN,
			      priv->ndev->max_mtu));
}

void moderato_give_up(struct moderato_priv *priv);
void moderato_start_unused(struct moderato_priv *priv);
bool moderato_reset_if_halted(struct moderato_priv *priv,
			      const struct moderato_ring *ring);

/* Re-arms after an interrupt or a poll that took so many descriptors. None is
 * so rare that a register may then be read: did the ring halt? If so it stays
 * unarmed, and is reset.
 */
static inline void moderato_rearm_after(const struct moderato_queue *q,
					const struct moderato_ring *ring,
					unsigned int taken)
{
	if (likely(taken) || !moderato_reset_if_halted(q->priv, ring))
		moderato_rearm(ring);
}

void moderato_dim_rx_event(struct moderato_queue *q);

/* The poll has completed; @work, @freed: what it received and freed last */
static inline void moderato_napi_end(struct moderato_rx *rx,
				     struct moderato_tx *tx, int work,
				     unsigned int freed)
{
	struct moderato_queue *q = rx->queue;

	moderato_rearm_after(q, &rx->ring, work);
	if (moderato_rx_dim(&q->config))
		moderato_dim_rx_event(q);
	moderato_tx_poll_end(tx, freed);
}

unsigned int moderato_hw_queues(const void __iomem *regs);
int moderato_hw_init(struct moderato_priv *priv);
int moderato_hw_reset(struct moderato_priv *priv);
void moderato_hw_ctrl(struct moderato_priv *priv, u32 clear, u32 set);
void moderato_hw_set_address(struct moderato_priv *priv, const u8 *address);
void moderato_hw_set_hash(struct moderato_priv *priv, u64 hash);
bool moderato_hw_set_unicast(struct moderato_priv *priv);
void moderato_hw_set_pause(struct moderato_priv *priv, int speed, bool tx,
			   bool rx);
void moderato_hw_set_pause_marks(struct moderato_priv *priv, u8 order,
				 unsigned int frame);
void moderato_hw_set_mtu(struct moderato_priv *priv, unsigned int mtu);
int moderato_create_phylink(struct moderato_priv *priv);
int moderato_change(struct moderato_priv *priv,
		    const struct moderato_config *config, unsigned int mtu,
		    bool with_rx, bool with_tx);
int moderato_queue_create(struct moderato_queue *q);
void moderato_queue_destroy(struct moderato_queue *q);
void moderato_queue_up(struct moderato_queue *q);
int moderato_queue_down(struct moderato_queue *q);
void moderato_hw_moderate(struct moderato_priv *priv,
			  const struct moderato_direction *dir,
			  const struct moderato_coalesce *c);
void moderato_hw_pace(struct moderato_queue *q, u32 usecs);
int moderato_ring_alloc(struct moderato_priv *priv, struct moderato_ring *ring,
			const struct moderato_direction *dir, u8 order);
void moderato_ring_free(struct moderato_priv *priv,
			struct moderato_ring *ring);
void moderato_ring_start(struct moderato_priv *priv,
			 struct moderato_ring *ring);
int moderato_ring_stop(struct moderato_priv *priv, struct moderato_ring *ring);
bool moderato_ring_halted(const struct moderato_priv *priv,
			  const struct moderato_ring *ring);

void moderato_rx_moderate(struct moderato_queue *q);
void moderato_tx_moderate(struct moderato_queue *q, bool irq);
void moderato_dim_tx_event(struct moderato_queue *q);
void moderato_rx_dim_work(struct work_struct *work);
void moderato_tx_dim_work(struct work_struct *work);

#define MODERATO_PROFILES	5

extern const struct dim_cq_moder moderato_rx_profile[MODERATO_PROFILES];
extern const struct dim_cq_moder moderato_tx_profile[MODERATO_PROFILES];
struct dim_cq_moder moderato_dim_rx_profile(struct moderato_queue *q);
struct dim_cq_moder moderato_dim_tx_profile(struct moderato_queue *q);
int moderato_dim_init(struct moderato_priv *priv);
void moderato_dim_free(struct moderato_priv *priv);

void moderato_moderate(struct moderato_queue *q);
int moderato_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		       u32 *locations);
#endif /* MODERATO_H */
