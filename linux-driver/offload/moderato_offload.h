/* SPDX-License-Identifier: GPL-2.0-only */
/* Flows that the hardware forwards: what the files share */
#ifndef MODERATO_OFFLOAD_H
#define MODERATO_OFFLOAD_H

#include <linux/hashtable.h>
#include <linux/notifier.h>
#include <net/neighbour.h>

#include "moderato_flow.h"
#include "moderato_priv.h"

#define MODERATO_OFFLOAD_HASH_BITS	8

/* How often the driver looks for changes that no notifier reports, and how often
 * it reads all counters: octets of a flow at 1 Gb/s wrap in 34 s
 */
#define MODERATO_OFFLOAD_LOOK		(HZ / 2)
#define MODERATO_OFFLOAD_COUNT		(10 * HZ)

/* A neighbour that flows of the hardware go to
 * @neigh: held
 * @flows: how many
 * @address: that they have
 * @active: frames went there since the kernel was last told to check it
 */
struct moderato_hop {
	struct list_head list;
	struct neighbour *neigh;
	unsigned int flows;
	u8 address[ETH_ALEN];
	bool active;
};

/* A flow table of the kernel's that offers flows to a MAC */
struct moderato_flowtable {
	struct moderato_offload *offload;
};

/* A flow of the kernel's that was in the hardware once; whether it is there now
 * or not, it stays until the kernel ends it, and with it what was counted
 * @cookie: the kernel's name for it
 * @table: that it belongs to
 * @place: in the hardware's table; negative: it is not there
 * @hop: while it is there
 * @seen_frames, @seen_octets: what its counters read last
 * @frames, @octets: what the kernel has not been told yet
 * @looked, @used: when they were read, and when it was used before, in jiffies
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

/* Frames that were received or sent without software, which the interface's own
 * statistics do not know of
 */
struct moderato_forwarded {
	u64_stats_t frames;
	u64_stats_t octets;
	struct u64_stats_sync syncp;
};

/* The table of a MAC that has one, and a peer: of flows that this one receives,
 * and the other one sends. All is guarded by moderato_offload_lock.
 * @peer: the other one's; NULL: it is not there. Written under RTNL, too
 * @peer_node: that one's, held
 * @order: of the table's size
 * @on: hw-tc-offload
 * @broken: the hardware does not answer, and is left alone
 * @unsettled: something has changed that entries are made from, and may not be
 *	       visible to all yet; until @settle has run there are none
 * @count: flows in the hardware
 * @at: the flow at each place of the table, or NULL
 * @flows: all of them, by cookie
 * @hops: neighbours that those in the hardware go to
 * @blocks: the callbacks of the kernel's flow tables; several while one replaces
 *	    another
 * @rx, @tx: of this interface
 * @full, @flushes: how often there was no place, and all had to go
 * @counted: when all counters were read for the interface's statistics
 * @looked: when @look read them
 * @genid: of the kernel's routes that flows are made from
 * @look: reads counters before they can wrap, and looks for changes that no
 *	  notifier reports; while there are @blocks
 * @netdev_ops, @ethtool_ops: what there is without
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

/* One for all tables: a pair's two know each other */
extern spinlock_t moderato_offload_lock;

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
