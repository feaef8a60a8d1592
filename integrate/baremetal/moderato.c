// SPDX-License-Identifier: BSD-2-Clause
#include "moderato.h"
#include "moderato_regs.h"

#define MAX_LENGTH     1518 /* octets without FCS, with a VLAN tag */
#define FEATURES_SINCE 3 /* minor version of the register map */

static volatile uint32_t *reg(struct moderato *mac, uint32_t offset)
{
	return (volatile uint32_t *)(mac->registers + offset);
}

/*
 * Order earlier writes before later ones, and flush the data cache, if it is not coherent. The
 * flush also drops lines that the MAC has written in memory.
 */
static void synchronize(struct moderato *mac)
{
	__sync_synchronize();
	if (mac->flush)
		mac->flush();
}

static int completed(uint32_t status, uint16_t index)
{
	return !!(status & MODERATO_DESC_STATUS_PHASE) == !(index >> MODERATO_ORDER & 1);
}

static void start_ring(struct moderato *mac, uint32_t direction,
		       volatile struct moderato_descriptor *ring, struct moderato_slot *slots)
{
	for (uint32_t n = 0; n < MODERATO_SLOTS; n++) {
		ring[n].address = (uint32_t)(uintptr_t)slots[n].octets;
		ring[n].control = MODERATO_BUFFER;
		ring[n].reserved = 0;
		ring[n].status = 0;
	}
	*reg(mac, direction + MODERATO_DIR_RING_BASE) = (uint32_t)(uintptr_t)ring;
	*reg(mac, direction + MODERATO_DIR_RING_ORDER) = MODERATO_ORDER;
	*reg(mac, direction + MODERATO_DIR_DISARM) = 0;
}

/* Disable optional units that an earlier program enabled. Return: STATUS bits to wait for */
static uint32_t end_options(struct moderato *mac)
{
	uint32_t features = 0;

	if ((*reg(mac, MODERATO_VERSION) & MODERATO_VERSION_MINOR) >= FEATURES_SINCE)
		features = *reg(mac, MODERATO_FEATURES);
	if (features & MODERATO_FEATURES_PAUSE)
		*reg(mac, MODERATO_PAUSE) = 0;
	if (features & MODERATO_FEATURES_VLAN)
		*reg(mac, MODERATO_VLAN) = 0;
	if (features & MODERATO_FEATURES_TIMESTAMP)
		*reg(mac, MODERATO_TIME_CTRL) = 0;
	if (features & MODERATO_FEATURES_FLOW_ORDER)
		*reg(mac, MODERATO_FLOW_CTRL) = 0;
	if (!(features & MODERATO_FEATURES_QUEUES))
		return 0;
	*reg(mac, MODERATO_RSS_TYPES) = 0; /* all frames get hash 0, and so queue 0 */
	*reg(mac, MODERATO_RSS_TABLE_0) = 0;
	return MODERATO_STATUS_RX1_IDLE | MODERATO_STATUS_TX1_IDLE;
}

int moderato_start(struct moderato *mac, uintptr_t registers, const uint8_t address[6],
		   void (*flush)(void))
{
	uint32_t idle = MODERATO_STATUS_RX_IDLE | MODERATO_STATUS_TX_IDLE;

	mac->registers = registers;
	mac->flush = flush;
	mac->received = mac->sent = 0;
	if (*reg(mac, MODERATO_ID) != MODERATO_ID_VALUE ||
	    *reg(mac, MODERATO_VERSION) >> 16 != MODERATO_VERSION_MAJOR_VALUE)
		return -1;
	*reg(mac, MODERATO_CTRL) = 0;
	idle |= end_options(mac);
	while ((*reg(mac, MODERATO_STATUS) & idle) != idle)
		;
	*reg(mac, MODERATO_MAC_LOW) =
		address[0] | address[1] << 8 | address[2] << 16 | (uint32_t)address[3] << 24;
	*reg(mac, MODERATO_MAC_HIGH) = address[4] | address[5] << 8;
	start_ring(mac, MODERATO_RX_BASE, mac->rx, mac->rx_slots);
	start_ring(mac, MODERATO_TX_BASE, mac->tx, mac->tx_slots);
	synchronize(mac); /* the rings before the enable bits */
	*reg(mac, MODERATO_CTRL) = MODERATO_CTRL_RX_ENABLE | MODERATO_CTRL_TX_ENABLE;
	*reg(mac, MODERATO_RX_BASE + MODERATO_DIR_DOORBELL) = MODERATO_SLOTS;
	return 0;
}

int moderato_receive(struct moderato *mac, const uint8_t **frame)
{
	uint32_t slot = mac->received % MODERATO_SLOTS, status;

	synchronize(mac);
	status = mac->rx[slot].status;
	if (!completed(status, mac->received))
		return 0;
	synchronize(mac); /* the status before the frame */
	*frame = mac->rx_slots[slot].octets + MODERATO_RX_OFFSET;
	if (status & MODERATO_DESC_STATUS_ERROR)
		return -1;
	return status & MODERATO_DESC_STATUS_LENGTH;
}

void moderato_release(struct moderato *mac)
{
	mac->received++;
	synchronize(mac);
	*reg(mac, MODERATO_RX_BASE + MODERATO_DIR_DOORBELL) =
		(uint16_t)(mac->received + MODERATO_SLOTS);
}

int moderato_send(struct moderato *mac, const uint8_t *frame, unsigned int length)
{
	struct moderato_slot *slot = &mac->tx_slots[mac->sent % MODERATO_SLOTS];

	uint16_t reaped = *reg(mac, MODERATO_TX_BASE + MODERATO_DIR_COMPLETED);

	/*
	 * Statuses in memory are unreliable here: a write-back cache writes whole lines. With a new
	 * descriptor it also writes old statuses of its neighbours.
	 */
	if ((uint16_t)(mac->sent - reaped) == MODERATO_SLOTS || !length || length > MAX_LENGTH)
		return -1;
	for (unsigned int n = 0; n < length; n++)
		slot->octets[n] = frame[n];
	mac->tx[mac->sent % MODERATO_SLOTS].control = length;
	mac->sent++;
	synchronize(mac); /* the frame before its doorbell */
	*reg(mac, MODERATO_TX_BASE + MODERATO_DIR_DOORBELL) = mac->sent;
	return 0;
}
