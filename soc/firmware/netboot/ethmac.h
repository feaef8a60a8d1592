/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of LiteEth's MAC that LiteX's network code (libliteeth/udp.c) uses. netboot.c implements
 * them with our MAC. boards/gateware.py includes this file in the BIOS' generated/csr.h.
 */
#ifndef ETHMAC_H
#define ETHMAC_H

#include <stdint.h>
#include <generated/mem.h>

#define CSR_ETHMAC_BASE		     MAC0_BASE
#define CSR_ETHMAC_PREAMBLE_CRC_ADDR MAC0_BASE /* the MAC makes preamble and FCS */

/* Slots and rings are at the end of main memory. The device tree reserves it, and no image is there. */
#define NETBOOT_SIZE (32 << 10)
#define NETBOOT_BASE (MAIN_RAM_BASE + MAIN_RAM_SIZE - NETBOOT_SIZE)

#define ETHMAC_RX_SLOTS	 4
#define ETHMAC_TX_SLOTS	 4
#define ETHMAC_SLOT_SIZE 2048
#define ETHMAC_BASE	 (NETBOOT_BASE + 2) /* where frames start in a buffer */

uint32_t ethmac_sram_reader_ready_read(void);
void ethmac_sram_reader_slot_write(uint32_t slot);
void ethmac_sram_reader_length_write(uint32_t length);
void ethmac_sram_reader_start_write(uint32_t start);
void ethmac_sram_reader_ev_pending_write(uint32_t events);
uint32_t ethmac_sram_writer_ev_pending_read(void);
void ethmac_sram_writer_ev_pending_write(uint32_t events);
uint32_t ethmac_sram_writer_slot_read(void);
uint32_t ethmac_sram_writer_length_read(void);

#endif /* ETHMAC_H */
