/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The MAC without an operating system: polled, one caller at a time.
 *
 * The program also needs moderato_regs.h, of the folder linux-driver, on its include path.
 */
#ifndef MODERATO_BAREMETAL_H
#define MODERATO_BAREMETAL_H

#include <stdint.h>

#define MODERATO_ORDER	3 /* of both rings: 8 frames each */
#define MODERATO_SLOTS	(1u << MODERATO_ORDER)
#define MODERATO_BUFFER 1536 /* bytes; a frame of 1518 octets fits */

struct moderato_descriptor {
	uint32_t address, control, reserved, status;
};

struct moderato_slot {
	uint8_t octets[MODERATO_BUFFER];
} __attribute__((aligned(64)));

/*
 * All that the MAC reads and writes in memory, and where the rings are. Cache lines are at most 64
 * bytes: nothing else shares one with it.
 *
 * flush: writes back and drops what the CPU's data cache has; 0 where DMA is coherent, that is where
 * csr.json has <name>_dma_coherent = 1, or where the CPU has no data cache.
 */
struct moderato {
	volatile struct moderato_descriptor rx[MODERATO_SLOTS] __attribute__((aligned(64)));
	volatile struct moderato_descriptor tx[MODERATO_SLOTS] __attribute__((aligned(64)));
	struct moderato_slot rx_slots[MODERATO_SLOTS], tx_slots[MODERATO_SLOTS];
	uintptr_t registers;
	void (*flush)(void);
	uint16_t received, sent;
};

/* 0, or -1 if no MAC of this register map is there. Whatever it did before ends. */
int moderato_start(struct moderato *mac, uintptr_t registers, const uint8_t address[6],
		   void (*flush)(void));

/*
 * Octets of the oldest frame without FCS, and in *frame where it is, until moderato_release(); 0 if
 * none waits; -1 if one was lost on its way to memory (release it, too).
 */
int moderato_receive(struct moderato *mac, const uint8_t **frame);
void moderato_release(struct moderato *mac);

/* 0, or -1 if the ring is full, or the length is not one of a frame. The frame is copied. */
int moderato_send(struct moderato *mac, const uint8_t *frame, unsigned int length);

#endif /* MODERATO_BAREMETAL_H */
