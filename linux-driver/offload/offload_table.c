// SPDX-License-Identifier: GPL-2.0-only
/* The hardware's flow table. All functions need moderato_offload_lock, which
 * any context but a hard interrupt may hold: a command takes microseconds,
 * whatever the other port does.
 */

#include <linux/iopoll.h>

#include "moderato_offload.h"

/* A command ends entries, marks their frames in the flow FIFO, which will be
 * dropped, and waits for a frame that is moving: a few thousand clocks with the
 * largest FIFO. 10 ms are 75 000 clocks at the slowest clock for MII.
 */
#define MODERATO_FLOW_POLL_US		1
#define MODERATO_FLOW_TIMEOUT_US	10000

static_assert(MODERATO_FLOW_MAC_1 - MODERATO_FLOW_MAC_0 == sizeof(u32));
static_assert(MODERATO_FLOW_MAC_2 - MODERATO_FLOW_MAC_1 == sizeof(u32));

/* Commands ------------------------------------------------------------------ */

static int moderato_table_wait(struct moderato_offload *o, u32 *status)
{
	return readl_poll_timeout_atomic(o->priv->regs + MODERATO_FLOW_STATUS,
					 *status,
					 !(*status & MODERATO_FLOW_STATUS_BUSY),
					 MODERATO_FLOW_POLL_US,
					 MODERATO_FLOW_TIMEOUT_US);
}

/* Only the record, not the hardware */
static void moderato_table_forget(struct moderato_offload *o,
				  struct moderato_flow *flow)
{
	struct moderato_hop *hop = flow->hop;

	o->at[flow->place] = NULL;
	o->count--;
	flow->place = -1;
	flow->hop = NULL;
	if (--hop->flows)
		return;
	list_del(&hop->list);
	neigh_release(hop->neigh);
	kfree(hop);
}

static void moderato_table_forget_all(struct moderato_offload *o)
{
	for (int i = 0; i < BIT(o->order); i++)
		if (o->at[i])
			moderato_table_forget(o, o->at[i]);
}

/* From now on, all flows are forwarded in software */
static void moderato_table_give_up(struct moderato_offload *o)
{
	o->broken = true;
	writel(0, o->priv->regs + MODERATO_FLOW_CTRL);
	moderato_table_forget_all(o);
	dev_warn(o->priv->dev,
		 "the flow table does not answer: flows stay in software\n");
}

/* Return: 0, or an error; then no flow is in the hardware */
static int moderato_table_command(struct moderato_offload *o, u32 command,
				  u32 *status)
{
	int err;

	if (o->broken)
		return -EIO;
	writel(command, o->priv->regs + MODERATO_FLOW_COMMAND);
	err = moderato_table_wait(o, status);
	if (err)
		moderato_table_give_up(o);
	return err;
}

static u32 moderato_table_entry(int place)
{
	return FIELD_PREP(MODERATO_FLOW_COMMAND_ENTRY, place);
}

/* Empties the table: its contents are lost, or a boot loader's */
void moderato_table_reset(struct moderato_offload *o)
{
	u32 status;

	lockdep_assert_held(&moderato_offload_lock);
	moderato_table_forget_all(o);
	o->broken = false;
	writel(0, o->priv->regs + MODERATO_FLOW_CTRL);
	if (moderato_table_wait(o, &status))
		moderato_table_give_up(o);
	else
		moderato_table_command(o, MODERATO_FLOW_COMMAND_CLEAR, &status);
}

/* Counters ------------------------------------------------------------------ */

static void moderato_forwarded_add(struct moderato_forwarded *to, u64 frames,
				   u64 octets)
{
	u64_stats_update_begin(&to->syncp);
	u64_stats_add(&to->frames, frames);
	u64_stats_add(&to->octets, octets);
	u64_stats_update_end(&to->syncp);
}

/* Reads a flow's counters, which outlive its entry until another one is written
 * at @place
 */
static void moderato_table_read(struct moderato_offload *o,
				struct moderato_flow *flow, int place)
{
	void __iomem *regs = o->priv->regs;
	const struct moderato_entry *entry = &flow->entry;
	u32 status, frames, octets, tags;
	u16 last;

	if (moderato_table_command(o, MODERATO_FLOW_COMMAND_READ |
				   moderato_table_entry(place), &status))
		return;

	frames = readl(regs + MODERATO_FLOW_FRAMES) - flow->seen_frames;
	octets = readl(regs + MODERATO_FLOW_OCTETS) - flow->seen_octets;
	last = readl(regs + MODERATO_FLOW_LAST);
	flow->seen_frames += frames;
	flow->seen_octets += octets;
	flow->frames += frames;
	flow->octets += octets;
	/* Without new frames, keep the time: the hardware's clock wraps */
	if (frames) {
		flow->used = moderato_last_used(jiffies, flow->looked,
						FIELD_GET(MODERATO_FLOW_STATUS_TIME,
							  status), last,
						o->priv->clock_hz);
		flow->hop->active = true;
	}
	flow->looked = jiffies;
	/* As in software, count the tags on the wire */
	tags = entry->kind & MODERATO_FLOW_KIND_TAGGED ? frames * VLAN_HLEN : 0;
	moderato_forwarded_add(&o->rx, frames, octets + tags);
	tags = entry->tag & MODERATO_FLOW_TAG_INSERT ? frames * VLAN_HLEN : 0;
	/* Flows end before the peer does, so it exists */
	moderato_forwarded_add(&o->peer->tx, frames, octets + tags);
}

/* Reads the counters of the flow at @place, if there is one */
void moderato_table_look(struct moderato_offload *o, unsigned int place)
{
	lockdep_assert_held(&moderato_offload_lock);
	if (place < BIT(o->order) && o->at[place])
		moderato_table_read(o, o->at[place], place);
}

/* Entries ------------------------------------------------------------------- */

/* Afterwards, no frame uses the entry any more */
void moderato_table_remove(struct moderato_offload *o,
			   struct moderato_flow *flow)
{
	int place = flow->place;
	u32 status;

	lockdep_assert_held(&moderato_offload_lock);
	if (place < 0)
		return;
	if (moderato_table_command(o, MODERATO_FLOW_COMMAND_REMOVE |
				   moderato_table_entry(place), &status))
		return;
	moderato_table_read(o, flow, place);
	/* A failed command has ended all entries */
	if (flow->place >= 0)
		moderato_table_forget(o, flow);
}

/* Afterwards, no frame uses any entry. The hardware's command comes first,
 * since others wait for it; counting follows.
 */
void moderato_table_flush(struct moderato_offload *o)
{
	u32 status;

	lockdep_assert_held(&moderato_offload_lock);
	if (!o->count)
		return;

	o->flushes++;
	writel(0, o->priv->regs + MODERATO_FLOW_CTRL);
	if (moderato_table_command(o, MODERATO_FLOW_COMMAND_CLEAR, &status))
		return;
	for (int i = 0; i < BIT(o->order); i++)
		if (o->at[i])
			moderato_table_read(o, o->at[i], i);
	moderato_table_forget_all(o);
}

static void moderato_table_stage(const struct moderato_offload *o,
				 const struct moderato_entry *entry)
{
	void __iomem *regs = o->priv->regs;

	writel(entry->source, regs + MODERATO_FLOW_SOURCE);
	writel(entry->destination, regs + MODERATO_FLOW_DESTINATION);
	writel(entry->ports, regs + MODERATO_FLOW_PORTS);
	writel(entry->kind, regs + MODERATO_FLOW_KIND);
	for (int i = 0; i < ARRAY_SIZE(entry->mac); i++)
		writel(entry->mac[i], regs + MODERATO_FLOW_MAC_0 + 4 * i);
	if (o->priv->features & MODERATO_FEATURES_VLAN)
		writel(entry->tag, regs + MODERATO_FLOW_TAG);
	if (!(o->priv->features & MODERATO_FEATURES_FLOW_NAT))
		return;

	writel(entry->new_source, regs + MODERATO_FLOW_NEW_SOURCE);
	writel(entry->new_destination, regs + MODERATO_FLOW_NEW_DESTINATION);
	writel(entry->new_ports, regs + MODERATO_FLOW_NEW_PORTS);
	writel(entry->sums, regs + MODERATO_FLOW_SUMS);
}

/* Where to write an entry: over the same flow, or at a free place.
 *
 * Return: the place; negative: none is free
 */
static int moderato_table_place(const struct moderato_offload *o,
				const struct moderato_entry *entry)
{
	u32 hash = moderato_entry_hash(entry);
	int room = -ENOSPC;

	for (int way = MODERATO_FLOW_WAYS - 1; way >= 0; way--) {
		int place = moderato_entry_place(hash, way, o->order);
		const struct moderato_flow *other = o->at[place];

		if (!other)
			room = place;
		else if (moderato_entry_same_flow(&other->entry, entry))
			return place;
	}
	return room;
}

/* Switches the look-up on, for frames that the other MAC's link can carry */
static void moderato_table_enable(const struct moderato_offload *o)
{
	unsigned int mtu = READ_ONCE(o->peer->priv->ndev->mtu);

	writel(MODERATO_FLOW_CTRL_ENABLE |
	       FIELD_PREP(MODERATO_FLOW_CTRL_MTU, mtu),
	       o->priv->regs + MODERATO_FLOW_CTRL);
}

/* The record of @neigh at @address, which flows use already, or a new one in
 * *@spare. Until Linux reports a changed address, flows may go to the old one
 * and to the new one.
 */
static struct moderato_hop *moderato_table_hop(struct moderato_offload *o,
					       struct neighbour *neigh,
					       const u8 *address,
					       struct moderato_hop **spare)
{
	struct moderato_hop *hop;

	list_for_each_entry(hop, &o->hops, list)
		if (hop->neigh == neigh &&
		    ether_addr_equal(hop->address, address))
			return hop;

	hop = *spare;
	*spare = NULL;
	hop->neigh = neigh_clone(neigh);
	ether_addr_copy(hop->address, address);
	list_add(&hop->list, &o->hops);
	return hop;
}

/* Enters a new flow, which goes to @neigh at @address. Uses *@spare if that
 * neighbour is new.
 *
 * Return: 0, or an error; then only an old entry of the same flow may be gone
 */
int moderato_table_insert(struct moderato_offload *o,
			  struct moderato_flow *flow, struct neighbour *neigh,
			  const u8 *address, struct moderato_hop **spare)
{
	int place = moderato_table_place(o, &flow->entry);
	u32 status;
	int err;

	lockdep_assert_held(&moderato_offload_lock);
	if (place < 0) {
		o->full++;
		return place;
	}
	/* An older connection that the kernel has not ended yet */
	if (o->at[place])
		moderato_table_remove(o, o->at[place]);
	moderato_table_stage(o, &flow->entry);
	err = moderato_table_command(o, MODERATO_FLOW_COMMAND_WRITE |
				     moderato_table_entry(place), &status);
	if (err)
		return err;

	if (!o->count++)
		moderato_table_enable(o);
	o->at[place] = flow;
	flow->place = place;
	flow->seen_frames = 0;
	flow->seen_octets = 0;
	flow->looked = jiffies;
	flow->used = jiffies;
	flow->hop = moderato_table_hop(o, neigh, address, spare);
	flow->hop->flows++;
	return 0;
}
