/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwards every frame of one port to the other port without Linux, for boards that are too small
 * for it. The program ignores the frames' content. Any character on the console prints counters.
 *
 * Forwarding is zero-copy. Slot n of one port's Rx ring and slot n of the other port's Tx ring
 * always share a buffer. Two indices define the owner of each slot:
 *
 *	sent to received			the Tx ring: being sent
 *	received to sent + SLOTS	the Rx ring: free to be received into
 *
 * The MACs moderate interrupts. The hart does not take them; they only end its wfi.
 *
 * MAC_BASES, PLIC_BASE, INTERRUPTS (a bit for each source) and UART_BASE come from the SoC.
 */
#include "moderato.h"

#define ORDER	    8
#define SLOTS	    (1u << ORDER)
#define MAX_FRAME   1522 /* octets with FCS and a VLAN tag */
#define BUFFER_SIZE 1536

/* An interrupt comes after a quarter of a ring, or this time after the first frame. */
#define FRAMES	   (SLOTS / 4)
#define PER_SECOND 20000

/* LiteX's UART */
#define UART_RXTX	REG(UART_BASE)
#define UART_TXFULL	REG(UART_BASE + 4)
#define UART_RXEMPTY	REG(UART_BASE + 8)
#define UART_EV_PENDING REG(UART_BASE + 16)
#define UART_EV_ENABLE	REG(UART_BASE + 20)
#define UART_EV_RX	2u

/* The PLIC, as machine mode of hart 0 sees it */
#define PLIC_PRIORITY(source) REG(PLIC_BASE + 4 * (source))
#define PLIC_ENABLE	      REG(PLIC_BASE + 0x2000)
#define PLIC_THRESHOLD	      REG(PLIC_BASE + 0x200000)
#define PLIC_CLAIM	      REG(PLIC_BASE + 0x200004)

#define MIE_MEIE (1u << 11)

static const u32 macs[] = { MAC_BASES };

_Static_assert(sizeof(macs) / sizeof(*macs) == 2, "two ports");

/* From one port to the other */
static struct path {
	volatile struct descriptor rx[SLOTS] ALIGNED, tx[SLOTS] ALIGNED;
	u32 rx_regs, tx_regs;
	u16 received, sent;
} paths[2];

static u8 buffers[2][SLOTS][BUFFER_SIZE] ALIGNED __attribute__((section(".noinit")));

/* Console -------------------------------------------------------------------------------------- */

static void put(char character)
{
	while (UART_TXFULL)
		;
	UART_RXTX = character;
}

static void print(const char *text)
{
	for (; *text; text++)
		put(*text);
}

static void print_number(u32 number)
{
	if (number > 9)
		print_number(number / 10);
	put('0' + number % 10);
}

static void print_counter(const char *name, u32 address)
{
	print(name);
	print_number(REG(address));
}

static void show_counters(void)
{
	for (u32 port = 0; port < 2; port++) {
		print("port ");
		print_number(port);
		print_counter(": received ", macs[port] + MODERATO_STAT_RX_GOOD_FRAMES);
		print_counter(", dropped ", macs[port] + MODERATO_STAT_RX_DROP_RING);
		print_counter(" + ", macs[port] + MODERATO_STAT_RX_DROP_FIFO);
		print_counter(", sent ", macs[port] + MODERATO_STAT_TX_GOOD_FRAMES);
		print_counter(", interrupts ",
			      macs[port] + MODERATO_RX_BASE + MODERATO_DIR_INTERRUPTS);
		print_counter(" + ", macs[port] + MODERATO_TX_BASE + MODERATO_DIR_INTERRUPTS);
		print("\r\n");
	}
}

static void serve_console(void)
{
	u32 asked = 0;

	while (!UART_RXEMPTY) {
		(void)UART_RXTX;
		UART_EV_PENDING = UART_EV_RX;
		asked = 1;
	}
	if (asked)
		show_counters();
}

/* Frames --------------------------------------------------------------------------------------- */

/*
 * Processes completions of both rings, returns free slots to them, and arms their interrupts. A
 * frame that did not fit its buffer has length 0, which the Tx ring completes without sending.
 */
static void serve(struct path *path)
{
	u32 status;

	while (path->sent != path->received &&
	       completed(path->tx[path->sent % SLOTS].status, path->sent, ORDER))
		path->sent++;
	for (;;) {
		status = path->rx[path->received % SLOTS].status;
		if (!completed(status, path->received, ORDER))
			break;
		path->tx[path->received % SLOTS].control = status & MODERATO_DESC_STATUS_LENGTH;
		path->received++;
	}
	fence(); /* descriptors before doorbells */
	REG(path->tx_regs + MODERATO_DIR_DOORBELL) = path->received;
	REG(path->rx_regs + MODERATO_DIR_DOORBELL) = (u16)(path->sent + SLOTS);
	REG(path->tx_regs + MODERATO_DIR_REARM) = path->sent;
	REG(path->rx_regs + MODERATO_DIR_REARM) = path->received;
}

/* Start ---------------------------------------------------------------------------------------- */

static void start_ring(u32 mac, u32 regs, volatile struct descriptor *ring)
{
	REG(regs + MODERATO_DIR_RING_BASE) = (u32)ring;
	REG(regs + MODERATO_DIR_RING_ORDER) = ORDER;
	REG(regs + MODERATO_DIR_FRAMES) = FRAMES;
	REG(regs + MODERATO_DIR_PACKET_TIMER) = 0;
	REG(regs + MODERATO_DIR_ABSOLUTE_TIMER) = REG(mac + MODERATO_CLOCK_HZ) / PER_SECOND;
	REG(regs + MODERATO_DIR_GAP) = 0;
}

static void start_path(struct path *path, u32 from, u32 to, u8 (*buffer)[BUFFER_SIZE])
{
	path->rx_regs = from + MODERATO_RX_BASE;
	path->tx_regs = to + MODERATO_TX_BASE;
	for (u32 slot = 0; slot < SLOTS; slot++) {
		path->rx[slot].address = (u32)buffer[slot];
		path->rx[slot].control = BUFFER_SIZE;
		path->tx[slot].address = (u32)buffer[slot] + MODERATO_RX_OFFSET;
	}
	start_ring(from, path->rx_regs, path->rx);
	start_ring(to, path->tx_regs, path->tx);
}

static int is_moderato(u32 mac)
{
	return REG(mac + MODERATO_ID) == MODERATO_ID_VALUE &&
	       (REG(mac + MODERATO_VERSION) & MODERATO_VERSION_MAJOR) >> 16 ==
		       MODERATO_VERSION_MAJOR_VALUE;
}

static void start_interrupts(void)
{
	for (u32 source = 1; INTERRUPTS >> source; source++)
		PLIC_PRIORITY(source) = 1;
	PLIC_THRESHOLD = 0;
	PLIC_ENABLE = INTERRUPTS;
	UART_EV_PENDING = UART_EV_RX;
	UART_EV_ENABLE = UART_EV_RX;
	asm volatile("csrw mie, %0" : : "r"(MIE_MEIE));
}

void forward(void)
{
	for (u32 port = 0; port < 2; port++) {
		if (!is_moderato(macs[port])) {
			print("no Moderato MAC of this version at port ");
			print_number(port);
			print("\r\n");
			return;
		}
		mac_stop(macs[port]); /* the loader may have used the MAC */
		REG(macs[port] + MODERATO_MAX_FRAME) = MAX_FRAME;
	}
	for (u32 port = 0; port < 2; port++)
		start_path(&paths[port], macs[port], macs[!port], buffers[port]);
	for (u32 port = 0; port < 2; port++)
		REG(macs[port] + MODERATO_CTRL) = MODERATO_CTRL_RX_ENABLE |
						  MODERATO_CTRL_TX_ENABLE |
						  MODERATO_CTRL_PROMISCUOUS;
	start_interrupts();
	serve(&paths[0]);
	serve(&paths[1]);
	print("Moderato forwards between its two ports.\r\n");
	for (;;) {
		u32 source = PLIC_CLAIM; /* 0: none, which may be completed, too */

		serve(&paths[0]);
		serve(&paths[1]);
		serve_console();
		PLIC_CLAIM = source;
		asm volatile("wfi");
	}
}
