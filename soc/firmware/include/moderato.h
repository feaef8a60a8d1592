/* SPDX-License-Identifier: BSD-2-Clause */
/* The MAC for programs without an operating system. */
#ifndef MODERATO_H
#define MODERATO_H

#include "moderato_regs.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;

#define REG(address) (*(volatile u32 *)(address))

#define ALIGNED __attribute__((aligned(64))) /* of rings and cache lines */

struct descriptor {
	u32 address, control, reserved, status;
};

_Static_assert(sizeof(struct descriptor) == MODERATO_DESCRIPTOR_BYTES, "size");
_Static_assert(__builtin_offsetof(struct descriptor, address) == MODERATO_DESC_ADDRESS, "place");
_Static_assert(__builtin_offsetof(struct descriptor, control) == MODERATO_DESC_CONTROL, "place");
_Static_assert(__builtin_offsetof(struct descriptor, status) == MODERATO_DESC_STATUS, "place");

static inline void fence(void)
{
	asm volatile("fence" : : : "memory");
}

/* Whether a descriptor with this status, at this index of a ring of 2^order, is completed */
static inline int completed(u32 status, u16 index, u32 order)
{
	return !!(status & MODERATO_DESC_STATUS_PHASE) == !(index >> order & 1);
}

/* Stop the MAC. Afterwards no DMA is in progress, and its rings are reset. */
static inline void mac_stop(u32 mac)
{
	u32 idle = MODERATO_STATUS_RX_IDLE | MODERATO_STATUS_TX_IDLE;

	REG(mac + MODERATO_CTRL) = 0;
	while ((REG(mac + MODERATO_STATUS) & idle) != idle)
		;
}

#endif /* MODERATO_H */
