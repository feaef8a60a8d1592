/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Booted from the network: for each character it prints a hash of what was loaded, a hash of all
 * that the DMA of port 0's Rx ring could write, and whether the MAC runs. 'j' goes on with forward.
 *
 * DATA_BASE, DATA_SIZE, FORWARD_BASE, MAC_BASE and UART_BASE are given.
 */
#include "moderato.h"

#define UART_RXTX	REG(UART_BASE)
#define UART_TXFULL	REG(UART_BASE + 4)
#define UART_RXEMPTY	REG(UART_BASE + 8)
#define UART_EV_PENDING REG(UART_BASE + 16)
#define UART_EV_RX	2u

#define RX (MAC_BASE + MODERATO_RX_BASE)

asm(".section .text.start\n"
    ".globl _start\n"
    "_start:\n"
    "	la	sp, stack + 1024\n"
    "	j	probe\n"
    ".text\n");

__attribute__((used, aligned(16))) static u8 stack[1024];

static void print(const char *text)
{
	for (; *text; text++) {
		while (UART_TXFULL)
			;
		UART_RXTX = *text;
	}
}

static void print_hex(const char *name, u32 number)
{
	char text[9];

	for (u32 digit = 0; digit < 8; digit++)
		text[digit] = "0123456789abcdef"[number >> (28 - 4 * digit) & 15];
	text[8] = 0;
	print(name);
	print(text);
}

/* FNV-1a */
static u32 hash(u32 hash, u32 address, u32 size)
{
	const u8 *octet = (const u8 *)address;

	while (size--)
		hash = (hash ^ *octet++) * 16777619;
	return hash;
}

static u32 hash_ring(void)
{
	const struct descriptor *ring = (void *)REG(RX + MODERATO_DIR_RING_BASE);
	u32 slots = 1u << REG(RX + MODERATO_DIR_RING_ORDER);
	u32 result = hash(2166136261u, (u32)ring, slots * sizeof(*ring));

	for (u32 slot = 0; slot < slots; slot++)
		result = hash(result, ring[slot].address, ring[slot].control);
	return result;
}

__attribute__((used)) void probe(void)
{
	print("probe\r\n");
	for (;;) {
		while (UART_RXEMPTY)
			;
		if (UART_RXTX == 'j') {
			asm volatile("fence.i");
			((void (*)(void))FORWARD_BASE)();
		}
		UART_EV_PENDING = UART_EV_RX;
		print_hex("data ", hash(2166136261u, DATA_BASE, DATA_SIZE));
		print_hex(", ring ", hash_ring());
		print_hex(", control ", REG(MAC_BASE + MODERATO_CTRL));
		print_hex(", status ", REG(MAC_BASE + MODERATO_STATUS));
		print_hex(", moderation ", REG(RX + MODERATO_DIR_MODERATION));
		print("\r\n");
	}
}
