// SPDX-License-Identifier: GPL-2.0-only
/* Urgent frames: those that match a rule of ethtool -N raise their interrupt at
 * once, while all others are moderated, and the poll takes them first. There is
 * one ring for all of them.
 */

#include <linux/ethtool.h>

#include "moderato_flow.h"
#include "moderato_variants.h"

/* Rules of ethtool -N, and words that the hardware compares for all of them */
#define MODERATO_FLOWS		2

/* @words, @count: what is compared for it; 0: there is none at this location */
struct moderato_flow {
	struct ethtool_rx_flow_spec spec;
	struct moderato_word words[MODERATO_FLOWS];
	int count;
};

/* @urgent: there is a rule
 * @others: what is asked for besides
 */
struct moderato_flows {
	struct moderato_flow flow[MODERATO_FLOWS];
	bool urgent;
	int (*others)(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		      u32 *locations);
};

static const struct {
	u32 value;
	u32 mask;
	u32 on;
	u32 word;
} moderato_comparisons[MODERATO_FLOWS] = {
	{ MODERATO_URGENT_VALUE_0, MODERATO_URGENT_MASK_0,
	  MODERATO_URGENT_ON_0, MODERATO_URGENT_WORD_0 },
	{ MODERATO_URGENT_VALUE_1, MODERATO_URGENT_MASK_1,
	  MODERATO_URGENT_ON_1, MODERATO_URGENT_WORD_1 },
};

/* Rules are alternatives; the words of one rule have to hold together */
static void moderato_flow_apply(struct moderato_priv *priv)
{
	struct moderato_queue *q;
	u32 urgent = 0;
	int used = 0;

	if (!priv->flows)
		return;

	writel(0, priv->regs + MODERATO_URGENT);
	for (int i = 0; i < MODERATO_FLOWS; i++) {
		const struct moderato_flow *flow = &priv->flows->flow[i];

		if (flow->count > 1)
			urgent |= MODERATO_URGENT_TOGETHER;
		for (int j = 0; j < flow->count; j++, used++) {
			const struct moderato_word *word = &flow->words[j];

			writel(word->value, priv->regs +
			       moderato_comparisons[used].value);
			writel(word->mask, priv->regs +
			       moderato_comparisons[used].mask);
			urgent |= moderato_comparisons[used].on |
				  word->word <<
				  __ffs(moderato_comparisons[used].word);
		}
	}
	writel(urgent, priv->regs + MODERATO_URGENT);
	WRITE_ONCE(priv->flows->urgent, urgent);
	for (q = priv->queue; q < moderato_used_end(priv); q++)
		moderato_rx_choose_poll(q);
}

bool moderato_flows_urgent(const struct moderato_priv *priv)
{
	return priv->flows && READ_ONCE(priv->flows->urgent);
}

static int moderato_flows_used(const struct moderato_priv *priv)
{
	int used = 0;

	for (int i = 0; i < MODERATO_FLOWS; i++)
		used += !!priv->flows->flow[i].count;
	return used;
}

/* Words that are left if the rule at @location goes */
static int moderato_flow_room(const struct moderato_priv *priv, int location)
{
	int room = MODERATO_FLOWS;

	for (int i = 0; i < MODERATO_FLOWS; i++)
		if (i != location)
			room -= priv->flows->flow[i].count;
	return room;
}

static int moderato_flow_locate(const struct moderato_priv *priv, u32 location)
{
	if (location == RX_CLS_LOC_ANY || location == RX_CLS_LOC_FIRST)
		for (location = 0; location < MODERATO_FLOWS; location++)
			if (!priv->flows->flow[location].count)
				return location;
	if (location == RX_CLS_LOC_LAST)
		for (location = MODERATO_FLOWS; location--;)
			if (!priv->flows->flow[location].count)
				return location;
	return location < MODERATO_FLOWS ? location : -ENOSPC;
}

static int moderato_flow_insert(struct moderato_priv *priv,
				struct ethtool_rx_flow_spec *fs)
{
	struct moderato_flow flow = {};
	int location, room;

	/* There is one ring, and nothing is dropped */
	if (fs->ring_cookie)
		return -EINVAL;
	/* A rule says what is urgent. It cannot say that this is for the first
	 * of several rings, which is what the 0 means.
	 */
	if (priv->used > 1)
		return -EOPNOTSUPP;
	location = moderato_flow_locate(priv, fs->location);
	if (location < 0)
		return location;
	room = moderato_flow_room(priv, location);
	if (!room)
		return -ENOSPC;

	flow.count = moderato_flow_words(fs, flow.words, room);
	if (flow.count < 0)
		return flow.count;
	fs->location = location;
	flow.spec = *fs;
	priv->flows->flow[location] = flow;
	moderato_flow_apply(priv);
	return 0;
}

static int moderato_flow_delete(struct moderato_priv *priv, u32 location)
{
	if (location >= MODERATO_FLOWS || !priv->flows->flow[location].count)
		return -ENOENT;

	priv->flows->flow[location].count = 0;
	moderato_flow_apply(priv);
	return 0;
}

static int moderato_flow_get(struct net_device *ndev,
			     struct ethtool_rxnfc *cmd, u32 *locations)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	int count = 0;

	switch (cmd->cmd) {
	case ETHTOOL_GRXCLSRLCNT:
		cmd->rule_cnt = moderato_flows_used(priv);
		cmd->data = MODERATO_FLOWS | RX_CLS_LOC_SPECIAL;
		return 0;
	case ETHTOOL_GRXCLSRULE:
		if (cmd->fs.location >= MODERATO_FLOWS ||
		    !priv->flows->flow[cmd->fs.location].count)
			return -ENOENT;
		cmd->fs = priv->flows->flow[cmd->fs.location].spec;
		return 0;
	case ETHTOOL_GRXCLSRLALL:
		if (moderato_flows_used(priv) > cmd->rule_cnt)
			return -EMSGSIZE;
		for (int i = 0; i < MODERATO_FLOWS; i++)
			if (priv->flows->flow[i].count)
				locations[count++] = i;
		cmd->rule_cnt = count;
		cmd->data = MODERATO_FLOWS;
		return 0;
	default:
		return priv->flows->others(ndev, cmd, locations);
	}
}

static int moderato_flow_set(struct net_device *ndev,
			     struct ethtool_rxnfc *cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	switch (cmd->cmd) {
	case ETHTOOL_SRXCLSRLINS:
		return moderato_flow_insert(priv, &cmd->fs);
	case ETHTOOL_SRXCLSRLDEL:
		return moderato_flow_delete(priv, cmd->fs.location);
	default:
		return -EOPNOTSUPP;
	}
}

/* A rule cannot say which queue it is for */
static bool moderato_flow_one_queue(const struct moderato_priv *priv)
{
	return priv->flows && moderato_flows_used(priv);
}

static int moderato_flow_init(struct moderato_priv *priv)
{
	u32 capability = readl(priv->regs + MODERATO_CAPABILITY);

	if (!(capability & MODERATO_CAPABILITY_URGENT))
		return 0;
	priv->flows = devm_kzalloc(priv->dev, sizeof(*priv->flows), GFP_KERNEL);
	if (!priv->flows)
		return -ENOMEM;
	priv->flows->others = priv->ethtool_ops.get_rxnfc;
	priv->ethtool_ops.get_rxnfc = moderato_flow_get;
	priv->ethtool_ops.set_rxnfc = moderato_flow_set;
	moderato_flow_apply(priv);
	return 0;
}

/* The ring's indices start anew */
static void moderato_flow_rx_up(struct moderato_rx *rx)
{
	rx->looked = 0;
}

const struct moderato_feature moderato_flow_feature = {
	.init = moderato_flow_init,
	.restore = moderato_flow_apply,
	.rx_up = moderato_flow_rx_up,
	.one_queue = moderato_flow_one_queue,
};
