// SPDX-License-Identifier: GPL-2.0-only
/* Rules of ethtool -N for urgent frames: a matching frame raises the interrupt
 * at once, while the others are moderated, and the poll takes it first. All
 * frames share one ring.
 */

#include <linux/ethtool.h>

#include "moderato_rxnfc.h"
#include "moderato_variants.h"

/* Number of rules, and of words that the hardware compares for all of them */
#define MODERATO_RULES		2

/* @words, @count: what the hardware compares for the rule; 0: no rule */
struct moderato_rule {
	struct ethtool_rx_flow_spec spec;
	struct moderato_word words[MODERATO_RULES];
	int count;
};

/* @urgent: there is a rule
 * @others: serves other requests
 */
struct moderato_rules {
	struct moderato_rule rule[MODERATO_RULES];
	bool urgent;
	int (*others)(struct net_device *ndev, struct ethtool_rxnfc *cmd,
		      u32 *locations);
};

static const struct {
	u32 value;
	u32 mask;
	u32 on;
	u32 word;
} moderato_comparisons[MODERATO_RULES] = {
	{ MODERATO_URGENT_VALUE_0, MODERATO_URGENT_MASK_0,
	  MODERATO_URGENT_ON_0, MODERATO_URGENT_WORD_0 },
	{ MODERATO_URGENT_VALUE_1, MODERATO_URGENT_MASK_1,
	  MODERATO_URGENT_ON_1, MODERATO_URGENT_WORD_1 },
};

/* Rules are alternatives; the words of one rule have to hold together */
void moderato_rxnfc_apply(struct moderato_priv *priv)
{
	struct moderato_queue *q;
	u32 urgent = 0;
	int used = 0;

	if (!priv->rules)
		return;

	writel(0, priv->regs + MODERATO_URGENT);
	for (int i = 0; i < MODERATO_RULES; i++) {
		const struct moderato_rule *rule = &priv->rules->rule[i];

		if (rule->count > 1)
			urgent |= MODERATO_URGENT_TOGETHER;
		for (int j = 0; j < rule->count; j++, used++) {
			const struct moderato_word *word = &rule->words[j];

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
	WRITE_ONCE(priv->rules->urgent, urgent);
	for (q = priv->queue; q < moderato_used_end(priv); q++)
		moderato_rx_choose_poll(q);
}

bool moderato_rules_urgent(const struct moderato_priv *priv)
{
	return priv->rules && READ_ONCE(priv->rules->urgent);
}

static int moderato_rules_used(const struct moderato_priv *priv)
{
	int used = 0;

	for (int i = 0; i < MODERATO_RULES; i++)
		used += !!priv->rules->rule[i].count;
	return used;
}

/* Number of free words without the rule at @location */
static int moderato_rule_room(const struct moderato_priv *priv, int location)
{
	int room = MODERATO_RULES;

	for (int i = 0; i < MODERATO_RULES; i++)
		if (i != location)
			room -= priv->rules->rule[i].count;
	return room;
}

static int moderato_rule_locate(const struct moderato_priv *priv, u32 location)
{
	if (location == RX_CLS_LOC_ANY || location == RX_CLS_LOC_FIRST)
		for (location = 0; location < MODERATO_RULES; location++)
			if (!priv->rules->rule[location].count)
				return location;
	if (location == RX_CLS_LOC_LAST)
		for (location = MODERATO_RULES; location--;)
			if (!priv->rules->rule[location].count)
				return location;
	return location < MODERATO_RULES ? location : -ENOSPC;
}

static int moderato_rule_insert(struct moderato_priv *priv,
				struct ethtool_rx_flow_spec *fs)
{
	struct moderato_rule rule = {};
	int location, room;

	/* One ring, and no dropping */
	if (fs->ring_cookie)
		return -EINVAL;
	/* A rule marks urgent frames. It cannot select the first of several
	 * rings, which ring 0 means.
	 */
	if (priv->used > 1)
		return -EOPNOTSUPP;
	location = moderato_rule_locate(priv, fs->location);
	if (location < 0)
		return location;
	room = moderato_rule_room(priv, location);
	if (!room)
		return -ENOSPC;

	rule.count = moderato_rule_words(fs, rule.words, room);
	if (rule.count < 0)
		return rule.count;
	fs->location = location;
	rule.spec = *fs;
	priv->rules->rule[location] = rule;
	moderato_rxnfc_apply(priv);
	return 0;
}

static int moderato_rule_delete(struct moderato_priv *priv, u32 location)
{
	if (location >= MODERATO_RULES || !priv->rules->rule[location].count)
		return -ENOENT;

	priv->rules->rule[location].count = 0;
	moderato_rxnfc_apply(priv);
	return 0;
}

static int moderato_rxnfc_get(struct net_device *ndev,
			      struct ethtool_rxnfc *cmd, u32 *locations)
{
	struct moderato_priv *priv = netdev_priv(ndev);
	int count = 0;

	switch (cmd->cmd) {
	case ETHTOOL_GRXCLSRLCNT:
		cmd->rule_cnt = moderato_rules_used(priv);
		cmd->data = MODERATO_RULES | RX_CLS_LOC_SPECIAL;
		return 0;
	case ETHTOOL_GRXCLSRULE:
		if (cmd->fs.location >= MODERATO_RULES ||
		    !priv->rules->rule[cmd->fs.location].count)
			return -ENOENT;
		cmd->fs = priv->rules->rule[cmd->fs.location].spec;
		return 0;
	case ETHTOOL_GRXCLSRLALL:
		if (moderato_rules_used(priv) > cmd->rule_cnt)
			return -EMSGSIZE;
		for (int i = 0; i < MODERATO_RULES; i++)
			if (priv->rules->rule[i].count)
				locations[count++] = i;
		cmd->rule_cnt = count;
		cmd->data = MODERATO_RULES;
		return 0;
	default:
		return priv->rules->others(ndev, cmd, locations);
	}
}

static int moderato_rxnfc_set(struct net_device *ndev,
			      struct ethtool_rxnfc *cmd)
{
	struct moderato_priv *priv = netdev_priv(ndev);

	switch (cmd->cmd) {
	case ETHTOOL_SRXCLSRLINS:
		return moderato_rule_insert(priv, &cmd->fs);
	case ETHTOOL_SRXCLSRLDEL:
		return moderato_rule_delete(priv, cmd->fs.location);
	default:
		return -EOPNOTSUPP;
	}
}

/* A rule cannot name a queue */
bool moderato_rxnfc_one_queue(const struct moderato_priv *priv)
{
	return priv->rules && moderato_rules_used(priv);
}

int moderato_rxnfc_init(struct moderato_priv *priv)
{
	u32 capability = readl(priv->regs + MODERATO_CAPABILITY);

	if (!(capability & MODERATO_CAPABILITY_URGENT))
		return 0;
	priv->rules = devm_kzalloc(priv->dev, sizeof(*priv->rules), GFP_KERNEL);
	if (!priv->rules)
		return -ENOMEM;
	priv->rules->others = priv->ethtool_ops.get_rxnfc;
	priv->ethtool_ops.get_rxnfc = moderato_rxnfc_get;
	priv->ethtool_ops.set_rxnfc = moderato_rxnfc_set;
	moderato_rxnfc_apply(priv);
	return 0;
}

/* The ring's indices start again at 0 */
void moderato_rxnfc_rx_up(struct moderato_rx *rx)
{
	rx->looked = 0;
}
