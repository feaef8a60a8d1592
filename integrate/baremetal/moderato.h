/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The MAC without an operating system: polled, one caller at a time.
 *
 * The program also needs moderato_regs.h, from linux-driver, on its include path.
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
 * All memory that the MAC reads and writes, and the driver's state. Cache lines have at most 64
 * bytes, so that the MAC's memory shares no line with other data.
 *
 * flush: writes back and invalidates the CPU's data cache; 0 if DMA is coherent (csr.json has
 * <name>_dma_coherent = 1) or the CPU has no data cache.
 */
struct moderato {
	volatile struct moderato_descriptor rx[MODERATO_SLOTS] __attribute__((aligned(64)));
	volatile struct moderato_descriptor tx[MODERATO_SLOTS] __attribute__((aligned(64)));
	struct moderato_slot rx_slots[MODERATO_SLOTS], tx_slots[MODERATO_SLOTS];
	uintptr_t registers;
	void (*flush)(void);
	uint16_t received, sent;
};

/* Reset and start the MAC. Return: 0, or -1 if there is no MAC with this register map */
int moderato_start(struct moderato *mac, uintptr_t registers, const uint8_t address[6],
		   void (*flush)(void));

/*
 * Return: octets of the oldest received frame without FCS, 0 if there is none, or -1 if the MAC
 * could not write one to memory. *frame is valid until moderato_release(), also needed after -1.
 */
int moderato_receive(struct moderato *mac, const uint8_t **frame);
void moderato_release(struct moderato *mac);

/* Copy and send a frame. Return: 0, or -1 if the ring is full or the length is invalid */
int moderato_send(struct moderato *mac, const uint8_t *frame, unsigned int length);

#endif /* MODERATO_BAREMETAL_H */
