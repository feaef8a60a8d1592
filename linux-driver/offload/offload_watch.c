// SPDX-License-Identifier: GPL-2.0-only
/* Watches what entries of the flow table depend on: routes, neighbours,
 * interfaces. When one changes, the driver removes the entries before the task
 * that makes the change goes on. Then it has Linux end the flows, too: for
 * hardware, Linux copies the Ethernet addresses at the begin of a flow, and
 * would send to them until its end. The stack routes the next packet, which
 * begins a new flow.
 */

#include <linux/device.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/of.h>
#include <net/arp.h>
#include <net/fib_notifier.h>
#include <net/ip_fib.h>
#include <net/net_namespace.h>
#include <net/netevent.h>
#include <net/netfilter/nf_flow_table.h>
#include <net/nexthop.h>

#include "moderato_offload.h"

/* Routes -------------------------------------------------------------------- */

static bool moderato_watch_is_vlan(const struct net_device *dev,
				   const struct net_device *of)
{
	return is_vlan_dev(dev) && vlan_dev_real_dev(dev) == of;
}

/* Whether @dev sends frames as @spec requires */
static bool moderato_watch_is_way(const struct moderato_offload *o,
				  const struct net_device *dev,
				  const struct moderato_flow_spec *spec)
{
	const struct net_device *peer = o->peer->priv->ndev;

	if (!ether_addr_equal(dev->dev_addr, spec->after.mac + ETH_ALEN) ||
	    dev->mtu < peer->mtu)
		return false;
	if (!spec->tag)
		return dev == peer;
	return moderato_watch_is_vlan(dev, peer) &&
	       vlan_dev_vlan_proto(dev) == htons(ETH_P_8021Q) &&
	       vlan_dev_vlan_id(dev) == (spec->tag & VLAN_VID_MASK);
}

static bool moderato_watch_has_address(struct neighbour *neigh,
				       const u8 *address)
{
	bool has;

	read_lock_bh(&neigh->lock);
	has = neigh->nud_state & NUD_VALID && !neigh->dead &&
	      ether_addr_equal(neigh->ha, address);
	read_unlock_bh(&neigh->lock);
	return has;
}

/* The neighbour of one next hop of a route, if it is that of @spec */
static struct neighbour *
moderato_watch_next(const struct moderato_offload *o,
		    const struct fib_nh_common *nhc,
		    const struct moderato_flow_spec *spec)
{
	__be32 next = spec->after.destination;
	struct neighbour *neigh;

	if (nhc->nhc_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN) ||
	    nhc->nhc_gw_family == AF_INET6 || !nhc->nhc_dev ||
	    !moderato_watch_is_way(o, nhc->nhc_dev, spec))
		return NULL;

	if (nhc->nhc_gw_family)
		next = nhc->nhc_gw.ipv4;
	neigh = __ipv4_neigh_lookup(nhc->nhc_dev, (__force u32)next);
	if (!neigh || moderato_watch_has_address(neigh, spec->after.mac))
		return neigh;
	neigh_release(neigh);
	return NULL;
}

/* The interface that receives frames of @spec; NULL unless it is up and
 * forwards. A port of a bridge does not forward: VLANs of the bridge do.
 */
static const struct net_device *
moderato_watch_in(const struct moderato_offload *o,
		  const struct moderato_flow_spec *spec)
{
	struct net_device *in = o->priv->ndev;
	struct net_device *master;
	struct in_device *in_dev;

	if (spec->tagged) {
		/* Finds VLANs of the master, too */
		in = __vlan_find_dev_deep_rcu(in, htons(ETH_P_8021Q), spec->vid);
		if (!in || !moderato_watch_is_vlan(in, o->priv->ndev))
			return NULL;
	}
	if (!(in->flags & IFF_UP) || !net_eq(dev_net(in), &init_net))
		return NULL;
	in_dev = __in_dev_get_rcu(in);
	if (!in_dev || !IN_DEV_FORWARD(in_dev))
		return NULL;
	master = netdev_master_upper_dev_get_rcu(in);
	return master && !netif_is_l3_master(master) ? NULL : in;
}

/* The neighbour to which the present routes lead packets of @spec, if that
 * agrees with @spec.
 *
 * Return: the neighbour with a reference, or NULL
 */
static struct neighbour *moderato_watch_find(const struct moderato_offload *o,
					     const struct moderato_flow_spec *spec)
{
	struct flowi4 packet = {
		.saddr = spec->before.source,
		.daddr = spec->after.destination,
		.flowi4_proto = spec->protocol,
		.fl4_sport = spec->before.ports[0],
		.fl4_dport = spec->after.ports[1],
	};
	const struct net_device *in = moderato_watch_in(o, spec);
	struct neighbour *neigh = NULL;
	struct fib_result found;

	if (!in)
		return NULL;

	packet.flowi4_iif = in->ifindex;
	if (fib_lookup(&init_net, &packet, &found, 0) ||
	    found.type != RTN_UNICAST)
		return NULL;
	/* The hardware knows only the link's MTU */
	if (READ_ONCE(init_net.ipv4.sysctl_ip_fwd_use_pmtu) ||
	    (found.fi->fib_mtu &&
	     found.fi->fib_mtu < o->peer->priv->ndev->mtu))
		return NULL;

	for (int i = 0; !neigh && i < fib_info_num_path(found.fi); i++)
		neigh = moderato_watch_next(o, fib_info_nhc(found.fi, i), spec);
	return neigh;
}

static bool moderato_watch_is_up(const struct moderato_offload *o)
{
	const struct net_device *ndev = o->priv->ndev;

	return netif_running(ndev) && netif_device_present(ndev) &&
	       netif_carrier_ok(ndev) && net_eq(dev_net(ndev), &init_net);
}

/* Checks whether a flow may enter the hardware now.
 *
 * Return: its neighbour with a reference, or an error that @extack explains
 */
struct neighbour *moderato_watch_route(const struct moderato_offload *o,
				       const struct moderato_flow_spec *spec,
				       struct netlink_ext_ack *extack)
{
	struct neighbour *neigh;

	lockdep_assert_held(&moderato_offload_lock);
	if (!o->peer || spec->in != o->priv->ndev->ifindex ||
	    spec->out != o->peer->priv->ndev) {
		NL_SET_ERR_MSG_MOD(extack, "not from this MAC to its peer");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (spec->tag && !(o->peer->priv->features & MODERATO_FEATURES_VLAN)) {
		NL_SET_ERR_MSG_MOD(extack, "the peer sends no tags");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (!o->on || o->broken) {
		NL_SET_ERR_MSG_MOD(extack, "hw-tc-offload is off, or broken");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (o->unsettled || !moderato_watch_is_up(o) ||
	    !moderato_watch_is_up(o->peer)) {
		NL_SET_ERR_MSG_MOD(extack, "links or routes are changing");
		return ERR_PTR(-EAGAIN);
	}

	rcu_read_lock();
	neigh = moderato_watch_find(o, spec);
	rcu_read_unlock();
	if (neigh)
		return neigh;
	NL_SET_ERR_MSG_MOD(extack, "not where the routes lead now");
	return ERR_PTR(-EAGAIN);
}

/* Changes ------------------------------------------------------------------- */

/* Removes all entries, and admits none until the change is visible to all
 * tasks. The caller's task holds RTNL until then.
 */
void moderato_watch_upset(struct moderato_offload *o)
{
	spin_lock_bh(&moderato_offload_lock);
	moderato_table_flush(o);
	o->unsettled = true;
	spin_unlock_bh(&moderato_offload_lock);
	schedule_work(&o->settle);
}

/* Ends all flows of this port, those in software, too; their next packets begin
 * new ones. Waits for Linux' offers. If flow tables are a module, it is loaded
 * while there is a table, and a driver without a table need not load it.
 */
static void moderato_watch_renew(struct moderato_offload *o)
{
	typeof(nf_flow_table_cleanup) *cleanup;

	cleanup = symbol_get(nf_flow_table_cleanup);
	if (!cleanup)
		return;
	cleanup(o->priv->ndev);
	symbol_put(nf_flow_table_cleanup);
}

static void moderato_watch_settle(struct work_struct *work)
{
	struct moderato_offload *o = container_of(work, struct moderato_offload,
						  settle);
	bool renew;

	rtnl_lock();
	spin_lock_bh(&moderato_offload_lock);
	o->unsettled = false;
	moderato_watch_begin(o);
	renew = !list_empty(&o->blocks);
	spin_unlock_bh(&moderato_offload_lock);
	rtnl_unlock();
	if (renew)
		moderato_watch_renew(o);
}

/* New entries depend on the present routes: note their generation */
void moderato_watch_begin(struct moderato_offload *o)
{
	lockdep_assert_held(&moderato_offload_lock);
	o->genid = rt_genid_ipv4(&init_net);
}

/* No notifier reports ip_forward, other switches of routing, and IPsec
 * policies. But they void cached routes, by the generation.
 */
void moderato_watch_look(struct moderato_offload *o)
{
	bool changed;

	spin_lock_bh(&moderato_offload_lock);
	changed = o->genid != rt_genid_ipv4(&init_net);
	spin_unlock_bh(&moderato_offload_lock);
	if (changed)
		moderato_watch_upset(o);
}

static int moderato_watch_fib(struct notifier_block *nb, unsigned long event,
			      void *ptr)
{
	struct moderato_offload *o = container_of(nb, struct moderato_offload,
						  fib_nb);
	const struct fib_notifier_info *info = ptr;

	if (info->family == AF_INET)
		moderato_watch_upset(o);
	return NOTIFY_DONE;
}

static int moderato_watch_nexthop(struct notifier_block *nb,
				  unsigned long event, void *ptr)
{
	struct moderato_offload *o = container_of(nb, struct moderato_offload,
						  nexthop_nb);

	switch (event) {
	case NEXTHOP_EVENT_DEL:
	case NEXTHOP_EVENT_REPLACE:
	case NEXTHOP_EVENT_BUCKET_REPLACE:
		moderato_watch_upset(o);
		break;
	default:
		/* Statistics, or a check before a change */
		break;
	}
	return NOTIFY_DONE;
}

/* Removes entries that lead to another address than @neigh has now
 *
 * Return: whether there was one
 */
static bool moderato_watch_hop(struct moderato_offload *o,
			       struct neighbour *neigh)
{
	bool was = false;

	for (int i = 0; i < BIT(o->order); i++) {
		struct moderato_flow *flow = o->at[i];

		if (flow && flow->hop->neigh == neigh &&
		    !moderato_watch_has_address(neigh, flow->hop->address)) {
			moderato_table_remove(o, flow);
			was = true;
		}
	}
	return was;
}

static int moderato_watch_netevent(struct notifier_block *nb,
				   unsigned long event, void *ptr)
{
	struct moderato_offload *o = container_of(nb, struct moderato_offload,
						  netevent_nb);
	bool was;

	if (event != NETEVENT_NEIGH_UPDATE)
		return NOTIFY_DONE;

	spin_lock_bh(&moderato_offload_lock);
	was = moderato_watch_hop(o, ptr);
	spin_unlock_bh(&moderato_offload_lock);
	if (was)
		schedule_work(&o->settle);
	return NOTIFY_DONE;
}

/* Interfaces ---------------------------------------------------------------- */

static void moderato_watch_set_peer(struct moderato_offload *o,
				    struct moderato_offload *peer)
{
	ASSERT_RTNL();
	spin_lock_bh(&moderato_offload_lock);
	moderato_table_flush(o);
	o->peer = peer;
	spin_unlock_bh(&moderato_offload_lock);
}

/* @dev is new, and may be the peer */
static void moderato_watch_meet(struct moderato_offload *o,
				struct net_device *dev)
{
	struct device *parent = dev->dev.parent, *own = o->priv->dev;
	struct moderato_offload *peer = NULL;

	if (!parent || parent->of_node != o->peer_node)
		return;
	if (parent->driver == own->driver)
		peer = ((struct moderato_priv *)netdev_priv(dev))->offload;
	if (peer && peer != o && peer->peer_node == own->of_node)
		moderato_watch_set_peer(o, peer);
	else
		dev_info(own, "%s is no peer: flows stay in software\n",
			 netdev_name(dev));
}

/* Whether flows of @o arrive or leave by @dev */
static bool moderato_watch_concerns(const struct moderato_offload *o,
				    const struct net_device *dev)
{
	const struct net_device *ndev = o->priv->ndev, *peer;

	if (dev == ndev || moderato_watch_is_vlan(dev, ndev))
		return true;
	if (!o->peer)
		return false;
	peer = o->peer->priv->ndev;
	return dev == peer || moderato_watch_is_vlan(dev, peer);
}

static int moderato_watch_netdev(struct notifier_block *nb,
				 unsigned long event, void *ptr)
{
	struct moderato_offload *o = container_of(nb, struct moderato_offload,
						  netdev_nb);
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_REGISTER)
		moderato_watch_meet(o, dev);
	if (!moderato_watch_concerns(o, dev))
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_CHANGE:
		if (netif_carrier_ok(dev))
			break;
		fallthrough;
	case NETDEV_GOING_DOWN:
	case NETDEV_CHANGEADDR:
	case NETDEV_CHANGEMTU:
	case NETDEV_CHANGEUPPER:
		moderato_watch_upset(o);
		break;
	case NETDEV_UNREGISTER:
		moderato_watch_upset(o);
		if (o->peer && dev == o->peer->priv->ndev)
			moderato_watch_set_peer(o, NULL);
		break;
	}
	return NOTIFY_DONE;
}

/* Life ---------------------------------------------------------------------- */

/* Return: 0, or an error; then no notifier is registered */
int moderato_watch_start(struct moderato_offload *o)
{
	int err;

	INIT_WORK(&o->settle, moderato_watch_settle);
	o->netdev_nb.notifier_call = moderato_watch_netdev;
	o->netevent_nb.notifier_call = moderato_watch_netevent;
	o->nexthop_nb.notifier_call = moderato_watch_nexthop;
	o->fib_nb.notifier_call = moderato_watch_fib;

	err = register_netevent_notifier(&o->netevent_nb);
	if (err)
		return err;
	err = register_nexthop_notifier(&init_net, &o->nexthop_nb, NULL);
	if (err)
		goto err_netevent;
	err = register_fib_notifier(&init_net, &o->fib_nb, NULL, NULL);
	if (err)
		goto err_nexthop;
	/* Last, as it finds the peer, and so admits flows */
	err = register_netdevice_notifier(&o->netdev_nb);
	if (err)
		goto err_fib;
	return 0;

err_fib:
	unregister_fib_notifier(&init_net, &o->fib_nb);
err_nexthop:
	unregister_nexthop_notifier(&init_net, &o->nexthop_nb);
err_netevent:
	unregister_netevent_notifier(&o->netevent_nb);
	cancel_work_sync(&o->settle);
	return err;
}

void moderato_watch_stop(struct moderato_offload *o)
{
	unregister_netdevice_notifier(&o->netdev_nb);
	unregister_fib_notifier(&init_net, &o->fib_nb);
	unregister_nexthop_notifier(&init_net, &o->nexthop_nb);
	unregister_netevent_notifier(&o->netevent_nb);
	cancel_work_sync(&o->settle);
}
