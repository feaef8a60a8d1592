/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptor rings in memory, and the registers that serve them */
#ifndef MODERATO_DMA_H
#define MODERATO_DMA_H

#include <linux/io.h>
#include <linux/types.h>

#include "moderato_regs.h"
#include "moderato_ring.h"

struct moderato_priv;

struct moderato_desc {
	__le32 address;
	__le32 control;
	__le32 checksum;
	__le32 status;
};

static_assert(sizeof(struct moderato_desc) == MODERATO_DESCRIPTOR_BYTES);
static_assert(offsetof(struct moderato_desc, address) ==
	      MODERATO_DESC_ADDRESS);
static_assert(offsetof(struct moderato_desc, control) ==
	      MODERATO_DESC_CONTROL);
static_assert(offsetof(struct moderato_desc, checksum) ==
	      MODERATO_DESC_RX_CHECKSUM);
static_assert(offsetof(struct moderato_desc, checksum) ==
	      MODERATO_DESC_TX_CHECKSUM);
static_assert(offsetof(struct moderato_desc, status) == MODERATO_DESC_STATUS);

/**
 * struct moderato_direction - what differs between receive and transmit
 * @name: for messages
 * @base: offset of the direction's registers
 * @enable: bit of CTRL that starts the DMA
 * @idle: bit of STATUS: the DMA has stopped
 * @halted: bit of STATUS: a bus error stopped the ring
 * @reset: bit of struct moderato_priv's @resets
 */
struct moderato_direction {
	const char *name;
	u32 base;
	u32 enable;
	u32 idle;
	u32 halted;
	u8 reset;
};

/* One for each queue */
extern const struct moderato_direction moderato_rx_directions[];
extern const struct moderato_direction moderato_tx_directions[];

/**
 * struct moderato_ring - a ring of descriptors in memory
 * @desc: the descriptors
 * @regs: registers of this direction
 * @dma: bus address of @desc
 * @producer: index after the last posted descriptor
 * @consumer: index of the oldest descriptor that the driver has not taken back
 * @order: binary logarithm of the number of descriptors
 * @running: the DMA was started, and not stopped since
 * @stuck: the DMA did not stop, and may still write to the ring and its buffers.
 *	   The driver neither frees them nor starts any ring again.
 * @dir: what differs between receive and transmit
 */
struct moderato_ring {
	struct moderato_desc *desc;
	void __iomem *regs;
	dma_addr_t dma;
	u16 producer;
	u16 consumer;
	u8 order;
	bool running;
	bool stuck;
	const struct moderato_direction *dir;
};

/* Reads the status of the descriptor at @index, and returns whether it is
 * completed. The driver finds completions in memory only: the read of a register
 * stalls the CPU for a round trip to the MAC.
 */
static inline bool moderato_ring_completed_at(const struct moderato_ring *ring,
					      u16 index, u32 *status)
{
	u32 slot = moderato_slot(index, ring->order);

	*status = le32_to_cpu(READ_ONCE(ring->desc[slot].status));
	if (!moderato_completed(*status, index, ring->order))
		return false;

	/* The hardware writes the status last. Reads of what the hardware and
	 * the CPU wrote before it must not be reordered before this read.
	 */
	dma_rmb();
	return true;
}

/* The same for the oldest descriptor */
static inline bool moderato_ring_completed(const struct moderato_ring *ring,
					   u32 *status)
{
	return moderato_ring_completed_at(ring, ring->consumer, status);
}

static inline void moderato_doorbell(const struct moderato_ring *ring,
				     u16 index)
{
	/* writel() orders the descriptors in memory before the doorbell */
	writel(index, ring->regs + MODERATO_DIR_DOORBELL);
}

/* Reports everything before the consumer index as seen. Completions from there
 * on count as unreported at once: none is lost between the last look at the ring
 * and this write, and no second look is needed after it.
 */
static inline void moderato_rearm(const struct moderato_ring *ring)
{
	writel(ring->consumer, ring->regs + MODERATO_DIR_REARM);
}

static inline void moderato_disarm(const struct moderato_ring *ring)
{
	writel(0, ring->regs + MODERATO_DIR_DISARM);
}

int moderato_ring_alloc(struct moderato_priv *priv, struct moderato_ring *ring,
			const struct moderato_direction *dir, u8 order);
void moderato_ring_free(struct moderato_priv *priv,
			struct moderato_ring *ring);
void moderato_ring_start(struct moderato_priv *priv,
			 struct moderato_ring *ring);
int moderato_ring_stop(struct moderato_priv *priv, struct moderato_ring *ring);
bool moderato_ring_halted(const struct moderato_priv *priv,
			  const struct moderato_ring *ring);

#endif /* MODERATO_DMA_H */
