// SPDX-License-Identifier: GPL-2.0-only
/* The flow table: requests of Linux' flow table to MACs that have a table and a
 * peer
 */

#include <linux/of.h>

#include "moderato_offload.h"

DEFINE_SPINLOCK(moderato_offload_lock);

/* Flows --------------------------------------------------------------------- */

static struct moderato_flow *
moderato_offload_find(struct moderato_offload *o, unsigned long cookie)
{
	struct moderato_flow *flow;

	lockdep_assert_held(&moderato_offload_lock);
	hash_for_each_possible(o->flows, flow, node, cookie)
		if (flow->cookie == cookie)
			return flow;
	return NULL;
}

static void moderato_offload_drop(struct moderato_offload *o,
				  struct moderato_flow *flow)
{
	moderato_table_remove(o, flow);
	hash_del(&flow->node);
	kfree(flow);
}

/* Ends the flows of one table of the kernel. Takes the lock for a few flows at
 * a time, since softirqs wait for it.
 */
static void moderato_offload_drop_table(struct moderato_offload *o,
					const struct moderato_flowtable *table)
{
	struct moderato_flow *flow;
	struct hlist_node *next;

	for (int i = 0; i < HASH_SIZE(o->flows); i++) {
		spin_lock_bh(&moderato_offload_lock);
		hlist_for_each_entry_safe(flow, next, &o->flows[i], node)
			if (flow->table == table)
				moderato_offload_drop(o, flow);
		spin_unlock_bh(&moderato_offload_lock);
	}
}

/* Enters a flow, or updates one that is offered again. Uses *@new for a new
 * flow, and *@spare as moderato_table_insert() does.
 */
static int moderato_offload_enter(struct moderato_offload *o,
				  unsigned long cookie,
				  const struct moderato_flow_spec *spec,
				  struct moderato_flow **new,
				  struct moderato_hop **spare,
				  struct netlink_ext_ack *extack)
{
	struct moderato_flow *flow = moderato_offload_find(o, cookie) ?: *new;
	struct moderato_entry entry;
	struct neighbour *neigh;
	int err;

	neigh = moderato_watch_route(o, spec, extack);
	if (IS_ERR(neigh)) {
		moderato_table_remove(o, flow);
		return PTR_ERR(neigh);
	}

	moderato_flow_entry(spec, &entry);
	if (flow->place >= 0 && !memcmp(&flow->entry, &entry, sizeof(entry))) {
		neigh_release(neigh);
		return 0;
	}
	moderato_table_remove(o, flow);
	flow->entry = entry;
	err = moderato_table_insert(o, flow, neigh, spec->after.mac, spare);
	neigh_release(neigh);
	if (err) {
		NL_SET_ERR_MSG_MOD(extack, "no room in the hardware");
	} else if (flow == *new) {
		hash_add(o->flows, &flow->node, cookie);
		*new = NULL;
	}
	return err;
}

static int moderato_offload_replace(const struct moderato_flowtable *table,
				    struct flow_cls_offload *cls)
{
	struct moderato_offload *o = table->offload;
	struct netlink_ext_ack *extack = cls->common.extack;
	struct moderato_flow *flow;
	struct moderato_hop *hop;
	struct moderato_flow_spec spec;
	int err;

	err = moderato_flow_parse(flow_cls_offload_flow_rule(cls),
				  o->priv->features, &spec, extack);
	if (err)
		return err;
	/* Linux offers a flow to both MACs; the receiving one takes it */
	if (spec.in != o->priv->ndev->ifindex)
		return -EOPNOTSUPP;

	flow = kzalloc(sizeof(*flow), GFP_KERNEL);
	hop = kzalloc(sizeof(*hop), GFP_KERNEL);
	err = -ENOMEM;
	if (flow && hop) {
		flow->cookie = cls->cookie;
		flow->table = table;
		flow->place = -1;
		spin_lock_bh(&moderato_offload_lock);
		err = moderato_offload_enter(o, cls->cookie, &spec, &flow, &hop,
					     extack);
		spin_unlock_bh(&moderato_offload_lock);
	}
	/* Frees what was not needed */
	kfree(hop);
	kfree(flow);
	return err;
}

static int moderato_offload_destroy(struct moderato_offload *o,
				    struct flow_cls_offload *cls)
{
	struct moderato_flow *flow;

	spin_lock_bh(&moderato_offload_lock);
	flow = moderato_offload_find(o, cls->cookie);
	if (flow)
		moderato_offload_drop(o, flow);
	spin_unlock_bh(&moderato_offload_lock);
	return flow ? 0 : -ENOENT;
}

/* Reports a flow that has returned to software, too, with the values until
 * then. From then on, only software knows when it is used.
 */
static int moderato_offload_stats(struct moderato_offload *o,
				  struct flow_cls_offload *cls)
{
	struct moderato_flow *flow;
	unsigned long used;

	spin_lock_bh(&moderato_offload_lock);
	flow = moderato_offload_find(o, cls->cookie);
	if (flow) {
		if (flow->place >= 0)
			moderato_table_look(o, flow->place);
		used = flow->place >= 0 || flow->frames ? flow->used : 0;
		flow_stats_update(&cls->stats, flow->octets, flow->frames, 0,
				  used, FLOW_ACTION_HW_STATS_IMMEDIATE);
		flow->octets = 0;
		flow->frames = 0;
	}
	spin_unlock_bh(&moderato_offload_lock);
	return flow ? 0 : -ENOENT;
}

/* Flow tables --------------------------------------------------------------- */

static int moderato_offload_call(enum tc_setup_type type, void *type_data,
				 void *priv)
{
	const struct moderato_flowtable *table = priv;
	struct flow_cls_offload *cls = type_data;

	if (type != TC_SETUP_CLSFLOWER)
		return -EOPNOTSUPP;

	switch (cls->command) {
	case FLOW_CLS_REPLACE:
		return moderato_offload_replace(table, cls);
	case FLOW_CLS_DESTROY:
		return moderato_offload_destroy(table->offload, cls);
	case FLOW_CLS_STATS:
		return moderato_offload_stats(table->offload, cls);
	default:
		return -EOPNOTSUPP;
	}
}

/* Called after the last request of this table */
static void moderato_offload_release(void *priv)
{
	kfree(priv);
}

static int moderato_offload_bind(struct moderato_offload *o,
				 struct flow_block_offload *f)
{
	struct moderato_flowtable *table;
	struct flow_block_cb *cb;

	cb = flow_block_cb_lookup(f->block, moderato_offload_call, o);
	if (cb) {
		flow_block_cb_incref(cb);
		return 0;
	}
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	table->offload = o;
	cb = flow_block_cb_alloc(moderato_offload_call, o, table,
				 moderato_offload_release);
	if (IS_ERR(cb)) {
		kfree(table);
		return PTR_ERR(cb);
	}
	flow_block_cb_incref(cb);
	flow_block_cb_add(cb, f);
	spin_lock_bh(&moderato_offload_lock);
	if (list_empty(&o->blocks))
		moderato_watch_begin(o);
	list_add_tail(&cb->driver_list, &o->blocks);
	spin_unlock_bh(&moderato_offload_lock);
	schedule_delayed_work(&o->look, MODERATO_OFFLOAD_LOOK);
	return 0;
}

static int moderato_offload_unbind(struct moderato_offload *o,
				   struct flow_block_offload *f)
{
	struct flow_block_cb *cb;

	cb = flow_block_cb_lookup(f->block, moderato_offload_call, o);
	if (!cb)
		return -ENOENT;
	if (flow_block_cb_decref(cb))
		return 0;

	flow_block_cb_remove(cb, f);
	spin_lock_bh(&moderato_offload_lock);
	list_del(&cb->driver_list);
	spin_unlock_bh(&moderato_offload_lock);
	/* Nothing else ends its flows any more */
	moderato_offload_drop_table(o, flow_block_cb_priv(cb));
	return 0;
}

/* A rule set that replaces another one binds its flow table before the old one
 * is unbound.
 */
static int moderato_offload_setup_tc(struct net_device *ndev,
				     enum tc_setup_type type, void *type_data)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct flow_block_offload *f = type_data;
	struct moderato_offload *o = priv->offload;

	if (type != TC_SETUP_FT ||
	    f->binder_type != FLOW_BLOCK_BINDER_TYPE_CLSACT_INGRESS)
		return -EOPNOTSUPP;

	f->driver_block_list = &o->blocks;
	switch (f->command) {
	case FLOW_BLOCK_BIND:
		return moderato_offload_bind(o, f);
	case FLOW_BLOCK_UNBIND:
		return moderato_offload_unbind(o, f);
	default:
		return -EOPNOTSUPP;
	}
}

/* Looking ------------------------------------------------------------------- */

/* Software checks only neighbours to which it sends. So have the kernel check
 * neighbours of flows in use.
 */
static void moderato_offload_ask(struct moderato_offload *o)
{
	struct moderato_hop *hop;

	spin_lock_bh(&moderato_offload_lock);
	list_for_each_entry(hop, &o->hops, list) {
		if (hop->active)
			neigh_event_send(hop->neigh, NULL);
		hop->active = false;
	}
	spin_unlock_bh(&moderato_offload_lock);
}

/* Counts what both MACs have forwarded; others may take the lock in between */
static void moderato_offload_count(struct moderato_offload *o)
{
	for (int i = 0; i < BIT(o->order); i++) {
		spin_lock_bh(&moderato_offload_lock);
		moderato_table_look(o, i);
		if (o->peer)
			moderato_table_look(o->peer, i);
		spin_unlock_bh(&moderato_offload_lock);
	}
}

static void moderato_offload_look(struct work_struct *work)
{
	struct moderato_offload *o = container_of(to_delayed_work(work),
						  struct moderato_offload,
						  look);

	moderato_watch_look(o);
	if (time_is_before_eq_jiffies(o->looked + MODERATO_OFFLOAD_COUNT)) {
		o->looked = jiffies;
		moderato_offload_count(o);
		moderato_offload_ask(o);
	}
	spin_lock_bh(&moderato_offload_lock);
	if (!list_empty(&o->blocks))
		schedule_delayed_work(&o->look, MODERATO_OFFLOAD_LOOK);
	spin_unlock_bh(&moderato_offload_lock);
}

/* Settings and statistics --------------------------------------------------- */

static int moderato_offload_set_features(struct net_device *ndev,
					 netdev_features_t features)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_offload *o = priv->offload;

	spin_lock_bh(&moderato_offload_lock);
	o->on = features & NETIF_F_HW_TC;
	if (!o->on)
		moderato_table_flush(o);
	else if (o->broken)
		moderato_table_reset(o);
	spin_unlock_bh(&moderato_offload_lock);
	return o->netdev_ops.ndo_set_features(ndev, features);
}

static void moderato_forwarded_get(const struct moderato_forwarded *of,
				   u64 *frames, u64 *octets)
{
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&of->syncp);
		*frames = u64_stats_read(&of->frames);
		*octets = u64_stats_read(&of->octets);
	} while (u64_stats_fetch_retry(&of->syncp, start));
}

/* Adds forwarded frames to the statistics. Reads the hardware at most ten times
 * a second, as a full table takes milliseconds.
 */
static void moderato_offload_get_stats64(struct net_device *ndev,
					 struct rtnl_link_stats64 *stats)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_offload *o = priv->offload;
	u64 frames, octets;

	if (time_is_before_jiffies(READ_ONCE(o->counted) + HZ / 10)) {
		WRITE_ONCE(o->counted, jiffies);
		moderato_offload_count(o);
	}
	o->netdev_ops.ndo_get_stats64(ndev, stats);
	moderato_forwarded_get(&o->rx, &frames, &octets);
	stats->rx_packets += frames;
	stats->rx_bytes += octets + frames * ETH_HLEN;
	moderato_forwarded_get(&o->tx, &frames, &octets);
	stats->tx_packets += frames;
	stats->tx_bytes += octets + frames * ETH_HLEN;
}

static const char moderato_offload_names[][ETH_GSTRING_LEN] = {
	"flow_entries",
	"flow_full",
	"flow_flushes",
};

static int moderato_offload_get_sset_count(struct net_device *ndev, int sset)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_offload *o = priv->offload;
	int count = o->ethtool_ops.get_sset_count(ndev, sset);

	return sset == ETH_SS_STATS ?
		       count + ARRAY_SIZE(moderato_offload_names) : count;
}

static void moderato_offload_get_strings(struct net_device *ndev, u32 sset,
					 u8 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (sset == ETH_SS_STATS)
		for (int i = 0; i < ARRAY_SIZE(moderato_offload_names); i++)
			ethtool_puts(&data, moderato_offload_names[i]);
	priv->offload->ethtool_ops.get_strings(ndev, sset, data);
}

static void moderato_offload_get_stats(struct net_device *ndev,
				       struct ethtool_stats *stats, u64 *data)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	struct moderato_offload *o = priv->offload;

	spin_lock_bh(&moderato_offload_lock);
	*data++ = o->count;
	*data++ = o->full;
	*data++ = o->flushes;
	spin_unlock_bh(&moderato_offload_lock);
	o->ethtool_ops.get_ethtool_stats(ndev, stats, data);
}

/* Life ---------------------------------------------------------------------- */

static void moderato_offload_announce(struct moderato_offload *o)
{
	struct moderato_priv *priv = o->priv;

	o->netdev_ops = priv->netdev_ops;
	o->ethtool_ops = priv->ethtool_ops;
	priv->netdev_ops.ndo_setup_tc = moderato_offload_setup_tc;
	priv->netdev_ops.ndo_set_features = moderato_offload_set_features;
	priv->netdev_ops.ndo_get_stats64 = moderato_offload_get_stats64;
	priv->ethtool_ops.get_sset_count = moderato_offload_get_sset_count;
	priv->ethtool_ops.get_strings = moderato_offload_get_strings;
	priv->ethtool_ops.get_ethtool_stats = moderato_offload_get_stats;
	priv->ndev->hw_features |= NETIF_F_HW_TC;
	priv->ndev->features |= NETIF_F_HW_TC;
}

void moderato_offload_reset(struct moderato_priv *priv)
{
	if (!priv->offload)
		return;

	spin_lock_bh(&moderato_offload_lock);
	moderato_table_reset(priv->offload);
	spin_unlock_bh(&moderato_offload_lock);
}

int moderato_offload_init(struct moderato_priv *priv)
{
	u8 order = FIELD_GET(MODERATO_FEATURES_FLOW_ORDER, priv->features);
	struct moderato_offload *o;
	struct device_node *peer;
	int err;

	if (!order)
		return 0;

	peer = of_parse_phandle(priv->dev->of_node, "moderato,peer", 0);
	if (!peer) {
		dev_info(priv->dev,
			 "no moderato,peer: flows stay in software\n");
		return 0;
	}
	o = devm_kzalloc(priv->dev, sizeof(*o), GFP_KERNEL);
	if (o)
		o->at = devm_kcalloc(priv->dev, BIT(order), sizeof(*o->at),
				     GFP_KERNEL);
	if (!o || !o->at) {
		of_node_put(peer);
		return -ENOMEM;
	}
	o->priv = priv;
	o->peer_node = peer;
	o->order = order;
	o->on = true;
	hash_init(o->flows);
	INIT_LIST_HEAD(&o->hops);
	INIT_LIST_HEAD(&o->blocks);
	o->counted = jiffies;
	o->looked = jiffies;
	INIT_DELAYED_WORK(&o->look, moderato_offload_look);
	u64_stats_init(&o->rx.syncp);
	u64_stats_init(&o->tx.syncp);

	priv->offload = o;
	moderato_offload_reset(priv);
	err = moderato_watch_start(o);
	if (err) {
		priv->offload = NULL;
		of_node_put(peer);
		return err;
	}
	moderato_offload_announce(o);
	return 0;
}

/* The interface is gone, and with it flow tables and flows */
void moderato_offload_free(struct moderato_priv *priv)
{
	struct moderato_offload *o = priv->offload;

	if (!o)
		return;

	moderato_watch_stop(o);
	cancel_delayed_work_sync(&o->look);
	of_node_put(o->peer_node);
	priv->offload = NULL;
}

/* Without rings, the MAC neither receives nor sends forwarded frames. Most
 * causes are events that end the flows as well; suspend and a DMA that does not
 * stop are not.
 */
void moderato_offload_queue_down(struct moderato_queue *q)
{
	struct moderato_offload *o = q->priv->offload;

	if (!o || q->index)
		return;

	moderato_watch_upset(o);
	if (o->peer)
		moderato_watch_upset(o->peer);
}
