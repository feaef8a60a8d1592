/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The MACs: identity, a cable between both ports, interrupts, coherency, moderation timers.
 *
 * A descriptor of length 0 completes without a frame, so Tx interrupts and timers need no cable.
 */
#include "selftest.h"

#define ORDER	    4
#define SLOTS	    (1u << ORDER)
#define BUFFER_SIZE 1536
#define SHORTEST    60 /* octets of a frame, without FCS */
#define LONGEST	    1514
#define HEADER	    14
#define GIVE_UP	    3 /* lost frames, if none arrived */

#define ETHERTYPE 0x88b5 /* IEEE 802, for local experiments */

#define FRAME_TIME (CLOCK_HZ / 50)   /* clocks to wait for a frame */
#define TIMER	   (CLOCK_HZ / 2000) /* clocks of each timer's test */
#define TOLERANCE  200       /* clocks */
#define NEVER	   (~0u)

/* The PLIC, as machine mode of hart 0 sees it */
#define PLIC_PRIORITY(source) REG(PLIC_BASE + 4 * (source))
#define PLIC_ENABLE	      REG(PLIC_BASE + 0x2000)
#define PLIC_THRESHOLD	      REG(PLIC_BASE + 0x200000)
#define PLIC_CLAIM	      REG(PLIC_BASE + 0x200004)

static const u32 macs[PORTS + 1] = { MAC_BASES };
static const u32 sources[2 * PORTS + 1] = { SOURCES };

/* received, sent: free-running indices; frames: that arrived intact */
static struct port {
	volatile struct descriptor rx[SLOTS] ALIGNED, tx[SLOTS] ALIGNED;
	u16 received, sent;
	u32 frames;
} ports[PORTS + 1] NOINIT;

static u8 rx_buffers[PORTS + 1][SLOTS][BUFFER_SIZE] ALIGNED NOINIT;
static u8 tx_buffers[PORTS + 1][BUFFER_SIZE] ALIGNED NOINIT;
static volatile u32 scratch[1024] NOINIT;

static u32 register_of(u32 port, u32 offset)
{
	return REG(macs[port] + offset);
}

/* Identity ------------------------------------------------------------------------------------- */

static int is_moderato(u32 port)
{
	u32 version = register_of(port, MODERATO_VERSION);

	return register_of(port, MODERATO_ID) == MODERATO_ID_VALUE &&
	       (version & MODERATO_VERSION_MAJOR) >> 16 == MODERATO_VERSION_MAJOR_VALUE;
}

static void print_mac(u32 port, int stopped)
{
	begin("mac", port, is_moderato(port) && stopped ? PASS : FAIL);
	hex("id", register_of(port, MODERATO_ID));
	hex("version", register_of(port, MODERATO_VERSION));
	number("clock", register_of(port, MODERATO_CLOCK_HZ));
	hex("capability", register_of(port, MODERATO_CAPABILITY));
	hex("features", register_of(port, MODERATO_FEATURES));
	number("stopped", stopped);
	end();
}

/* Start and stop ------------------------------------------------------------------------------- */

/* Like mac_stop(), but returns 0 after a time. */
static int stop(u32 port)
{
	u32 idle = MODERATO_STATUS_RX_IDLE | MODERATO_STATUS_TX_IDLE, begun = now();

	REG(macs[port] + MODERATO_CTRL) = 0;
	while (now() - begun < FRAME_TIME)
		if ((register_of(port, MODERATO_STATUS) & idle) == idle)
			return 1;
	return 0;
}

static void start_ring(u32 regs, volatile struct descriptor *ring)
{
	for (u32 slot = 0; slot < SLOTS; slot++) {
		ring[slot].reserved = 0;
		ring[slot].status = 0;
	}
	fence();
	REG(regs + MODERATO_DIR_RING_BASE) = (u32)ring;
	REG(regs + MODERATO_DIR_RING_ORDER) = ORDER;
	REG(regs + MODERATO_DIR_FRAMES) = 0;
	REG(regs + MODERATO_DIR_PACKET_TIMER) = 0;
	REG(regs + MODERATO_DIR_ABSOLUTE_TIMER) = 0;
	REG(regs + MODERATO_DIR_GAP) = 0;
}

static void start(u32 port)
{
	struct port *self = &ports[port];
	u32 mac = macs[port];

	self->received = self->sent = self->frames = 0;
	for (u32 slot = 0; slot < SLOTS; slot++) {
		self->rx[slot].address = (u32)rx_buffers[port][slot];
		self->rx[slot].control = BUFFER_SIZE;
	}
	start_ring(mac + MODERATO_RX_BASE, self->rx);
	start_ring(mac + MODERATO_TX_BASE, self->tx);
	REG(mac + MODERATO_MAC_LOW) = 2; /* 02:00:00:00:00:00, and 01 for port 1 */
	REG(mac + MODERATO_MAC_HIGH) = port << 8;
	REG(mac + MODERATO_CTRL) = MODERATO_CTRL_RX_ENABLE | MODERATO_CTRL_TX_ENABLE;
	REG(mac + MODERATO_RX_BASE + MODERATO_DIR_DOORBELL) = SLOTS;
}

/* Frames --------------------------------------------------------------------------------------- */

static u32 octet_of_header(u32 from, u32 to, u32 at)
{
	static const u8 header[HEADER] = {
		2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, ETHERTYPE >> 8, ETHERTYPE & 0xff
	};

	return at == 5 ? to : at == 11 ? from : header[at];
}

static void fill(u32 from, u32 to, u32 length, u32 seed)
{
	u8 *frame = tx_buffers[from] + MODERATO_RX_OFFSET;

	for (u32 at = 0; at < HEADER; at++)
		frame[at] = octet_of_header(from, to, at);
	for (u32 at = HEADER; at < length; at += 4)
		*(u32 *)(frame + at) = seed = next_random(seed);
}

static int is_ours(const u8 *frame, u32 from, u32 to)
{
	for (u32 at = 0; at < HEADER; at++)
		if (frame[at] != octet_of_header(from, to, at))
			return 0;
	return 1;
}

static u32 differing(const u8 *frame, u32 from, u32 length)
{
	const u8 *expected = tx_buffers[from] + MODERATO_RX_OFFSET;
	u32 count = 0;

	for (u32 at = 0; at < length; at++)
		count += frame[at] != expected[at];
	return count;
}

static void post(u32 port, u32 length)
{
	struct port *self = &ports[port];
	volatile struct descriptor *descriptor = &self->tx[self->sent % SLOTS];

	descriptor->address = (u32)tx_buffers[port] + MODERATO_RX_OFFSET;
	descriptor->control = length;
	fence();
	REG(macs[port] + MODERATO_TX_BASE + MODERATO_DIR_DOORBELL) = ++self->sent;
}

/* Whether a ring's descriptor completes in time. The hart sleeps meanwhile. */
static int completes(volatile struct descriptor *ring, u16 index)
{
	u32 begun = now();

	while (!completed(ring[index % SLOTS].status, index, ORDER)) {
		if (now() - begun > FRAME_TIME)
			return 0;
		sleep_until(now() + CLOCK_HZ / 50000);
	}
	return 1;
}

static int is_sent(u32 port)
{
	return completes(ports[port].tx, ports[port].sent - 1);
}

static u8 *slot(u32 port)
{
	return rx_buffers[port][ports[port].received % SLOTS];
}

static u32 length_of(u32 port)
{
	return ports[port].rx[ports[port].received % SLOTS].status & MODERATO_DESC_STATUS_LENGTH;
}

static void release(u32 port)
{
	ports[port].received++;
	fence();
	REG(macs[port] + MODERATO_RX_BASE + MODERATO_DIR_DOORBELL) =
		(u16)(ports[port].received + SLOTS);
}

/* The next frame from the other port; null: none in time. others: frames of other stations */
static u8 *receive(u32 port, u32 from, u32 *others)
{
	while (completes(ports[port].rx, ports[port].received)) {
		u8 *frame = slot(port) + MODERATO_RX_OFFSET;

		if (length_of(port) >= SHORTEST && is_ours(frame, from, port))
			return frame;
		++*others;
		release(port);
	}
	return 0;
}

/* Cable ---------------------------------------------------------------------------------------- */

static u32 damaged_frames(u32 port)
{
	return register_of(port, MODERATO_STAT_RX_FCS_ERRORS) +
	       register_of(port, MODERATO_STAT_RX_UNDERSIZE) +
	       register_of(port, MODERATO_STAT_RX_OVERSIZE);
}

static u32 dropped_frames(u32 port)
{
	return register_of(port, MODERATO_STAT_RX_DROP_FIFO) +
	       register_of(port, MODERATO_STAT_RX_DROP_RING) +
	       register_of(port, MODERATO_STAT_RX_DROP_BUFFER);
}

static u32 next_length(u32 length)
{
	return length < LONGEST && length + LENGTH_STEP > LONGEST ? LONGEST : length + LENGTH_STEP;
}

/* Frames of all lengths from one port to the other, one at a time */
static void test_cable(u32 from, u32 to)
{
	u32 sent = 0, intact = 0, damaged = 0, lost = 0, others = 0, stuck = 0;
	u32 fcs = damaged_frames(to), dropped = dropped_frames(to);

	for (u32 length = SHORTEST; length <= LONGEST; length = next_length(length)) {
		const u8 *frame;

		fill(from, to, length, length);
		post(from, length);
		stuck = !is_sent(from);
		if (stuck)
			break;
		sent++;
		frame = receive(to, from, &others);
		if (!frame) {
			lost++;
			if (lost == GIVE_UP && !intact)
				break;
			continue;
		}
		if (length_of(to) == length && !differing(frame, from, length))
			intact++;
		else
			damaged++;
		release(to);
	}
	fcs = damaged_frames(to) - fcs;
	dropped = dropped_frames(to) - dropped;
	ports[to].frames = intact;
	begin("cable", from, !intact || damaged || lost || stuck || fcs || dropped ? FAIL : PASS);
	number("to", to);
	number("sent", sent);
	number("intact", intact);
	number("damaged", damaged);
	number("lost", lost);
	number("fcs-errors", fcs);
	number("dropped", dropped);
	number("others", others);
	number("stuck", stuck);
	end();
}

/* Interrupts ----------------------------------------------------------------------------------- */

static u32 is_pending(void)
{
	u32 pending;

	asm volatile("csrr %0, mip" : "=r"(pending));
	return pending >> 11 & 1;
}

static u32 is_raised(u32 regs)
{
	return !!(REG(regs + MODERATO_DIR_MODERATION) & MODERATO_DIR_MODERATION_LINE);
}

static void start_interrupts(void)
{
	u32 enable = 0;

	for (u32 line = 0; line < 2 * PORTS; line++) {
		PLIC_PRIORITY(sources[line]) = 1;
		enable |= 1u << sources[line];
	}
	PLIC_THRESHOLD = 0;
	PLIC_ENABLE = enable;
}

/* Interrupts that came while nobody took them remain in the PLIC. */
static void drain(void)
{
	for (u32 tries = 0; tries < 2 * PORTS && is_pending(); tries++) {
		u32 source = PLIC_CLAIM;

		PLIC_CLAIM = source;
	}
}

/* Clocks until the line rises */
static u32 until_raised(u32 regs, u32 begun)
{
	while (!is_raised(regs))
		if (now() - begun > FRAME_TIME)
			return NEVER;
	return now() - begun;
}

/* The line has one completion as its reason: look at each of its stations. */
static void follow(const char *name, u32 port, u32 regs, u32 source)
{
	u32 raised = until_raised(regs, now()) != NEVER, begun = now(), pending, claimed, after;

	while (!is_pending() && now() - begun < TIMER)
		;
	pending = is_pending();
	claimed = PLIC_CLAIM;
	REG(regs + MODERATO_DIR_DISARM) = 0;
	REG(regs + MODERATO_DIR_FRAMES) = 0;
	PLIC_CLAIM = claimed;
	begun = now();
	while (is_pending() && now() - begun < TIMER)
		;
	after = is_pending();
	begin(name, port, raised && pending && claimed == source && !after ? PASS : FAIL);
	number("source", source);
	number("raised", raised);
	number("pending", pending);
	number("claimed", claimed);
	number("remains", after);
	end();
}

static void test_tx_interrupt(u32 port)
{
	u32 regs = macs[port] + MODERATO_TX_BASE;

	drain();
	REG(regs + MODERATO_DIR_FRAMES) = 1;
	REG(regs + MODERATO_DIR_REARM) = ports[port].sent;
	post(port, 0);
	follow("tx-interrupt", port, regs, sources[2 * port + 1]);
	is_sent(port);
}

static void test_rx_interrupt(u32 port, u32 from)
{
	u32 regs = macs[port] + MODERATO_RX_BASE, others = 0;

	drain();
	REG(regs + MODERATO_DIR_FRAMES) = 1;
	REG(regs + MODERATO_DIR_REARM) = ports[port].received;
	fill(from, port, SHORTEST, 1);
	post(from, SHORTEST);
	follow("rx-interrupt", port, regs, sources[2 * port]);
	if (receive(port, from, &others))
		release(port);
}

/* Coherency ------------------------------------------------------------------------------------ */

/* Loads of the buffer and stores, so that the cache has the buffer's old content */
static void load_cpu(const u8 *buffer, u32 round)
{
	volatile const u32 *words = (volatile const u32 *)buffer;

	for (u32 at = 0; at < BUFFER_SIZE / 4; at++) {
		(void)words[at];
		scratch[(at + round) % 1024] = at;
	}
}

/*
 * Each frame replaces a buffer that the hart reads meanwhile. A wrong octet that is right once the cache
 * has forgotten it is stale.
 */
static void test_coherency(u32 port, u32 from)
{
	u32 rounds = 0, stale = 0, damaged = 0;

	for (u32 round = 0; round < ROUNDS; round++) {
		const u8 *frame = slot(port) + MODERATO_RX_OFFSET;
		u32 begun, wrong, remain;

		fill(from, port, LONGEST, round + 1);
		load_cpu(slot(port), round);
		post(from, LONGEST);
		begun = now();
		while (!completed(ports[port].rx[ports[port].received % SLOTS].status,
				  ports[port].received, ORDER) &&
		       now() - begun < FRAME_TIME)
			load_cpu(slot(port), round);
		if (!completes(ports[port].rx, ports[port].received))
			break;
		rounds++;
		wrong = differing(frame, from, LONGEST);
		if (wrong) {
			forget();
			remain = differing(frame, from, LONGEST);
			stale += wrong - remain;
			damaged += remain;
		}
		release(port);
		is_sent(from);
	}
	begin("coherency", port, stale || damaged || rounds < ROUNDS ? FAIL : PASS);
	number("rounds", rounds);
	number("of", ROUNDS);
	number("stale", stale);
	number("damaged", damaged);
	end();
}

/* Moderation ----------------------------------------------------------------------------------- */

/* Clocks from a completion's doorbell to the interrupt, with one of the conditions */
static u32 delay(u32 port, u32 frames, u32 packet, u32 absolute)
{
	u32 regs = macs[port] + MODERATO_TX_BASE, begun, passed;

	REG(regs + MODERATO_DIR_FRAMES) = frames;
	REG(regs + MODERATO_DIR_PACKET_TIMER) = packet;
	REG(regs + MODERATO_DIR_ABSOLUTE_TIMER) = absolute;
	REG(regs + MODERATO_DIR_REARM) = ports[port].sent;
	begun = now();
	post(port, 0);
	passed = until_raised(regs, begun);
	REG(regs + MODERATO_DIR_DISARM) = 0;
	return passed;
}

/* Clocks between two interrupts whose reasons are there at once */
static u32 gap(u32 port)
{
	u32 regs = macs[port] + MODERATO_TX_BASE, passed;

	REG(regs + MODERATO_DIR_GAP) = TIMER;
	delay(port, 1, 0, 0);
	passed = delay(port, 1, 0, 0);
	REG(regs + MODERATO_DIR_GAP) = 0;
	return passed;
}

static int is_timer(u32 passed, u32 without)
{
	return passed != NEVER && passed - without + TOLERANCE - TIMER <= 2 * TOLERANCE;
}

static void test_timers(u32 port)
{
	u32 without = delay(port, 1, 0, 0);
	u32 packet = delay(port, 0, TIMER, 0), absolute = delay(port, 0, 0, TIMER);
	u32 apart = gap(port);

	begin("timers", port,
	      without < TIMER && is_timer(packet, without) && is_timer(absolute, without) &&
			      is_timer(apart, 0)
		      ? PASS
		      : FAIL);
	number("set", TIMER);
	number("packet", packet - without);
	number("absolute", absolute - without);
	number("gap", apart);
	number("without", without);
	end();
}

/* All of them ---------------------------------------------------------------------------------- */

static void test_pair(u32 port)
{
	u32 from = !port;

	if (PORTS < 2) {
		skip("rx-interrupt", port, "one-port");
		skip("coherency", port, "one-port");
	} else if (!ports[port].frames) {
		skip("rx-interrupt", port, "no-cable");
		skip("coherency", port, "no-cable");
	} else {
		test_rx_interrupt(port, from);
		test_coherency(port, from);
	}
}

void test_ports(void)
{
	int usable = 1;

	for (u32 port = 0; port < PORTS; port++) {
		int found = is_moderato(port), stopped = found && stop(port);

		print_mac(port, stopped);
		usable &= stopped;
	}
	if (!usable)
		return;
	for (u32 port = 0; port < PORTS; port++)
		start(port);
	if (PORTS < 2)
		skip("cable", 0, "one-port");
	for (u32 port = 0; PORTS > 1 && port < PORTS; port++)
		test_cable(port, !port);
	start_interrupts();
	for (u32 port = 0; port < PORTS; port++) {
		test_tx_interrupt(port);
		test_pair(port);
		test_timers(port);
	}
	for (u32 port = 0; port < PORTS; port++)
		stop(port);
}
