// SPDX-License-Identifier: GPL-2.0-only
/* Gates of the Tx queues, which the hardware opens and closes by a list:
 * `taprio` with `flags 2`
 */

#include <linux/ptp_clock_kernel.h>
#include <net/gso.h>
#include <net/pkt_sched.h>

#include "moderato_gates.h"
#include "moderato_launch.h"
#include "moderato_ptp.h"
#include "moderato_tc.h"
#include "moderato_xdp.h"

/**
 * struct moderato_gates - the list that the hardware obeys, or soon will
 * @base: when it begins, in ns of the PTP clock
 * @cycle: its cycle in ns
 * @extension: by how much its last cycle may be longer, in ns
 * @count: number of entries
 * @entry: as in GATE_ENTRY
 */
struct moderato_gates {
	u64 base;
	u32 cycle;
	u32 extension;
	unsigned int count;
	u32 entry[] __counted_by(count);
};

/* Hardware, with tc->lock held --------------------------------------------- */

/* Replaces a list that waits for its base time */
static void moderato_gates_write(struct moderato_priv *priv)
{
	const struct moderato_gates *gates = priv->tc->gates;
	u64 base;

	writel(MODERATO_GATE_COMMAND_CANCEL,
	       priv->regs + MODERATO_GATE_COMMAND);
	writel(0, priv->regs + MODERATO_GATE_INDEX);
	for (int i = 0; i < gates->count; i++)
		writel(gates->entry[i], priv->regs + MODERATO_GATE_ENTRY);

	/* The hardware adds cycles if the time is over by then */
	base = moderato_gates_begin(gates->base, gates->cycle,
				    moderato_ptp_time(priv, NULL));
	writel(lower_32_bits(base), priv->regs + MODERATO_GATE_BASE_LOW);
	writel(upper_32_bits(base), priv->regs + MODERATO_GATE_BASE_HIGH);
	writel(gates->cycle, priv->regs + MODERATO_GATE_CYCLE);
	writel(gates->extension, priv->regs + MODERATO_GATE_EXTENSION);
	writel(gates->count, priv->regs + MODERATO_GATE_LENGTH);
	writel(MODERATO_GATE_COMMAND_START, priv->regs + MODERATO_GATE_COMMAND);
}

/* A frame that no window has time for would block its queue: the driver drops
 * it. Those that the hardware already has end with the ring, as after a timeout.
 */
static void moderato_gates_limit(struct moderato_priv *priv)
{
	struct moderato_tc *tc = priv->tc;
	const struct moderato_gates *gates = tc->gates;

	for (int i = 0; i < priv->count; i++) {
		u32 window = gates ? moderato_gates_window(gates->entry,
							   gates->count,
							   gates->cycle, i) :
				     U32_MAX;
		u32 limit = moderato_gates_frame(window, tc->octet);
		bool shorter = limit < tc->limit[i];

		WRITE_ONCE(tc->limit[i], limit);
		if (shorter)
			priv->netdev_ops.ndo_tx_timeout(priv->ndev, i);
	}
}

/* Requests ----------------------------------------------------------------- */

/* Return: 0, or an error that @extack explains */
static int moderato_taprio_check(const struct moderato_priv *priv,
				 const struct tc_taprio_qopt_offload *offload)
{
	struct netlink_ext_ack *extack = offload->extack;
	u32 order = FIELD_GET(MODERATO_FEATURES_GATE_ORDER, priv->features);

	if (offload->num_entries > BIT(order)) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "the list may have %lu entries at most",
				       BIT(order));
		return -ERANGE;
	}
	if (offload->base_time < 0) {
		NL_SET_ERR_MSG_MOD(extack, "the base time is negative");
		return -ERANGE;
	}
	if (offload->cycle_time < MODERATO_GATES_CYCLE_LEAST ||
	    offload->cycle_time > MODERATO_GATES_MOST ||
	    offload->cycle_time_extension > MODERATO_GATES_MOST) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "cycle: 1000 to %u ns, extension: not more",
				       (u32)MODERATO_GATES_MOST);
		return -ERANGE;
	}
	for (int i = 0; i < offload->num_entries; i++) {
		if (offload->entries[i].command != TC_TAPRIO_CMD_SET_GATES) {
			NL_SET_ERR_MSG_MOD(extack, "no preemption: entries can only set gates");
			return -EOPNOTSUPP;
		}
		if (offload->entries[i].interval > MODERATO_GATES_MOST) {
			NL_SET_ERR_MSG_FMT_MOD(extack, "intervals may be %u ns long at most",
					       (u32)MODERATO_GATES_MOST);
			return -ERANGE;
		}
	}
	return 0;
}

static struct moderato_gates *
moderato_gates_create(const struct tc_taprio_qopt_offload *offload)
{
	unsigned int count = offload->num_entries;
	struct moderato_gates *gates;

	gates = kmalloc(struct_size(gates, entry, count), GFP_KERNEL);
	if (!gates)
		return NULL;
	gates->count = count;
	gates->base = offload->base_time;
	gates->cycle = offload->cycle_time;
	gates->extension = offload->cycle_time_extension;
	for (int i = 0; i < count; i++)
		gates->entry[i] =
			FIELD_PREP(MODERATO_GATE_ENTRY_INTERVAL,
				   offload->entries[i].interval) |
			FIELD_PREP(MODERATO_GATE_ENTRY_OPEN,
				   offload->entries[i].gate_mask);
	return gates;
}

static int moderato_taprio_replace(struct moderato_priv *priv,
				   const struct tc_taprio_qopt_offload *offload)
{
	struct moderato_tc *tc = priv->tc;
	struct moderato_gates *gates;
	int err;

	err = moderato_xdp_refuse_gates(priv, offload->extack);
	if (err)
		return err;
	err = moderato_taprio_check(priv, offload);
	if (err)
		return err;
	gates = moderato_gates_create(offload);
	if (!gates)
		return -ENOMEM;

	mutex_lock(&tc->lock);
	swap(tc->gates, gates);
	moderato_gates_limit(priv);
	if (netif_device_present(priv->ndev))
		moderato_gates_write(priv);
	mutex_unlock(&tc->lock);
	kfree(gates);
	return 0;
}

static int moderato_taprio_destroy(struct moderato_priv *priv)
{
	struct moderato_tc *tc = priv->tc;

	mutex_lock(&tc->lock);
	kfree(tc->gates);
	tc->gates = NULL;
	moderato_gates_limit(priv);
	if (netif_device_present(priv->ndev))
		writel(MODERATO_GATE_COMMAND_STOP,
		       priv->regs + MODERATO_GATE_COMMAND);
	mutex_unlock(&tc->lock);
	return 0;
}

/* Frames of all queues, or of one. No frame is sent after its gate has closed,
 * so there is no counter of such.
 */
static void moderato_taprio_stats(struct moderato_tc *tc, int first, int last,
				  struct tc_taprio_qopt_stats *stats)
{
	stats->window_drops = 0;
	for (int i = first; i <= last; i++)
		stats->window_drops += atomic_read(&tc->shut[i]);
}

int moderato_taprio_setup(struct moderato_priv *priv,
			  struct tc_taprio_qopt_offload *offload)
{
	int queue = offload->queue_stats.queue;

	if (!(priv->features & MODERATO_FEATURES_GATE_ORDER))
		return -EOPNOTSUPP;

	switch (offload->cmd) {
	case TAPRIO_CMD_REPLACE:
		return moderato_taprio_replace(priv, offload);
	case TAPRIO_CMD_DESTROY:
		return moderato_taprio_destroy(priv);
	case TAPRIO_CMD_STATS:
		moderato_taprio_stats(priv->tc, 0, priv->count - 1,
				      &offload->stats);
		return 0;
	case TAPRIO_CMD_QUEUE_STATS:
		if (queue >= priv->count)
			return -EINVAL;
		moderato_taprio_stats(priv->tc, queue, queue,
				      &offload->queue_stats.stats);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* Other events ------------------------------------------------------------- */

/* The link has another rate. Called with tc->lock held */
void moderato_taprio_rate(struct moderato_priv *priv)
{
	if (priv->tc->gates)
		moderato_gates_limit(priv);
}

/* The clock was stepped, or the hardware was reset: the list starts again */
void moderato_taprio_restart(struct moderato_priv *priv)
{
	struct moderato_tc *tc = READ_ONCE(priv->tc);

	if (!tc)
		return;
	mutex_lock(&tc->lock);
	if (tc->gates && netif_device_present(priv->ndev))
		moderato_gates_write(priv);
	mutex_unlock(&tc->lock);
}

/* Return: whether no window of the queue has time for @skb, which the caller
 * drops
 */
bool moderato_taprio_blocks(const struct moderato_queue *q, struct sk_buff *skb)
{
	struct moderato_tc *tc = q->priv->tc;
	u32 limit = READ_ONCE(tc->limit[q->index]);

	if (likely(limit == U32_MAX) ||
	    (skb_is_gso(skb) ? skb_gso_validate_mac_len(skb, limit) :
			       skb->len <= limit))
		return false;
	atomic_inc(&tc->shut[q->index]);
	return true;
}

void moderato_taprio_init(struct moderato_priv *priv, struct moderato_tc *tc)
{
	mutex_init(&tc->lock);
	tc->octet = MODERATO_LINK_OCTET_LEAST;
	memset32(tc->limit, U32_MAX, ARRAY_SIZE(tc->limit));
	/* Another driver may have left a list */
	if (priv->features & MODERATO_FEATURES_GATE_ORDER)
		writel(MODERATO_GATE_COMMAND_STOP,
		       priv->regs + MODERATO_GATE_COMMAND);
}
