/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Network boot of LiteX's BIOS with the MAC of port 0. LiteX's code writes and reads frames in slots,
 * which are the buffers of two short rings here. This file has all functions that the code calls.
 *
 * The MAC runs only during the BIOS' network boot. A booted program, however it was booted, finds the
 * MAC as after reset, without DMA into its memory. For this purpose, the linker replaces functions of
 * the BIOS by those named __wrap_.
 */
#include <generated/csr.h>

#include "moderato.h"

#define MAC MAC0_BASE
#define RX  (MAC + MODERATO_RX_BASE)
#define TX  (MAC + MODERATO_TX_BASE)

#define ORDER 2
#define SLOTS (1u << ORDER)

struct rings {
	struct descriptor rx[SLOTS] ALIGNED, tx[SLOTS] ALIGNED;
};

#define RINGS_BASE (NETBOOT_BASE + 2 * SLOTS * ETHMAC_SLOT_SIZE)

_Static_assert(SLOTS == ETHMAC_RX_SLOTS && SLOTS == ETHMAC_TX_SLOTS, "a slot for each descriptor");
_Static_assert(ETHMAC_BASE - NETBOOT_BASE == MODERATO_RX_OFFSET, "where frames start");
_Static_assert(RINGS_BASE + sizeof(struct rings) <= NETBOOT_BASE + NETBOOT_SIZE, "memory");

static volatile struct rings *const rings = (struct rings *)RINGS_BASE;

/* Free-running, like the MAC's own: the next descriptor to be sent, and to be received into */
static u16 sent, received;
static u32 tx_slot, tx_length;

/* Transmit ------------------------------------------------------------------------------------- */

/* Always ready: a PHY without a cable may have no clock, and LiteX would wait for ever. */
uint32_t ethmac_sram_reader_ready_read(void)
{
	return 1;
}

void ethmac_sram_reader_slot_write(uint32_t slot)
{
	tx_slot = slot;
}

void ethmac_sram_reader_length_write(uint32_t length)
{
	tx_length = length;
}

void ethmac_sram_reader_start_write(uint32_t start)
{
	volatile struct descriptor *descriptor = &rings->tx[sent % SLOTS];

	/* Whether the MAC has sent this slot's last frame; true in the first pass of a zeroed ring. */
	if (!completed(descriptor->status, sent - SLOTS, ORDER))
		return; /* drop the frame; without a cable, all frames are lost */
	descriptor->address = ETHMAC_BASE + ETHMAC_SLOT_SIZE * (ETHMAC_RX_SLOTS + tx_slot);
	descriptor->control = tx_length;
	fence(); /* frame and descriptor before the doorbell */
	REG(TX + MODERATO_DIR_DOORBELL) = ++sent;
}

void ethmac_sram_reader_ev_pending_write(uint32_t events)
{
}

/* Receive -------------------------------------------------------------------------------------- */

uint32_t ethmac_sram_writer_ev_pending_read(void)
{
	return completed(rings->rx[received % SLOTS].status, received, ORDER);
}

/* LiteX has processed the received frame: free its slot. */
void ethmac_sram_writer_ev_pending_write(uint32_t events)
{
	if (!ethmac_sram_writer_ev_pending_read())
		return;
	received++;
	fence();
	REG(RX + MODERATO_DIR_DOORBELL) = (u16)(received + SLOTS);
}

uint32_t ethmac_sram_writer_slot_read(void)
{
	return received % SLOTS;
}

uint32_t ethmac_sram_writer_length_read(void)
{
	return rings->rx[received % SLOTS].status & MODERATO_DESC_STATUS_LENGTH;
}

/* Start and stop ------------------------------------------------------------------------------- */

static void start_ring(u32 regs, volatile struct descriptor *ring)
{
	REG(regs + MODERATO_DIR_RING_BASE) = (u32)ring;
	REG(regs + MODERATO_DIR_RING_ORDER) = ORDER;
}

static void start(void)
{
	mac_stop(MAC);
	for (u32 slot = 0; slot < SLOTS; slot++) {
		rings->rx[slot].address = NETBOOT_BASE + ETHMAC_SLOT_SIZE * slot;
		rings->rx[slot].control = ETHMAC_SLOT_SIZE;
		rings->rx[slot].status = 0;
		rings->tx[slot].status = 0;
		rings->tx[slot].reserved = 0;
	}
	sent = 0;
	received = 0;
	fence();
	start_ring(RX, rings->rx);
	start_ring(TX, rings->tx);
	/* LiteEth's MAC has no filter, so LiteX's code sets no address. */
	REG(MAC + MODERATO_CTRL) =
		MODERATO_CTRL_RX_ENABLE | MODERATO_CTRL_TX_ENABLE | MODERATO_CTRL_PROMISCUOUS;
	REG(RX + MODERATO_DIR_DOORBELL) = SLOTS;
}

void __real_netboot(int count, char **arguments);
void __wrap_netboot(int count, char **arguments);
void __real_boot_helper(unsigned long r1, unsigned long r2, unsigned long r3,
			unsigned long address);
void __wrap_boot_helper(unsigned long r1, unsigned long r2, unsigned long r3,
			unsigned long address);

/* Returns if there is nothing to boot. */
void __wrap_netboot(int count, char **arguments)
{
	start();
	__real_netboot(count, arguments);
	mac_stop(MAC);
}

/* All boots of the BIOS end here. */
void __wrap_boot_helper(unsigned long r1, unsigned long r2, unsigned long r3, unsigned long address)
{
	mac_stop(MAC);
	__real_boot_helper(r1, r2, r3, address);
}
