/* SPDX-License-Identifier: GPL-2.0-only */
/* The flow table: shared by its files */
#ifndef MODERATO_OFFLOAD_H
#define MODERATO_OFFLOAD_H

#include <linux/hashtable.h>
#include <linux/notifier.h>
#include <net/neighbour.h>

#include "moderato_flow.h"
#include "moderato_priv.h"

#define MODERATO_OFFLOAD_HASH_BITS	8

/* Interval of looks for changes without a notifier, and of reading all
 * counters: octets of a flow at 1 Gb/s wrap in 34 s
 */
#define MODERATO_OFFLOAD_LOOK		(HZ / 2)
#define MODERATO_OFFLOAD_COUNT		(10 * HZ)

/* A neighbour to which the hardware forwards
 * @neigh: the neighbour, with a reference
 * @flows: number of flows
 * @address: its address in their entries
 * @active: frames went there since the last request to the kernel to check it
 */
struct moderato_hop {
	struct list_head list;
	struct neighbour *neigh;
	unsigned int flows;
	u8 address[ETH_ALEN];
	bool active;
};

/* A flow table of the kernel that offers flows to a MAC */
struct moderato_flowtable {
	struct moderato_offload *offload;
};

/* A flow of the kernel that has been in the hardware. The record and its counts
 * stay until the kernel ends the flow.
 * @cookie: the kernel's name for it
 * @table: its flow table
 * @entry: its entry
 * @place: in the hardware's table; negative: not there
 * @hop: its neighbour, while it is there
 * @seen_frames, @seen_octets: last values of its counters
 * @frames, @octets: counts not reported to the kernel yet
 * @looked: when its counters were read last, in jiffies
 * @used: when it was used last before that, in jiffies
 */
struct moderato_flow {
	struct hlist_node node;
	unsigned long cookie;
	const struct moderato_flowtable *table;
	struct moderato_entry entry;
	int place;
	struct moderato_hop *hop;
	u32 seen_frames;
	u32 seen_octets;
	u64 frames;
	u64 octets;
	unsigned long looked;
	unsigned long used;
};

/* Frames received or sent without software, which the interface's own
 * statistics do not count
 */
struct moderato_forwarded {
	u64_stats_t frames;
	u64_stats_t octets;
	struct u64_stats_sync syncp;
};

/* The flow table of a MAC with a peer: flows that this MAC receives and its
 * peer sends. moderato_offload_lock guards all of it.
 * @priv: the device
 * @peer: the peer; NULL until it is there. Written under RTNL, too
 * @peer_node: its device tree node, with a reference
 * @order: binary logarithm of the table's size
 * @on: hw-tc-offload
 * @broken: the hardware does not answer, and the driver leaves it alone
 * @unsettled: something that entries depend on has changed, and may not be
 * visible to all tasks yet; no entries until @settle has run
 * @count: number of flows in the hardware
 * @at: the flow at each place of the table, or NULL
 * @flows: all flows, by cookie
 * @hops: neighbours of flows in the hardware
 * @blocks: callbacks of the kernel's flow tables; several while one replaces
 * another
 * @rx, @tx: forwarded frames of this interface
 * @full: how often no place was free
 * @flushes: how often all entries were removed
 * @counted: when all counters were read for the interface's statistics
 * @looked: when @look read them
 * @genid: generation of the kernel's routes that entries are made from
 * @look: while there are @blocks: reads counters before they wrap, and looks
 * for changes that no notifier reports
 * @settle: ends @unsettled
 * @netdev_nb, @netevent_nb, @nexthop_nb, @fib_nb: notifiers
 * @netdev_ops, @ethtool_ops: the replaced operations
 */
struct moderato_offload {
	struct moderato_priv *priv;
	struct moderato_offload *peer;
	struct device_node *peer_node;
	u8 order;
	bool on;
	bool broken;
	bool unsettled;
	unsigned int count;
	struct moderato_flow **at;
	DECLARE_HASHTABLE(flows, MODERATO_OFFLOAD_HASH_BITS);
	struct list_head hops;
	struct list_head blocks;
	struct moderato_forwarded rx;
	struct moderato_forwarded tx;
	u64 full;
	u64 flushes;
	unsigned long counted;
	unsigned long looked;
	int genid;
	struct delayed_work look;
	struct work_struct settle;
	struct notifier_block netdev_nb;
	struct notifier_block netevent_nb;
	struct notifier_block nexthop_nb;
	struct notifier_block fib_nb;
	struct net_device_ops netdev_ops;
	struct ethtool_ops ethtool_ops;
};

/* One lock for all tables, since two peers use each other's */
extern spinlock_t moderato_offload_lock;

/* moderato_offload.c */
#ifdef MODERATO_FLOWS
int moderato_offload_init(struct moderato_priv *priv);
void moderato_offload_free(struct moderato_priv *priv);
void moderato_offload_reset(struct moderato_priv *priv);
void moderato_offload_queue_down(struct moderato_queue *q);
#else
static inline int moderato_offload_init(struct moderato_priv *priv) { return 0; }
static inline void moderato_offload_free(struct moderato_priv *priv) { }
static inline void moderato_offload_reset(struct moderato_priv *priv) { }
static inline void moderato_offload_queue_down(struct moderato_queue *q) { }
#endif

/* offload_table.c */
void moderato_table_reset(struct moderato_offload *o);
int moderato_table_insert(struct moderato_offload *o,
			  struct moderato_flow *flow, struct neighbour *neigh,
			  const u8 *address, struct moderato_hop **spare);
void moderato_table_remove(struct moderato_offload *o,
			   struct moderato_flow *flow);
void moderato_table_flush(struct moderato_offload *o);
void moderato_table_look(struct moderato_offload *o, unsigned int place);

/* offload_watch.c */
struct neighbour *moderato_watch_route(const struct moderato_offload *o,
				       const struct moderato_flow_spec *spec,
				       struct netlink_ext_ack *extack);
void moderato_watch_upset(struct moderato_offload *o);
void moderato_watch_begin(struct moderato_offload *o);
void moderato_watch_look(struct moderato_offload *o);
int moderato_watch_start(struct moderato_offload *o);
void moderato_watch_stop(struct moderato_offload *o);

#endif /* MODERATO_OFFLOAD_H */
