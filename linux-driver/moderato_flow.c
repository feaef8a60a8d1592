// SPDX-License-Identifier: GPL-2.0-only
/* Urgent frames: those that match a rule of ethtool -N raise their interrupt at
 * once, while all others are moderated, and the poll takes them first. There is
 * one ring for all of them.
 */

#include <linux/ethtool.h>

#include "moderato.h"

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
void moderato_flow_apply(struct moderato_priv *priv)
{
	struct moderato_priv *q;
	u32 urgent = 0;
	int used = 0;

	if (!priv->has_urgent)
		return;

	writel(0, priv->regs + MODERATO_URGENT);
	for (int i = 0; i < MODERATO_FLOWS; i++) {
		const struct moderato_flow *flow = &priv->flows[i];

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
	for (q = moderato_first(priv); q < moderato_queues_end(priv); q++) {
		WRITE_ONCE(q->urgent, urgent);
		if (q->rx)
			moderato_rx_napi_weigh(q->rx);
	}
}

int moderato_flows_used(const struct moderato_priv *priv)
{
	int used = 0;

	for (int i = 0; i < MODERATO_FLOWS; i++)
		used += !!priv->flows[i].count;
	return used;
}

/* Words that are left if the rule at @location goes */
static int moderato_flow_room(const struct moderato_priv *priv, int location)
{
	int room = MODERATO_FLOWS;

	for (int i = 0; i < MODERATO_FLOWS; i++)
		if (i != location)
			room -= priv->flows[i].count;
	return room;
}

static int moderato_flow_locate(const struct moderato_priv *priv, u32 location)
{
	if (location == RX_CLS_LOC_ANY || location == RX_CLS_LOC_FIRST)
		for (location = 0; location < MODERATO_FLOWS; location++)
			if (!priv->flows[location].count)
				return location;
	if (location == RX_CLS_LOC_LAST)
		for (location = MODERATO_FLOWS; location--;)
			if (!priv->flows[location].count)
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
#ifdef MODERATO_OFFLOADS
	/* A rule says what is urgent. It cannot say that this is for the first
	 * of several rings, which is what the 0 means.
	 */
	if (priv->queues > 1)
		return -EOPNOTSUPP;
#endif
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
	priv->flows[location] = flow;
	moderato_flow_apply(priv);
	return 0;
}

static int moderato_flow_delete(struct moderato_priv *priv, u32 location)
{
	if (location >= MODERATO_FLOWS || !priv->flows[location].count)
		return -ENOENT;

	priv->flows[location].count = 0;
	moderato_flow_apply(priv);
	return 0;
}

int moderato_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		       u32 *locations)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	int count = 0;

	if (cmd->cmd == ETHTOOL_GRXRINGS) {
#ifdef MODERATO_OFFLOADS
		cmd->data = priv->queues;
#else
		cmd->data = 1;
#endif
		return 0;
	}
#ifdef MODERATO_OFFLOADS
	if (cmd->cmd == ETHTOOL_GRXFH)
		return moderato_get_rxfh_fields(priv, cmd);
#endif
	if (!priv->has_urgent)
		return -EOPNOTSUPP;

	switch (cmd->cmd) {
	case ETHTOOL_GRXCLSRLCNT:
		cmd->rule_cnt = moderato_flows_used(priv);
		cmd->data = MODERATO_FLOWS | RX_CLS_LOC_SPECIAL;
		return 0;
	case ETHTOOL_GRXCLSRULE:
		if (cmd->fs.location >= MODERATO_FLOWS ||
		    !priv->flows[cmd->fs.location].count)
			return -ENOENT;
		cmd->fs = priv->flows[cmd->fs.location].spec;
		return 0;
	case ETHTOOL_GRXCLSRLALL:
		if (moderato_flows_used(priv) > cmd->rule_cnt)
			return -EMSGSIZE;
		for (int i = 0; i < MODERATO_FLOWS; i++)
			if (priv->flows[i].count)
				locations[count++] = i;
		cmd->rule_cnt = count;
		cmd->data = MODERATO_FLOWS;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

int moderato_set_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	if (!priv->has_urgent)
		return -EOPNOTSUPP;

	switch (cmd->cmd) {
	case ETHTOOL_SRXCLSRLINS:
		return moderato_flow_insert(priv, &cmd->fs);
	case ETHTOOL_SRXCLSRLDEL:
		return moderato_flow_delete(priv, cmd->fs.location);
	default:
		return -EOPNOTSUPP;
	}
}
