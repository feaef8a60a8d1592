// SPDX-License-Identifier: BSD-2-Clause
/* Sends each frame back to its source. ETH0_BASE comes from the SoC. */
#include "moderato.h"

static const uint8_t address[6] = { 0x02, 0x4d, 0x6f, 0x64, 0x00, 0x00 };

static struct moderato mac;
static uint8_t answer[MODERATO_BUFFER];

/* VexRiscv's data cache is write-through, so invalidating it is enough. */
static void flush(void)
{
	asm volatile(".word 0x500f" : : : "memory");
}

void main(void)
{
	const uint8_t *frame;
	int length;

	if (moderato_start(&mac, ETH0_BASE, address, flush))
		return;
	for (;;) {
		length = moderato_receive(&mac, &frame);
		if (!length)
			continue;
		for (int n = 0; n < length; n++)
			answer[n] = frame[n];
		moderato_release(&mac);
		if (length < 14)
			continue;
		for (int n = 0; n < 6; n++) {
			answer[n] = answer[n + 6];
			answer[n + 6] = address[n];
		}
		while (moderato_send(&mac, answer, length))
			;
	}
}
