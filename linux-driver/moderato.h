/* SPDX-License-Identifier: GPL-2.0-only */
/* Moderato Ethernet MAC: what the files of the driver share */
#ifndef MODERATO_H
#define MODERATO_H

#include <linux/dim.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#ifndef MODERATO_CORE
#include <linux/hrtimer.h>
#endif
#include <linux/if_vlan.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#ifdef MODERATO_TIMESTAMPS
#include <linux/net_tstamp.h>
#endif
#include <linux/netdevice.h>
#include <linux/phylink.h>
#ifdef MODERATO_TIMESTAMPS
#include <linux/ptp_clock_kernel.h>
#endif
#ifndef MODERATO_CORE
#include <linux/smp.h>
#endif
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>

#include "moderato_coalesce.h"
#ifndef MODERATO_CORE
#include "moderato_flow.h"
#endif
#include "moderato_regs.h"
#include "moderato_ring.h"

#ifndef MODERATO_CORE
#define MODERATO_NAPI_WEIGHT	32
#define MODERATO_URGENT_WEIGHT	8
#endif
#define MODERATO_DEFAULT_ORDER	8

/* Octets around the payload of the longest frame, with one VLAN tag */
#define MODERATO_OVERHEAD	(ETH_HLEN + VLAN_HLEN + ETH_FCS_LEN)

#ifdef MODERATO_OFFLOADS
/* VLANs that the hardware is told of at once */
#define MODERATO_VLAN_ROW	16
#ifdef MODERATO_QUEUES
#define MODERATO_MAX_QUEUES	2
#define MODERATO_RSS_KEY_BYTES	(4 * MODERATO_RSS_KEY_WORDS)
#define MODERATO_RSS_TABLE	BIT(MODERATO_RSS_TABLE_BITS)
#define MODERATO_RSS_TABLE_WORDS	(BIT(MODERATO_RSS_TABLE_BITS) / 32)
#else
#define MODERATO_MAX_QUEUES	1
#endif

#else
#define MODERATO_MAX_QUEUES	1
#endif
struct moderato_priv;
struct moderato_rx;
struct moderato_tx;
struct page_pool;

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
 * @reset: its bit in struct moderato_priv's @resets
 */
struct moderato_direction {
	const char *name;
	u32 base;
	u32 enable;
	u32 idle;
	u32 halted;
	u8 reset;
};

#ifdef MODERATO_OFFLOADS
/* Of each queue */
extern const struct moderato_direction moderato_rx_directions[];
extern const struct moderato_direction moderato_tx_directions[];
#else
extern const struct moderato_direction moderato_rx_direction;
extern const struct moderato_direction moderato_tx_direction;
#endif

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

#ifndef MODERATO_CORE
/* A receive strategy: in which context frames are handed to the stack.
 * @pooled: buffers come from a page_pool, which only a softirq may use
 * @shared: by polls on several CPUs, one after the other
 * @weight: frames that one call of the poll may receive; 0 without NAPI
 * @start: the ring runs from now on, interrupts are still off; may be NULL
 * @stop: the ring stands still and interrupts are off: hand over what is left
 * @irq: the hard interrupt
 */
struct moderato_rx_ops {
	bool pooled;
	bool shared;
	int weight;
	void (*start)(struct moderato_rx *rx);
	void (*stop)(struct moderato_rx *rx);
	void (*irq)(struct moderato_rx *rx);
};

extern const struct moderato_rx_ops moderato_rx_irq_ops;
extern const struct moderato_rx_ops moderato_rx_napi_ops;
extern const struct moderato_rx_ops moderato_rx_timer_ops;
extern const struct moderato_rx_ops moderato_rx_shared_ops;
#endif

struct moderato_rx_buf {
	void *data;
	dma_addr_t dma;
};

#ifdef MODERATO_MERGING
/* Segments that wait in NAPI's skb for those that continue them
 * @frame: the first one, in memory
 * @last: the last one, from the second one on
 * @sum: the first one's, as its descriptor has it
 * @len: the first one's
 * @headers: octets of each before its payload, from the second one on
 * @mss: octets of the first one's payload, likewise
 * @segs: so many; 0: nothing waits
 */
struct moderato_merge {
	void *frame;
	void *last;
	__le32 sum;
	u16 len;
	u16 headers;
	u16 mss;
	u16 segs;
};

#endif
/* The hardware owns every descriptor but the completed ones, and each slot
 * always has a buffer: producer = consumer + size.
 * @truesize: bytes of each buffer, with headroom and struct skb_shared_info
 * @room: of these, what the hardware may write
 */
struct moderato_rx {
	struct moderato_ring ring;
	struct moderato_priv *priv;
#ifndef MODERATO_CORE
	const struct moderato_rx_ops *ops;
#endif
	struct page_pool *pool;
	struct moderato_rx_buf *buf;
	unsigned int truesize;
	unsigned int room;
#ifdef MODERATO_MERGING
	struct moderato_merge merge;
#endif
#ifndef MODERATO_CORE
	/* frames before this index were looked at, whether they are urgent */
	u16 looked;
#endif
};

/* What was received in one go
 * @taken: descriptors, of these frames and of lost ones
 */
struct moderato_rx_done {
#ifdef MODERATO_MERGING
	/* whose skb segments may be pages of, or NULL */
	struct napi_struct *gro;
	/* frames that became part of a longer packet, and such packets */
	unsigned int merged;
	unsigned int merges;
#endif
	unsigned int taken;
	unsigned int packets;
	unsigned int bytes;
	unsigned int errors;
	unsigned int alloc_failed;
};

#ifdef MODERATO_CORE
struct moderato_rx *moderato_rx_create(struct moderato_priv *priv, u8 order,
				       unsigned int mtu);
#else
struct moderato_rx *moderato_rx_create(struct moderato_priv *priv, u8 order,
				       unsigned int mtu,
				       const struct moderato_rx_ops *ops);
#endif
void moderato_rx_destroy(struct moderato_rx *rx);
void moderato_rx_fill(struct moderato_rx *rx);
void moderato_rx_up(struct moderato_rx *rx);
int moderato_rx_down(struct moderato_rx *rx);
int moderato_rx_reset(struct moderato_rx *rx);
int moderato_rx_install(struct moderato_priv *priv, struct moderato_rx *rx);
struct sk_buff *moderato_rx_take(struct moderato_rx *rx, u16 index, u32 status,
				 struct moderato_rx_done *done);
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

/* Whether it is the skb that NAPI keeps, which moderato_merge_end() hands over */
static inline bool moderato_rx_is_paged(const struct sk_buff *skb,
					const struct moderato_rx_done *done)
{
#ifdef MODERATO_MERGING
	return done->gro && skb == done->gro->skb;
#else
	return false;
#endif
}

#ifndef MODERATO_CORE
bool moderato_rx_urgent(struct moderato_rx *rx, int budget);
#endif
#ifdef MODERATO_MERGING
bool moderato_rx_replace(struct moderato_rx *rx, u32 slot);
bool moderato_rx_is_segment(const struct moderato_rx_buf *buf,
			    unsigned int len);
struct sk_buff *moderato_merge_begin(struct moderato_rx *rx, u32 slot,
				     unsigned int len,
				     struct napi_struct *napi);
bool moderato_merge(struct moderato_rx *rx, u16 index, u32 status,
		    struct moderato_rx_done *done);
void moderato_merge_end(struct moderato_rx *rx, struct napi_struct *napi);
#endif
int moderato_napi_poll(struct napi_struct *napi, int budget);
#ifndef MODERATO_CORE
int moderato_shared_poll(struct moderato_rx *rx, int budget);
void moderato_shared_init(struct moderato_priv *priv);
#endif
void moderato_rx_napi_handle(struct moderato_rx *rx);
#ifndef MODERATO_CORE
void moderato_rx_napi_weigh(struct moderato_rx *rx);
#endif
void moderato_rx_napi_up(struct moderato_rx *rx);
void moderato_rx_napi_stop(struct moderato_rx *rx);
#ifndef MODERATO_CORE
void moderato_rx_timer_init(struct moderato_priv *priv);
void moderato_rx_timer_schedule(struct moderato_priv *priv);
void moderato_rx_timer_cancel(struct moderato_priv *priv);
#endif

/* Transmit ----------------------------------------------------------------- */

#ifndef MODERATO_CORE
/* A transmit strategy: in which context sent skbs are freed.
 * @irq: the hard interrupt; NULL if the strategy uses none
 * @prepare: before a frame is posted, under the queue's lock; may be NULL
 * @posted: after that; may be NULL
 */
struct moderato_tx_ops {
	void (*irq)(struct moderato_tx *tx);
	void (*prepare)(struct moderato_tx *tx);
	void (*posted)(struct moderato_tx *tx);
};

extern const struct moderato_tx_ops moderato_tx_irq_ops;
extern const struct moderato_tx_ops moderato_tx_count_ops;
extern const struct moderato_tx_ops moderato_tx_none_ops;
extern const struct moderato_tx_ops moderato_tx_poll_ops;
#endif

#ifdef MODERATO_GATHER
/* @skb: NULL in all slots of a frame in pieces but its first one
 * @dma: of the skb's data, of a fragment, or of @copy
 * @len: of what is mapped; 0: it is mapped with the slot before
 * @segs: frames that the hardware makes of it; 0 in all slots but the first one
 * @more: slots that follow, of the same frame
 * @accounted: byte queue limits know of it
 * @page: @dma is of a fragment
 * @copy: the slot's own buffer, once it has one
 */
struct moderato_tx_buf {
	struct sk_buff *skb;
	dma_addr_t dma;
	u32 len;
	u16 segs;
	u8 more;
	u8 accounted:1;
	u8 page:1;
	u8 *copy;
};
#else
/* @dma: of the skb's data, or of @copy
 * @accounted: bytes known to byte queue limits, 0 if not told
 * @copy: the slot's own buffer, once it has one
 */
struct moderato_tx_buf {
	struct sk_buff *skb;
	dma_addr_t dma;
	u16 len;
	u16 accounted;
	u8 *copy;
};
#endif

/* @prompt, @draining: change under the queue's lock only
 * @masked: an interrupt, of either direction, has left the ring to the poll
 * @prompt: sent skbs come back soon (see moderato_tx_prompt())
 * @draining: the queue stays stopped
 * @rung: producer index that the hardware knows
 * @reserve: the queue stops when fewer descriptors are free: 1 as long as no skb
 *	     needed more
 */
struct moderato_tx {
	struct moderato_ring ring;
	struct moderato_priv *priv;
#ifndef MODERATO_CORE
	/* changes under the queue's lock only */
	const struct moderato_tx_ops *ops;
#endif
	struct netdev_queue *queue;
	struct moderato_tx_buf *buf;
#ifndef MODERATO_CORE
	/* for strategies without interrupts */
	struct hrtimer timer;
#endif
	bool prompt;
	bool draining;
#ifndef MODERATO_CORE
	/* the hard interrupt is looking at the ring */
	bool in_irq;
#endif
	bool masked;
	u16 rung;
	u16 reserve;
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

struct moderato_tx *moderato_tx_create(struct moderato_priv *priv, u8 order);
void moderato_tx_destroy(struct moderato_tx *tx);
void moderato_tx_up(struct moderato_tx *tx);
int moderato_tx_down(struct moderato_tx *tx);
int moderato_tx_reset(struct moderato_tx *tx);
int moderato_tx_install(struct moderato_priv *priv, struct moderato_tx *tx);
void moderato_tx_switch(struct moderato_tx *tx);
struct sk_buff *moderato_tx_take(struct moderato_tx *tx,
				 struct moderato_tx_done *done);
void moderato_tx_finish(struct moderato_tx *tx,
			const struct moderato_tx_done *done);
#ifndef MODERATO_CORE
void moderato_tx_netpoll(struct moderato_tx *tx);
#endif
void moderato_copies_free(struct moderato_tx *tx);
int moderato_tx_copy(struct moderato_tx *tx, struct sk_buff *skb);
#ifdef MODERATO_GATHER
bool moderato_tx_segments(const struct moderato_priv *priv,
			  const struct sk_buff *skb);
netdev_features_t moderato_features_check(struct sk_buff *skb,
					  struct net_device *ndev,
					  netdev_features_t features);
bool moderato_tx_gathers(const struct moderato_tx *tx,
			 const struct sk_buff *skb);
int moderato_tx_gather(struct moderato_tx *tx, struct sk_buff *skb);
void moderato_tx_unmap(struct moderato_tx *tx, struct moderato_tx_buf *buf);
#endif
void moderato_tx_features(struct net_device *ndev);
netdev_features_t moderato_fix_features(struct net_device *ndev,
					netdev_features_t features);
netdev_tx_t moderato_start_xmit(struct sk_buff *skb, struct net_device *ndev);
#ifndef MODERATO_CORE
enum hrtimer_restart moderato_tx_none_timer(struct hrtimer *timer);
#ifdef MODERATO_OFFLOADS
void moderato_tx_none_interrupt(struct moderato_tx *tx);
#endif
#endif
unsigned int moderato_tx_poll(struct moderato_tx *tx, int budget);
void moderato_tx_poll_end(struct moderato_tx *tx, unsigned int freed);
#ifdef MODERATO_CORE
void moderato_tx_poll_handle(struct moderato_tx *tx);
#endif

/* From an Rx interrupt, whose poll frees what was sent, too */
static inline void moderato_tx_poll_comes(struct moderato_tx *tx)
{
#ifndef MODERATO_CORE
	if (READ_ONCE(tx->ops) != &moderato_tx_poll_ops)
		return;
#endif
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
#ifndef MODERATO_CORE
	MODERATO_RX_DROP_FIFO,
	MODERATO_RX_DROP_RING,
	MODERATO_RX_DROP_BUFFER,
#endif
	MODERATO_TX_DROP_LENGTH,
	MODERATO_DMA_ERRORS,
#ifdef MODERATO_OFFLOADS
	MODERATO_RX_VLAN_FILTERED,
#endif
#ifdef MODERATO_QUEUES
	MODERATO_RX1_INTERRUPTS,
	MODERATO_TX1_INTERRUPTS,
	MODERATO_RX1_DROP_RING,
	MODERATO_RX1_DROP_BUFFER,
	MODERATO_TX1_DROP_LENGTH,
#endif
	/* The ones above are shown by ethtool -S, those below in the standard
	 * groups only.
	 */
	MODERATO_PRIVATE_COUNTERS,
#ifdef MODERATO_CORE
	MODERATO_RX_DROP_FIFO = MODERATO_PRIVATE_COUNTERS,
	MODERATO_RX_DROP_RING,
	MODERATO_RX_DROP_BUFFER,
	MODERATO_RX_FRAMES,
#else
	MODERATO_RX_FRAMES = MODERATO_PRIVATE_COUNTERS,
#endif
	MODERATO_RX_OCTETS,
	MODERATO_RX_FCS_ERRORS,
	MODERATO_RX_UNDERSIZE,
	MODERATO_RX_OVERSIZE,
	MODERATO_TX_FRAMES,
	MODERATO_TX_OCTETS,
#ifdef MODERATO_OFFLOADS
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
#else
	MODERATO_COUNTERS,
#endif
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
#ifdef MODERATO_MERGING
	u64_stats_t merged;
	u64_stats_t merges;
#endif
	struct u64_stats_sync syncp;
};

struct moderato_tx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t errors;
	struct u64_stats_sync syncp;
};

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

#ifdef MODERATO_OFFLOADS
#ifndef MODERATO_LINUX_6_1
extern const struct netdev_stat_ops moderato_stat_ops;
#endif
#endif
extern const char moderato_counter_names[][ETH_GSTRING_LEN];

/* Device ------------------------------------------------------------------- */

/* What the user chose; kept while the interface is down
 * @rx_cqe, @tx_cqe: ethtool's usecs and usecs-low have changed places
 */
struct moderato_config {
	struct moderato_coalesce rx;
	struct moderato_coalesce tx;
	u8 rx_order;
	u8 tx_order;
#ifndef MODERATO_CORE
	/* @rx_timer, @tx_napi, @adaptive_rx, @adaptive_tx: have an effect with
	 *	@rx_napi only, whose poll they use; the last one with @tx_napi
	 */
	bool rx_napi;
	bool tx_reclaim_on_xmit;
	bool rx_timer;
	bool tx_napi;
#endif
	bool adaptive_rx;
	bool adaptive_tx;
#ifndef MODERATO_CORE
	/* @rx_dim: adaptive Rx moderation is DIM's, also where the hardware
	 *	    could do it
	 * @rx_shared: the poll is helped by another CPU's, if there is one
	 */
	bool rx_dim;
	bool rx_shared;
#endif
	bool rx_cqe;
	bool tx_cqe;
#ifndef MODERATO_CORE
	/* how long moderato_rx_timer_schedule() waits; 0: until the next tick */
	u32 poll_usecs;
#endif
};

#ifndef MODERATO_CORE
/* Rules of ethtool -N, and words that the hardware compares for all of them */
#define MODERATO_FLOWS		2

/* @words, @count: what is compared for it; 0: there is none at this location */
struct moderato_flow {
	struct ethtool_rx_flow_spec spec;
	struct moderato_word words[MODERATO_FLOWS];
	int count;
};

#endif
/* Rings that wait for being reset, see struct moderato_direction */
enum {
	MODERATO_RESET_RX,
	MODERATO_RESET_TX,
};

#ifndef MODERATO_CORE
/* A second CPU's poll of a shared ring
 * @lock: guards the ring, while polls share it
 * @busy: it was woken, and has not ended since
 */
struct moderato_helper {
	struct napi_struct napi;
	/* see above */
	spinlock_t lock;
	call_single_data_t csd;
	atomic_t busy;
};

#endif
#ifdef MODERATO_TIMESTAMPS
/* The clock of time stamps
 * @clock: NULL without one
 * @lock: guards the registers, and what follows
 * @increment: its rate
 * @start, @period, @width: of the periodic output in ns; a @period of 0: off
 */
struct moderato_ptp {
	struct ptp_clock_info info;
	struct ptp_clock *clock;
	/* see above */
	spinlock_t lock;
	struct kernel_hwtstamp_config config;
	u64 increment;
	u64 start;
	u32 period;
	u32 width;
};

#endif
/* @rx, @tx: exist while the interface is up
 * @speed: of the link in Mb/s; 0: none
 * @ctrl: what CTRL holds
 * @ctrl_lock: guards @ctrl and the register
 * @has_pacing: the hardware can adapt its moderation
 * @features: what FEATURES reads
 * @copy_mtu: the MTU that buffers of the Tx ring that is up are for
 * @queues, @max_queues: in each direction, used and there
 * @resets: rings that @reset_task is to reset
 * @reset_next: not sooner than then, in jiffies
 * @halts: halted rings that it found, guarded by RTNL
 */
struct moderato_priv {
	void __iomem *regs;
	struct moderato_rx *rx;
	struct moderato_tx *tx;
	struct napi_struct napi;
	struct moderato_rx_stats rx_stats;
	struct moderato_tx_stats tx_stats;

	struct net_device *ndev;
	struct device *dev;
	struct moderato_config config;
	int rx_irq;
	int tx_irq;
#ifdef MODERATO_OFFLOADS
	/* Of these structures, one for each queue, the first one is the net
	 * device's, and has in it what is of all queues.
	 */
	struct moderato_priv *first;
	u8 queue;
	u8 queues;
	u8 max_queues;
#endif
	char rx_irq_name[IFNAMSIZ + 4];
	char tx_irq_name[IFNAMSIZ + 4];

	/* see above */
	spinlock_t ctrl_lock;
	u32 ctrl;
	u32 clock_hz;
	u32 usecs_max;
	u8 max_order;

	int speed;
	struct phylink *phylink;
	struct phylink_config phylink_config;
	struct moderato_hw_stats hw_stats;

#ifndef MODERATO_CORE
	/* of polls by the clock */
	struct timer_list tick;
	struct hrtimer delay;
#endif
	struct dim rx_dim;
	struct dim tx_dim;

#ifndef MODERATO_CORE
	/* see moderato_flow.c; @urgent: there is such a rule */
	bool has_urgent;
	bool urgent;
#endif
	bool has_pacing;
#ifdef MODERATO_OFFLOADS
	/* FEATURES, 0 where the register map has none */
	u32 features;
	unsigned int copy_mtu;
	/* members of each row, guarded by RTNL */
	u16 vlans[VLAN_N_VID / MODERATO_VLAN_ROW];
#endif
#ifdef MODERATO_TIMESTAMPS
	struct moderato_ptp ptp;
#endif
#ifdef MODERATO_QUEUES
	/* see moderato_queues.c */
	u32 rss_types;
	u32 rss_table[MODERATO_RSS_TABLE_WORDS];
	u8 rss_key[MODERATO_RSS_KEY_BYTES];
#endif
#ifndef MODERATO_CORE
	struct moderato_flow flows[MODERATO_FLOWS];
#endif

	struct delayed_work reset_task;
	unsigned long resets;
	unsigned long reset_next;
	u64 halts;
#ifndef MODERATO_CORE
#ifdef CONFIG_SMP
	/* of polls that share a ring */
	struct moderato_helper helper;
#endif
#endif
};

#ifdef MODERATO_OFFLOADS
/* That of queue 0 */
static inline struct moderato_priv *
moderato_first(const struct moderato_priv *priv)
{
	return priv->first;
}

static inline const struct moderato_direction *
moderato_rx_dir(const struct moderato_priv *priv)
{
	return &moderato_rx_directions[priv->queue];
}

static inline const struct moderato_direction *
moderato_tx_dir(const struct moderato_priv *priv)
{
	return &moderato_tx_directions[priv->queue];
}

/* One beyond the last queue that is used, and beyond the last one */
static inline struct moderato_priv *
moderato_used_end(const struct moderato_priv *priv)
{
	return priv->first + priv->first->queues;
}

static inline struct moderato_priv *
moderato_queues_end(const struct moderato_priv *priv)
{
	return priv->first + priv->first->max_queues;
}

#ifdef MODERATO_QUEUES
static inline bool moderato_is_used(const struct moderato_priv *priv)
{
	return priv->queue < priv->first->queues;
}

#endif
#else
static inline struct moderato_priv *
moderato_first(struct moderato_priv *priv)
{
	return priv;
}

static inline const struct moderato_direction *
moderato_rx_dir(const struct moderato_priv *priv)
{
	return &moderato_rx_direction;
}

static inline const struct moderato_direction *
moderato_tx_dir(const struct moderato_priv *priv)
{
	return &moderato_tx_direction;
}

static inline struct moderato_priv *
moderato_used_end(struct moderato_priv *priv)
{
	return priv + 1;
}

static inline struct moderato_priv *
moderato_queues_end(struct moderato_priv *priv)
{
	return priv + 1;
}

#endif
#ifdef MODERATO_OFFLOADS
static inline bool moderato_has_jumbo(const struct moderato_priv *priv)
{
	return priv->features & MODERATO_FEATURES_JUMBO;
}

#endif
#ifdef MODERATO_GATHER
static inline bool moderato_has_gather(const struct moderato_priv *priv)
{
	return priv->features & MODERATO_FEATURES_GATHER;
}

#endif
#ifdef MODERATO_CHECKSUMS
/* Whether the hardware inserts the checksum of a CHECKSUM_PARTIAL skb: not at an
 * odd octet, which no protocol of the stack's own asks for
 */
static inline bool moderato_tx_inserts(const struct moderato_tx *tx,
				       const struct sk_buff *skb)
{
	unsigned int odd = skb_checksum_start_offset(skb) | skb->csum_offset;

	return tx->priv->features & MODERATO_FEATURES_TX_CHECKSUM &&
	       !(odd & 1);
}

#endif
#ifdef MODERATO_OFFLOADS
/* Asks for the tag of @skb, if it has one, in the descriptor at @index. Others
 * may look at it meanwhile, whether it is completed: it never seems to be.
 */
static inline void moderato_tx_put_tag(struct moderato_ring *ring, u16 index,
				       const struct sk_buff *skb)
{
	u32 slot = moderato_slot(index, ring->order);
	u32 status = moderato_pending(index, ring->order);

	if (skb_vlan_tag_present(skb))
		status |= MODERATO_DESC_TX_TAG_TAGGED |
			  FIELD_PREP(MODERATO_DESC_TX_TAG_TAG,
				     skb_vlan_tag_get(skb));
	WRITE_ONCE(ring->desc[slot].status, cpu_to_le32(status));
}

#endif
#ifdef MODERATO_TIMESTAMPS
/* Octets ahead of a received frame, if they are wanted */
static inline unsigned int moderato_rx_ahead(const struct moderato_priv *priv)
{
	return priv->features & MODERATO_FEATURES_TIMESTAMP ?
		       MODERATO_STAMP_OCTETS : 0;
}

/* Whether the hardware is to stamp it */
static inline bool moderato_tx_asks(const struct moderato_tx *tx,
				    const struct sk_buff *skb)
{
	return skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP &&
	       READ_ONCE(moderato_first(tx->priv)->ptp.config.tx_type) ==
		       HWTSTAMP_TX_ON;
}

int moderato_ptp_init(struct moderato_priv *priv);
void moderato_ptp_start(struct moderato_priv *priv);
void moderato_ptp_free(struct moderato_priv *priv);
void moderato_tx_stamped(struct moderato_tx *tx, struct sk_buff *skb,
			 u32 stamp);
int moderato_hwtstamp_get(struct net_device *ndev,
			  struct kernel_hwtstamp_config *config);
int moderato_hwtstamp_set(struct net_device *ndev,
			  struct kernel_hwtstamp_config *config,
			  struct netlink_ext_ack *extack);
#ifdef MODERATO_LINUX_6_1
int moderato_ptp_ioctl(struct net_device *ndev, struct ifreq *ifr, int cmd);
#endif
int moderato_get_ts_info(struct net_device *ndev,
			 struct kernel_ethtool_ts_info *info);

#endif
#ifdef MODERATO_CHECKSUMS
/* What the hardware is to insert into an skb that is posted as it is */
static inline u32 moderato_tx_insertion(const struct sk_buff *skb)
{
	unsigned int start = skb_checksum_start_offset(skb);

	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return 0;
	return moderato_insertion(start, start + skb->csum_offset);
}

#endif
#ifdef MODERATO_CORE
static inline bool moderato_tx_adapts(const struct moderato_config *config)
{
	return READ_ONCE(config->adaptive_tx);
}

/* Whether the hardware adapts Rx moderation, or DIM does */
static inline bool moderato_rx_paced(const struct moderato_priv *priv)
{
	return priv->config.adaptive_rx && priv->has_pacing;
}

static inline bool moderato_rx_dim(const struct moderato_priv *priv)
{
	return READ_ONCE(priv->config.adaptive_rx) && !priv->has_pacing;
}
#else
static inline bool moderato_tx_polled(const struct moderato_config *config)
{
	return config->rx_napi && config->tx_napi;
}

static inline bool moderato_tx_adapts(const struct moderato_config *config)
{
	return moderato_tx_polled(config) && READ_ONCE(config->adaptive_tx);
}

static inline const struct moderato_rx_ops *
moderato_rx_ops(const struct moderato_config *config)
{
	if (!config->rx_napi)
		return &moderato_rx_irq_ops;
	if (config->rx_timer)
		return &moderato_rx_timer_ops;
	return IS_ENABLED(CONFIG_SMP) && config->rx_shared ?
		       &moderato_rx_shared_ops :
		       &moderato_rx_napi_ops;
}

/* Whether the hardware adapts Rx moderation, or DIM does */
static inline bool moderato_rx_paced(const struct moderato_priv *priv)
{
	const struct moderato_config *config = &priv->config;

	return config->rx_napi && config->adaptive_rx && priv->has_pacing &&
	       !config->rx_dim;
}

static inline bool moderato_rx_dim(const struct moderato_priv *priv)
{
	const struct moderato_config *config = &priv->config;

	return config->rx_napi && READ_ONCE(config->adaptive_rx) &&
	       (config->rx_dim || !priv->has_pacing);
}

static inline bool moderato_rx_is_shared(const struct moderato_rx *rx)
{
	return IS_ENABLED(CONFIG_SMP) && rx->ops->shared;
}
#endif

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
bool moderato_reset_if_halted(struct moderato_priv *priv,
			      const struct moderato_ring *ring);

/* Re-arms after an interrupt or a poll that took so many descriptors. None is
 * so rare that a register may then be read: did the ring halt? If so it stays
 * unarmed, and is reset.
 */
static inline void moderato_rearm_after(struct moderato_priv *priv,
					const struct moderato_ring *ring,
					unsigned int taken)
{
	if (likely(taken) || !moderato_reset_if_halted(priv, ring))
		moderato_rearm(ring);
}

void moderato_dim_rx_event(struct moderato_priv *priv);

/* The poll has completed; @work, @freed: what it received and freed last */
static inline void moderato_napi_end(struct moderato_rx *rx,
				     struct moderato_tx *tx, int work,
				     unsigned int freed)
{
	struct moderato_priv *priv = rx->priv;

	moderato_rearm_after(priv, &rx->ring, work);
	if (moderato_rx_dim(priv))
		moderato_dim_rx_event(priv);
	moderato_tx_poll_end(tx, freed);
}

int moderato_hw_init(struct moderato_priv *priv);
int moderato_hw_reset(struct moderato_priv *priv);
void moderato_hw_ctrl(struct moderato_priv *priv, u32 clear, u32 set);
void moderato_hw_set_address(struct moderato_priv *priv, const u8 *address);
void moderato_hw_set_hash(struct moderato_priv *priv, u64 hash);
#ifdef MODERATO_OFFLOADS
bool moderato_hw_set_unicast(struct moderato_priv *priv);
void moderato_hw_set_pause(struct moderato_priv *priv, int speed, bool tx,
			   bool rx);
void moderato_hw_set_pause_marks(struct moderato_priv *priv, u8 order,
				 unsigned int frame);
void moderato_hw_set_vlan(struct moderato_priv *priv,
			  netdev_features_t features);
void moderato_hw_set_vlan_row(struct moderato_priv *priv, unsigned int row);
#endif
void moderato_hw_set_mtu(struct moderato_priv *priv, unsigned int mtu);
int moderato_change(struct moderato_priv *priv,
		    const struct moderato_config *config, unsigned int mtu,
		    bool with_rx, bool with_tx);
int moderato_queue_create(struct moderato_priv *priv);
void moderato_queue_destroy(struct moderato_priv *priv);
void moderato_queue_up(struct moderato_priv *priv);
int moderato_queue_down(struct moderato_priv *priv);
#ifdef MODERATO_QUEUES
int moderato_queues_init(struct moderato_priv *priv);
int moderato_queues_publish(struct moderato_priv *priv);
void moderato_queues_apply(struct moderato_priv *priv);
void moderato_queues_hint(struct moderato_priv *q, bool on);
void moderato_queues_spread(struct moderato_priv *priv);
void moderato_get_channels(struct net_device *ndev,
			   struct ethtool_channels *channels);
int moderato_set_channels(struct net_device *ndev,
			  struct ethtool_channels *channels);
int moderato_get_rxfh_fields(const struct moderato_priv *priv,
			     struct ethtool_rxnfc *cmd);
u32 moderato_get_rxfh_indir_size(struct net_device *ndev);
u32 moderato_get_rxfh_key_size(struct net_device *ndev);
#ifndef MODERATO_LINUX_6_1
int moderato_get_rxfh(struct net_device *ndev,
		      struct ethtool_rxfh_param *rxfh);
int moderato_set_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh,
		      struct netlink_ext_ack *extack);
#endif
#endif
void moderato_hw_moderate(struct moderato_priv *priv,
			  const struct moderato_direction *dir,
			  const struct moderato_coalesce *c);
void moderato_hw_pace(struct moderato_priv *priv, u32 usecs);
int moderato_ring_alloc(struct moderato_priv *priv, struct moderato_ring *ring,
			const struct moderato_direction *dir, u8 order);
void moderato_ring_free(struct moderato_priv *priv,
			struct moderato_ring *ring);
void moderato_ring_start(struct moderato_priv *priv,
			 struct moderato_ring *ring);
int moderato_ring_stop(struct moderato_priv *priv, struct moderato_ring *ring);
bool moderato_ring_halted(const struct moderato_priv *priv,
			  const struct moderato_ring *ring);

void moderato_rx_moderate(struct moderato_priv *priv);
void moderato_tx_moderate(struct moderato_priv *priv, bool irq);
void moderato_dim_tx_event(struct moderato_priv *priv);
int moderato_dim_init(struct moderato_priv *priv);
void moderato_dim_free(struct moderato_priv *priv);

int moderato_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		       u32 *locations);
#ifndef MODERATO_CORE
void moderato_flow_apply(struct moderato_priv *priv);
int moderato_flows_used(const struct moderato_priv *priv);
int moderato_set_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd);
#endif

extern const struct ethtool_ops moderato_ethtool_ops;

#endif /* MODERATO_H */
