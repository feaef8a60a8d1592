// SPDX-License-Identifier: GPL-2.0-only
/* Registers outside the data path */

#include <linux/bitfield.h>
#include <linux/iopoll.h>

#include "moderato_hw.h"

/* A stop waits for the frame in progress: 1.6 ms for 2048 octets at 10 Mb/s.
 * With a flow table, forwarded frames that are queued before it add to that
 * (offload_table.c).
 */
#define MODERATO_STOP_POLL_US		10
#define MODERATO_STOP_TIMEOUT_US	150000

/* Minor version of the register map that first has FEATURES */
#define MODERATO_FEATURES_SINCE		3

const struct moderato_direction moderato_rx_directions[] = {
	{
		.name = "Rx",
		.base = MODERATO_RX_BASE,
		.enable = MODERATO_CTRL_RX_ENABLE,
		.idle = MODERATO_STATUS_RX_IDLE,
		.halted = MODERATO_STATUS_RX_HALTED,
		.reset = MODERATO_RESET_RX,
	},
	{
		.name = "second Rx",
		.base = MODERATO_RX1_BASE,
		.enable = MODERATO_CTRL_RX1_ENABLE,
		.idle = MODERATO_STATUS_RX1_IDLE,
		.halted = MODERATO_STATUS_RX1_HALTED,
		.reset = MODERATO_RESET_RX1,
	},
};

const struct moderato_direction moderato_tx_directions[] = {
	{
		.name = "Tx",
		.base = MODERATO_TX_BASE,
		.enable = MODERATO_CTRL_TX_ENABLE,
		.idle = MODERATO_STATUS_TX_IDLE,
		.halted = MODERATO_STATUS_TX_HALTED,
		.reset = MODERATO_RESET_TX,
	},
	{
		.name = "second Tx",
		.base = MODERATO_TX1_BASE,
		.enable = MODERATO_CTRL_TX1_ENABLE,
		.idle = MODERATO_STATUS_TX1_IDLE,
		.halted = MODERATO_STATUS_TX1_HALTED,
		.reset = MODERATO_RESET_TX1,
	},
};

static_assert(ARRAY_SIZE(moderato_rx_directions) == MODERATO_MAX_QUEUES);
static_assert(ARRAY_SIZE(moderato_tx_directions) == MODERATO_MAX_QUEUES);

/* Largest MTU with FEATURES_JUMBO */
#define MODERATO_JUMBO_MTU		9000

/* A frame of at most half a FIFO lets the next one in while it leaves */
static unsigned int moderato_hw_max_mtu(u32 capability)
{
	u32 rx = FIELD_GET(MODERATO_CAPABILITY_RX_FIFO_ORDER, capability);
	u32 tx = FIELD_GET(MODERATO_CAPABILITY_TX_FIFO_ORDER, capability);
	unsigned int fifo = (1U << min(rx, tx)) / 2;
	unsigned int page = SKB_WITH_OVERHEAD(PAGE_SIZE) - NET_SKB_PAD -
			    MODERATO_RX_BUFFER_ALIGN;

	return max(min(fifo, page), MODERATO_OVERHEAD) - MODERATO_OVERHEAD;
}

/* Return: 0 once all bits of @idle are set in STATUS */
static int moderato_hw_wait_idle(struct moderato_priv *priv, u32 idle)
{
	u32 status;

	return readl_poll_timeout(priv->regs + MODERATO_STATUS, status,
				  (status & idle) == idle,
				  MODERATO_STOP_POLL_US,
				  MODERATO_STOP_TIMEOUT_US);
}

/* Disables everything but the interrupt of a halted ring. Register map 1.0 has
 * no such interrupt and ignores the bit.
 */
int moderato_hw_reset(struct moderato_priv *priv)
{
	u32 idle = MODERATO_STATUS_RX_IDLE | MODERATO_STATUS_TX_IDLE;

	if (priv->features & MODERATO_FEATURES_QUEUES)
		idle |= MODERATO_STATUS_RX1_IDLE | MODERATO_STATUS_TX1_IDLE;
	moderato_hw_ctrl(priv, ~0, MODERATO_CTRL_HALT_INTERRUPT);
	return moderato_hw_wait_idle(priv, idle);
}

static u32 moderato_hw_features(const void __iomem *regs)
{
	u32 version = readl(regs + MODERATO_VERSION);

	if (FIELD_GET(MODERATO_VERSION_MINOR, version) <
	    MODERATO_FEATURES_SINCE)
		return 0;
	return readl(regs + MODERATO_FEATURES);
}

/* Number of queues, before the driver knows anything else of the hardware */
unsigned int moderato_hw_queues(const void __iomem *regs)
{
	if (readl(regs + MODERATO_ID) != MODERATO_ID_VALUE)
		return 1;
	return moderato_hw_features(regs) & MODERATO_FEATURES_QUEUES ?
		       MODERATO_MAX_QUEUES : 1;
}

int moderato_hw_init(struct moderato_priv *priv)
{
	u32 id = readl(priv->regs + MODERATO_ID);
	u32 version, capability;

	if (id != MODERATO_ID_VALUE)
		return dev_err_probe(priv->dev, -ENODEV,
				     "no Moderato MAC here: ID reads %#x\n",
				     id);

	version = readl(priv->regs + MODERATO_VERSION);
	if (FIELD_GET(MODERATO_VERSION_MAJOR, version) !=
	    MODERATO_VERSION_MAJOR_VALUE)
		return dev_err_probe(priv->dev, -ENODEV,
				     "register map %lu is not supported\n",
				     FIELD_GET(MODERATO_VERSION_MAJOR,
					       version));

	capability = readl(priv->regs + MODERATO_CAPABILITY);
	priv->max_order = min_t(u8, MODERATO_MAX_RING_ORDER,
				FIELD_GET(MODERATO_CAPABILITY_MAX_RING_ORDER,
					  capability));
	priv->has_pacing = capability & MODERATO_CAPABILITY_PACING;
	priv->features = moderato_hw_features(priv->regs);
	priv->clock_hz = readl(priv->regs + MODERATO_CLOCK_HZ);
	if (!priv->clock_hz)
		return dev_err_probe(priv->dev, -ENODEV, "CLOCK_HZ reads 0\n");

	priv->usecs_max =
		moderato_usecs_max(FIELD_GET(MODERATO_CAPABILITY_TIMER_BITS,
					     capability), priv->clock_hz);
	priv->ndev->max_mtu = moderato_hw_max_mtu(capability);
	if (priv->features & MODERATO_FEATURES_JUMBO)
		priv->ndev->max_mtu = MODERATO_JUMBO_MTU;
	priv->ndev->min_mtu = ETH_MIN_MTU;
	if (priv->max_order < MODERATO_MIN_RING_ORDER ||
	    priv->ndev->max_mtu < ETH_MIN_MTU)
		return dev_err_probe(priv->dev, -ENODEV,
				     "rings or FIFOs are too small: CAPABILITY reads %#x\n",
				     capability);

	/* A boot loader may have left the DMA running */
	if (moderato_hw_reset(priv))
		return dev_err_probe(priv->dev, -EBUSY,
				     "the DMA does not stop\n");
	return 0;
}

void moderato_hw_ctrl(struct moderato_priv *priv, u32 clear, u32 set)
{
	spin_lock_bh(&priv->ctrl_lock);
	priv->ctrl = (priv->ctrl & ~clear) | set;
	writel(priv->ctrl, priv->regs + MODERATO_CTRL);
	spin_unlock_bh(&priv->ctrl_lock);
}

void moderato_hw_set_address(struct moderato_priv *priv, const u8 *address)
{
	writel(get_unaligned_le32(address), priv->regs + MODERATO_MAC_LOW);
	writel(get_unaligned_le16(address + 4),
	       priv->regs + MODERATO_MAC_HIGH);
}

void moderato_hw_set_hash(struct moderato_priv *priv, u64 hash)
{
	writel(lower_32_bits(hash), priv->regs + MODERATO_HASH_LOW);
	writel(upper_32_bits(hash), priv->regs + MODERATO_HASH_HIGH);
}

/* Writes the interface's additional unicast addresses. An address that keeps
 * its place in the list is accepted without a gap.
 *
 * Return: whether the hardware has room for all of them
 */
bool moderato_hw_set_unicast(struct moderato_priv *priv)
{
	unsigned int room = FIELD_GET(MODERATO_FEATURES_UNICAST,
				      priv->features);
	void __iomem *regs = priv->regs + MODERATO_UNICAST_LOW_0;
	struct netdev_hw_addr *ha;
	unsigned int used = 0;

	if (netdev_uc_count(priv->ndev) > room)
		return false;

	netdev_for_each_uc_addr(ha, priv->ndev) {
		writel(get_unaligned_le32(ha->addr), regs);
		writel(get_unaligned_le16(ha->addr + 4) |
		       MODERATO_UNICAST_HIGH_0_ON, regs + sizeof(u32));
		regs += 2 * sizeof(u32);
		used++;
	}
	for (; used < room; used++) {
		writel(0, regs + sizeof(u32));
		regs += 2 * sizeof(u32);
	}
	return true;
}

/* Sets whether the MAC sends and obeys pause frames on a link of @speed Mb/s.
 * Without a link it does neither, so that no pause outlasts the link.
 */
void moderato_hw_set_pause(struct moderato_priv *priv, int speed, bool tx,
			   bool rx)
{
	if (!(priv->features & MODERATO_FEATURES_PAUSE))
		return;

	if (speed > 0)
		writel(moderato_quantum(priv->clock_hz, speed),
		       priv->regs + MODERATO_PAUSE_QUANTUM);
	writel(FIELD_PREP(MODERATO_PAUSE_RX, rx) |
	       FIELD_PREP(MODERATO_PAUSE_TX, tx), priv->regs + MODERATO_PAUSE);
}

/* Sets when the link partner has to pause, for an Rx ring of @order and frames
 * of @frame octets
 */
void moderato_hw_set_pause_marks(struct moderato_priv *priv, u8 order,
				 unsigned int frame)
{
	u32 capability;

	if (!(priv->features & MODERATO_FEATURES_PAUSE))
		return;

	capability = readl(priv->regs + MODERATO_CAPABILITY);
	writel(moderato_pause_fifo(BIT(FIELD_GET(MODERATO_CAPABILITY_RX_FIFO_ORDER,
						 capability)), frame),
	       priv->regs + MODERATO_PAUSE_FIFO);
	writel(moderato_pause_ring(order), priv->regs + MODERATO_PAUSE_RING);
}

void moderato_hw_set_mtu(struct moderato_priv *priv, unsigned int mtu)
{
	writel(moderato_rx_mtu(priv, mtu) + MODERATO_OVERHEAD,
	       priv->regs + MODERATO_MAX_FRAME);
}

/* Takes effect at once, also while the ring runs */
void moderato_hw_moderate(struct moderato_priv *priv,
			  const struct moderato_direction *dir,
			  const struct moderato_coalesce *c)
{
	void __iomem *regs = priv->regs + dir->base;
	u32 hz = priv->clock_hz;

	writel(moderato_usecs_to_clocks(c->packet_usecs, hz),
	       regs + MODERATO_DIR_PACKET_TIMER);
	writel(moderato_usecs_to_clocks(c->usecs, hz),
	       regs + MODERATO_DIR_ABSOLUTE_TIMER);
	writel(moderato_usecs_to_clocks(c->gap_usecs, hz),
	       regs + MODERATO_DIR_GAP);
	writel(c->frames, regs + MODERATO_DIR_FRAMES);
}

/* @usecs: the longest delay that the hardware may choose; 0: it does not adapt
 */
void moderato_hw_pace(struct moderato_queue *q, u32 usecs)
{
	u32 offset = MODERATO_RX_PACING_LONGEST - MODERATO_RX_BASE +
		     moderato_rx_dir(q)->base;
	struct moderato_priv *priv = q->priv;

	if (priv->has_pacing)
		writel(moderato_usecs_to_clocks(usecs, priv->clock_hz),
		       priv->regs + offset);
}

int moderato_ring_alloc(struct moderato_priv *priv, struct moderato_ring *ring,
			const struct moderato_direction *dir, u8 order)
{
	ring->dir = dir;
	ring->regs = priv->regs + dir->base;
	ring->order = order;
	ring->desc = dma_alloc_coherent(priv->dev,
					moderato_size(order) *
					sizeof(*ring->desc),
					&ring->dma, GFP_KERNEL);
	return ring->desc ? 0 : -ENOMEM;
}

void moderato_ring_free(struct moderato_priv *priv, struct moderato_ring *ring)
{
	if (ring->desc && !ring->stuck)
		dma_free_coherent(priv->dev,
				  moderato_size(ring->order) *
				  sizeof(*ring->desc),
				  ring->desc, ring->dma);
}

/* Starts the DMA, with no descriptor and no interrupt until the first doorbell
 * and re-arm. Indices start at 0 after each enable.
 */
void moderato_ring_start(struct moderato_priv *priv,
			 struct moderato_ring *ring)
{
	ring->producer = 0;
	ring->consumer = 0;
	ring->running = true;
	ring->stuck = false;
	clear_bit(ring->dir->reset, &priv->resets);
	moderato_disarm(ring);
	writel(lower_32_bits(ring->dma), ring->regs + MODERATO_DIR_RING_BASE);
	writel(ring->order, ring->regs + MODERATO_DIR_RING_ORDER);
	moderato_hw_ctrl(priv, 0, ring->dir->enable);
}

/* Stops the DMA. After success, the hardware does not access descriptors and
 * buffers any more; completed descriptors stay completed.
 *
 * Return: 0, or an error if the DMA does not stop. Then the hardware may still
 * write to the ring and its buffers: see struct moderato_ring.
 */
int moderato_ring_stop(struct moderato_priv *priv, struct moderato_ring *ring)
{
	int err;

	moderato_hw_ctrl(priv, ring->dir->enable, 0);
	ring->running = false;
	err = moderato_hw_wait_idle(priv, ring->dir->idle);
	if (err) {
		ring->stuck = true;
		netdev_err(priv->ndev,
			   "%s DMA does not stop: its memory is left to it\n",
			   ring->dir->name);
	}
	return err;
}

/* Whether a bus error on a descriptor or its status halted the ring. It fetches
 * no descriptors until it is disabled. Register map 1.0 never reports this.
 */
bool moderato_ring_halted(const struct moderato_priv *priv,
			  const struct moderato_ring *ring)
{
	return readl(priv->regs + MODERATO_STATUS) & ring->dir->halted;
}
