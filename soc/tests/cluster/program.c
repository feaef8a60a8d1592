// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bare-metal tests of the cluster. Prints a line for each test, "ok NAME" or "FAIL NAME ...",
 * figures as "figure NAME VALUE", and EOT. No globals: all state is at fixed addresses in RAM.
 */
#include <stdint.h>

#define REG(a)	  (*(volatile uint32_t *)(a))
#define UART	  0xf0001000
#define CLINT	  0xf0010000
#define PLIC	  0xf0c00000
#define TESTER(n) (0xf1000000 + (n) * 0x1000)
#define TESTERS	  2

enum { CONTROL, ADDRESS, BURSTS, BEATS, STRIDE, SEED, FLAG, PAUSE, CYCLES, SUM, ERRORS };
#define TREG(n, r) REG(TESTER(n) + 4 * (r))
#define WRITE	   1
#define READ	   2

#define MEMORY	0x40200000 /* test data */
#define SHARED	0x40180000 /* shared by the harts, one line for each variable */
#define LINE(n) (*(volatile uint32_t *)(SHARED + 64 * (n)))

#define fence() asm volatile("fence rw, rw" ::: "memory")

/* The trap handler keeps the last cause in s11 and counts interrupts in s10. */
static uint32_t last_exception(void)
{
	uint32_t cause;

	asm volatile("mv %0, s11\n"
		     "li s11, 0"
		     : "=r"(cause));
	return cause;
}

static uint32_t interrupts(void)
{
	uint32_t count;

	asm volatile("mv %0, s10" : "=r"(count));
	return count;
}

/* Console ------------------------------------------------------------------------------------ */

static void put(char c)
{
	while (REG(UART + 4))
		;
	REG(UART) = c;
}

static void print(const char *s)
{
	while (*s)
		put(*s++);
}

static void number(uint32_t n)
{
	if (n >= 10)
		number(n / 10);
	put('0' + n % 10);
}

static void hex(uint32_t n)
{
	for (int i = 28; i >= 0; i -= 4)
		put("0123456789abcdef"[(n >> i) & 15]);
}

static void check(const char *name, uint32_t got, uint32_t expected)
{
	print(got == expected ? "ok " : "FAIL ");
	print(name);
	if (got != expected) {
		print(" got ");
		hex(got);
		print(" expected ");
		hex(expected);
	}
	put('\n');
}

static void figure(const char *name, uint32_t value)
{
	print("figure ");
	print(name);
	put(' ');
	number(value);
	put('\n');
}

static uint32_t now(void)
{
	uint32_t time;

	asm volatile("rdtime %0" : "=r"(time));
	return time;
}

/* One hart ----------------------------------------------------------------------------------- */

static void test_core(void)
{
	uint32_t value, before;

	asm volatile("csrr %0, misa" : "=r"(value));
	check("misa", value, SMALL ? 0x40001101 : 0x40041101);

	before = REG(CLINT + 0xbff8);
	value = now() - before;
	check("rdtime is mtime", value < 100, 1);

	last_exception();
	asm volatile("ebreak" ::: "memory");
	check("ebreak traps", last_exception(), 3);

	asm volatile(".word 0x00010001" ::: "memory"); /* two compressed instructions */
	check("no compressed instructions", last_exception(), 2);

	asm volatile("lw zero, 1(%0)" ::"r"(MEMORY) : "memory");
	check("misaligned load traps", last_exception(), 4);

	asm volatile("sw %1, 0(%0)\n"
		     "amoadd.w %1, %1, (%0)\n"
		     "lw %1, 0(%0)"
		     :
		     : "r"(MEMORY), "r"(21)
		     : "memory");
	check("amoadd", REG(MEMORY), 42);

	asm volatile("sw zero, 0(%1)\n"
		     "sc.w %0, %1, (%1)"
		     : "=&r"(value)
		     : "r"(MEMORY)
		     : "memory");
	check("sc without lr fails", value << 1 | (REG(MEMORY) != 0), 2);

	/* Bytes and halves, through the cache and past it. */
	REG(MEMORY) = 0x11223344;
	*(volatile uint8_t *)(MEMORY + 1) = 0xaa;
	*(volatile uint16_t *)(MEMORY + 2) = 0xbbcc;
	check("narrow stores", REG(MEMORY), 0xbbccaa44);
	REG(CLINT + 0x4004) = 0xffffffff;
	*(volatile uint8_t *)(CLINT + 0x4004) = 0xff;
	check("ROM as data", REG(64) != REG(68), 1);
}

/* More lines than the cache has: each must come back as it was stored. */
static void test_memory(void)
{
	uint32_t bad = 0, words = 16384;

	for (uint32_t i = 0; i < words; i++)
		REG(MEMORY + 4 * i) = i * 0x9e3779b9;
	for (uint32_t i = 0; i < words; i++)
		bad += REG(MEMORY + 4 * i) != i * 0x9e3779b9;
	check("64 KiB of words", bad, 0);

	uint32_t start = now(), sum = 0;
	for (uint32_t i = 0; i < words; i += 16)
		sum += REG(MEMORY + 4 * i);
	figure("cycles_per_line_missed", (now() - start) / (words / 16));

	start = now();
	for (uint32_t i = 0; i < words; i++)
		REG(MEMORY + 4 * i) = sum;
	figure("centicycles_per_store", (now() - start) * 100 / words);
}

static void test_interrupts(void)
{
	/* Timer. */
	REG(CLINT + 0x4000) = now() + 500;
	REG(CLINT + 0x4004) = 0;
	asm volatile("csrw mie, %0\n"
		     "csrsi mstatus, 8\n"
		     "wfi\n"
		     ".rept 16\n nop\n .endr" ::"r"(0x80)
		     : "memory");
	check("timer wakes from wfi", interrupts(), 1);
	REG(CLINT + 0x4004) = 0xffffffff;

	/* External: tester 0 raises source 3 when it is done. */
	TREG(0, BURSTS) = 0;
	TREG(0, CONTROL) = WRITE;
	for (int i = 1; i < 32; i++)
		REG(PLIC + 4 * i) = 1;
	REG(PLIC + 0x2000) = 0xffffffff;
	check("PLIC has 7 sources", REG(PLIC + 0x2000), 0xfe);
	REG(PLIC + 0x200000) = 0;
	asm volatile("csrw mie, %0\n"
		     "wfi\n"
		     ".rept 16\n nop\n .endr" ::"r"(0x800)
		     : "memory");
	asm volatile("csrci mstatus, 8" ::: "memory");
	check("device interrupts", interrupts(), 2);
	check("PLIC claim", REG(PLIC + 0x200004), 3);
	REG(PLIC + 0x2000) = 0;
	REG(PLIC + 0x200004) = 3;
}

/* Both testers are done and stay so: each source is pending again once it is completed. */
static void test_interrupts_take_turns(void)
{
	uint32_t order = 0;

	for (int n = 0; n < 2; n++) {
		TREG(n, BURSTS) = 0;
		TREG(n, CONTROL) = WRITE;
		while (TREG(n, CONTROL))
			;
	}
	REG(PLIC + 0x2000) = 1 << 3 | 1 << 5;
	REG(PLIC + 0x200004) = 3; /* which was not enabled any more when it was completed above */
	for (int i = 0; i < 6; i++) {
		uint32_t source = REG(PLIC + 0x200004);

		order = order << 4 | source;
		REG(PLIC + 0x200004) = source;
	}
	REG(PLIC + 0x2000) = 0;
	/* With one hart the lowest is always first. */
	check("PLIC sources take turns", order, HARTS > 1 ? 0x353535 : 0x333333);
}

/* DMA ---------------------------------------------------------------------------------------- */

static void set(int n, uint32_t address, uint32_t bursts, uint32_t beats, uint32_t stride,
		uint32_t flag)
{
	TREG(n, ADDRESS) = address;
	TREG(n, BURSTS) = bursts;
	TREG(n, BEATS) = beats - 1;
	TREG(n, STRIDE) = stride;
	TREG(n, FLAG) = flag;
	TREG(n, PAUSE) = 0;
}

static void wait(int n)
{
	while (TREG(n, CONTROL))
		;
}

/* The device writes lines that are in the D-cache: the hart must read the new words. */
static void test_dma_write(int n, uint32_t beats)
{
	const uint32_t size = 4096, seed = 0xabcd0000 + beats;
	uint32_t bad = 0, old = 0;

	for (uint32_t a = 0; a < size + 64; a += 4)
		REG(MEMORY + a) = 0x5a5a5a5a;
	for (uint32_t a = 0; a < size + 64; a += 4)
		old += REG(MEMORY + a) != 0x5a5a5a5a;
	fence();
	TREG(n, SEED) = seed;
	set(n, MEMORY + 8, size / 64, beats, 64, 0);
	TREG(n, CONTROL) = WRITE;
	wait(n);
	for (uint32_t line = 0; line < size / 64; line++)
		for (uint32_t word = 0; word < 8; word++) {
			uint32_t at = MEMORY + 64 * line + 8 * word;
			uint32_t index = line * beats + word - 1;
			int inside = word >= 1 && word < 1 + beats;

			bad += REG(at) != (inside ? seed + index : 0x5a5a5a5a);
			bad += REG(at + 4) != (inside ? ~(seed + index) : 0x5a5a5a5a);
		}
	check("DMA writes are seen", old << 16 | bad, 0);
	check("DMA write answers", TREG(n, ERRORS), 0);
}

/* The device reads what the hart has just stored. */
static void test_dma_read(int n)
{
	const uint32_t words = 2048;
	uint32_t sum = 0;

	for (uint32_t round = 1; round <= 4; round++) {
		sum = 0;
		for (uint32_t i = 0; i < words; i++) {
			uint32_t value = i * round * 0x01234567 + n;

			REG(MEMORY + 4 * i) = value;
			sum += value;
		}
		fence();
		set(n, MEMORY, words / 16, 8, 64, 0);
		asm volatile("fence w, o" ::: "memory");
		TREG(n, CONTROL) = READ;
		wait(n);
		check("DMA reads what was stored", TREG(n, SUM), sum);
	}
}

/* LR reads memory itself, past the D-cache. */
static uint32_t load_reserved(uint32_t address)
{
	uint32_t value;

	asm volatile("lr.w %0, (%1)" : "=r"(value) : "r"(address) : "memory");
	return value;
}

/*
 * Message passing: the device writes a burst, then a flag. A hart that reads flag n must also read
 * burst n. It reads the burst's line continuously, so that refills are always in flight. It reads
 * the flag through the cache or uncached; with an uncached flag, the line must never be stale.
 */
static void test_dma_order(int n, uint32_t flag)
{
	const uint32_t rounds = 1000, data = MEMORY;
	uint32_t stale = 0, seen = 0, changes = 0;

	for (uint32_t pause = 0; pause < 90; pause += 9) {
		seen = 0;
		REG(flag) = 0;
		fence();
		TREG(n, SEED) = 1;
		set(n, data, rounds, 1, 0, flag); /* burst k writes 1 + k, always the same words */
		TREG(n, PAUSE) = pause;
		TREG(n, CONTROL) = WRITE;
		while (seen != rounds) {
			uint32_t next = pause & 1 ? load_reserved(flag) : REG(flag);
			uint32_t word = REG(data);

			stale += word < next;
			changes += next != seen;
			seen = next;
		}
		wait(n);
	}
	check("no stale line after a flag", stale, 0);
	check("flags are seen while they change", changes > rounds, 1);
}

/* The hart stores to a line while the device writes other words of that line: no store is lost. */
static void test_dma_sharing(int n)
{
	const uint32_t rounds = 2000;
	uint32_t bad = 0, count = 0;

	for (uint32_t a = 0; a < 64; a += 4)
		REG(MEMORY + a) = 0;
	fence();
	TREG(n, SEED) = 1;
	set(n, MEMORY + 8, rounds, 1, 0, 0);
	TREG(n, CONTROL) = WRITE;
	while (TREG(n, CONTROL)) {
		count++;
		REG(MEMORY) = count;
		REG(MEMORY + 60) = ~count;
		bad += REG(MEMORY) != count;
		bad += REG(MEMORY + 60) != ~count;
		asm volatile("amoadd.w zero, %0, (%1)" ::"r"(1), "r"(MEMORY + 32) : "memory");
	}
	check("stores during DMA", bad, 0);
	check("atomics during DMA", REG(MEMORY + 32), count);
	check("last DMA word", REG(MEMORY + 8), rounds);
}

static void test_dma_errors(void)
{
	set(0, 0x80000000, 4, 8, 64, 0);
	TREG(0, CONTROL) = WRITE;
	wait(0);
	check("write outside memory", TREG(0, ERRORS), 4);
	TREG(0, CONTROL) = READ;
	wait(0);
	check("read outside memory", TREG(0, ERRORS), 32);
}

/* Both testers at once, a KiB per figure: bytes per 100 cycles at the two ports together. */
static void bandwidth(const char *name, uint32_t mode0, uint32_t mode1, int busy)
{
	const uint32_t size = 32768;
	uint32_t cycles, sum = 0, moved = 0;

	for (int n = 0; n < TESTERS; n++)
		set(n, MEMORY + n * 0x100000, size / 64, 8, 64, 0);
	if (mode0)
		TREG(0, CONTROL) = mode0;
	if (mode1)
		TREG(1, CONTROL) = mode1;
	while (TREG(0, CONTROL) | TREG(1, CONTROL))
		if (busy) /* misses and stores of the hart compete */
			for (uint32_t a = 0; a < 32768; a += 64) {
				sum += REG(MEMORY + 0x200000 + a);
				REG(MEMORY + 0x300000 + a) = sum;
			}
	cycles = mode0 ? TREG(0, CYCLES) : TREG(1, CYCLES);
	if (mode0 && mode1 && TREG(1, CYCLES) > cycles)
		cycles = TREG(1, CYCLES);
	for (uint32_t mode = 1; mode <= 2; mode <<= 1)
		moved += size * (!!(mode0 & mode) + !!(mode1 & mode));
	figure(name, moved * 100 / cycles);
}

static void test_dma(void)
{
	for (int n = 0; n < TESTERS; n++) {
		for (uint32_t beats = 1; beats <= 7; beats += 3)
			test_dma_write(n, beats);
		test_dma_read(n);
		test_dma_order(n, MEMORY + 64); /* flag in the next line */
		test_dma_order(n, MEMORY + 16); /* in the same line */
		test_dma_order(n, MEMORY + 4096); /* in the same set of the cache */
		test_dma_sharing(n);
	}
	test_dma_errors();
	bandwidth("write_one_port", WRITE, 0, 0);
	bandwidth("read_one_port", READ, 0, 0);
	bandwidth("write_two_ports", WRITE, WRITE, 0);
	bandwidth("read_two_ports", READ, READ, 0);
	bandwidth("read_write_two_ports", READ | WRITE, READ | WRITE, 0);
	bandwidth("read_write_two_ports_hart_busy", READ | WRITE, READ | WRITE, 1);
}

/* Two harts ---------------------------------------------------------------------------------- */

enum { GO, ATOMIC, RESERVED, DONE, DATA, IPIS, PING, PONG, TOLD, STALE };

static void contend(void)
{
	for (int i = 0; i < 1000; i++) {
		uint32_t value, failed;

		asm volatile("amoadd.w zero, %0, (%1)" ::"r"(1), "r"(&LINE(ATOMIC)) : "memory");
		do
			asm volatile("lr.w %0, (%2)\n"
				     "addi %0, %0, 1\n"
				     "sc.w %1, %0, (%2)"
				     : "=&r"(value), "=&r"(failed)
				     : "r"(&LINE(RESERVED))
				     : "memory");
		while (failed);
	}
}

static void test_harts(void)
{
	uint32_t stale = 0;

	for (int i = GO; i <= STALE; i++)
		LINE(i) = 0;
	for (int i = 0; i < 16; i++)
		REG(MEMORY + 64 * i) = 0;
	fence();
	(void)LINE(DATA); /* the line of DATA is in this hart's cache now */
	REG(CLINT + 4) = 1;
	contend();
	while (!LINE(DONE))
		;
	fence();
	check("atomic adds of two harts", LINE(ATOMIC), 2000);
	check("LR/SC of two harts", LINE(RESERVED), 2000);
	check("store of the other hart", LINE(DATA), 0xcafe0001);
	check("software interrupts", LINE(IPIS), 1);

	/* Message passing between the harts, both ways. */
	for (uint32_t round = 1; round <= 1000; round++) {
		for (int i = 0; i < 4; i++)
			REG(MEMORY + 64 * i + 4) = round;
		fence();
		LINE(PING) = round;
		while (LINE(PONG) != round)
			;
		fence();
		for (int i = 0; i < 4; i++)
			stale += REG(MEMORY + 64 * i + 8) != round;
	}
	check("messages between harts", stale, 0);
	check("messages to the other hart", LINE(DATA), 0);
}

static void second_hart(void)
{
	uint32_t mip, stale = 0;

	asm volatile("csrw mie, %0" ::"r"(8));
	do {
		asm volatile("wfi");
		asm volatile("csrr %0, mip" : "=r"(mip));
	} while (!(mip & 8));
	REG(CLINT + 4) = 0;
	LINE(IPIS)++;
	contend();
	LINE(DATA) = 0xcafe0001;
	fence();
	LINE(DONE) = 1;
	for (uint32_t round = 1; round <= 1000; round++) {
		while (LINE(PING) != round)
			;
		fence();
		for (int i = 0; i < 4; i++) {
			stale += REG(MEMORY + 64 * i + 4) != round;
			REG(MEMORY + 64 * i + 8) = round;
		}
		LINE(DATA) = stale;
		fence();
		LINE(PONG) = round;
	}
}

/*
 * Litmus tests of the orders that a driver on two harts relies on, with Linux's fences. The harts
 * synchronise through TOLD, which the first one writes, and DONE, which the second one writes.
 */

#define fence_acquire() asm volatile("fence r, rw" ::: "memory") /* after smp_load_acquire() */
#define fence_release() asm volatile("fence rw, w" ::: "memory") /* before smp_store_release() */
#define fence_rmb()	asm volatile("fence r, r" ::: "memory") /* dma_rmb() */
#define fence_writel()	asm volatile("fence w, o" ::: "memory") /* before writel() */

static void tell(uint32_t what)
{
	fence_release();
	LINE(TOLD) = what;
}

static void meet(volatile uint32_t *line, uint32_t what)
{
	while (*line != what)
		;
	fence_acquire();
}

static void answer(uint32_t what, uint32_t stale)
{
	LINE(STALE) += stale;
	fence_release();
	LINE(DONE) = what;
}

static void delay(uint32_t loops)
{
	while (loops--)
		asm volatile("nop");
}

/*
 * Status before data: a hart that reads a device's flag n also reads its data n. So does a hart
 * that gets n from another hart.
 */
static const uint32_t BURSTS_SEEN = 2000;
static uint32_t flag_of(int n)
{
	return n ? MEMORY + 64 : MEMORY + 16;
} /* next to the data, in its line */

static void litmus_status(int n)
{
	uint32_t seen = 0, stale = 0;

	REG(flag_of(n)) = 0;
	REG(MEMORY) = 0;
	tell(0);
	meet(&LINE(DONE), 0);
	TREG(n, SEED) = 1;
	set(n, MEMORY, BURSTS_SEEN, 1, 0, flag_of(n));
	TREG(n, PAUSE) = 20;
	TREG(n, CONTROL) = WRITE;
	while (seen != BURSTS_SEEN) {
		seen = REG(flag_of(n));
		fence_rmb();
		stale += REG(MEMORY) < seen;
		tell(seen);
	}
	meet(&LINE(DONE), BURSTS_SEEN);
	wait(n);
	check("data of a status that a hart saw", stale, 0);
	check("data of a status from another hart", LINE(STALE), 0);
}

static void second_status(int n)
{
	uint32_t told = 0, stale = 0;

	meet(&LINE(TOLD), 0);
	answer(0, 0);
	while (told != BURSTS_SEEN) {
		(void)REG(MEMORY); /* a refill is in flight as often as possible */
		told = LINE(TOLD);
		fence_acquire();
		stale += REG(MEMORY) < told;
		stale += REG(flag_of(n)) < told;
	}
	answer(BURSTS_SEEN, stale);
}

/* Doorbell after descriptor: one hart writes the descriptor, the other one the doorbell. */
#define RINGS 300

static uint32_t descriptor(uint32_t round, int word)
{
	return (round << 8 | word) * 0x9e3779b9;
}

static void litmus_doorbell(void)
{
	for (uint32_t round = 1; round <= RINGS; round++) {
		for (int word = 0; word < 16; word++)
			REG(MEMORY + 4 * word) = descriptor(round, word);
		tell(round);
		meet(&LINE(DONE), round);
	}
	check("descriptors that the device read", LINE(STALE), 0);
}

static void second_doorbell(int n)
{
	set(n, MEMORY, 1, 8, 0, 0);
	for (uint32_t round = 1; round <= RINGS; round++) {
		uint32_t sum = 0;

		meet(&LINE(TOLD), round);
		fence_writel();
		TREG(n, CONTROL) = READ;
		wait(n);
		for (int word = 0; word < 16; word++)
			sum += descriptor(round, word);
		answer(round, TREG(n, SUM) != sum);
	}
}

/*
 * Interrupt after completion: the device interrupts after the response to its last write. A hart
 * that takes the interrupt never reads old data, and need not read from the device. A request is
 * not lost if it comes before the completion of the previous one at the PLIC.
 */
#define SOURCE 3 /* of tester 0 */
#define MEIP   0x800

static uint32_t interrupted(uint32_t address)
{
	uint32_t mip;

	do {
		(void)REG(address);
		asm volatile("csrr %0, mip" : "=r"(mip));
	} while (!(mip & MEIP));
	return REG(address);
}

static void litmus_interrupt(void)
{
	uint32_t stale = 0;

	REG(PLIC + 0x2000) = REG(PLIC + 0x2100) = 1 << SOURCE;
	while (REG(PLIC + 0x200004)) /* claim sources that are pending from earlier tests */
		;
	for (uint32_t round = 1; round <= RINGS; round++) {
		/* The second burst comes after the pause, and writes 1000 * round + 8 and so on. */
		TREG(0, SEED) = 1000 * round;
		set(0, MEMORY, 2, 8, 0, 0);
		TREG(0, PAUSE) = 300 + round % 64;
		tell(round);
		TREG(0, CONTROL) = WRITE;
		REG(PLIC + 0x200004) = SOURCE; /* completed; the device asks for nothing just now */
		stale += interrupted(MEMORY + 8 * (round % 8)) != 1000 * round + 8 + round % 8;
		meet(&LINE(DONE), round);
		stale += REG(PLIC + 0x200004) != SOURCE;
	}
	REG(PLIC + 0x2000) = REG(PLIC + 0x2100) = 0;
	check("data after an interrupt", stale, 0);
	check("data after the other hart's interrupt", LINE(STALE), 0);
}

static void second_interrupt(void)
{
	for (uint32_t round = 1; round <= RINGS; round++) {
		uint32_t word;

		meet(&LINE(TOLD), round);
		delay(20); /* the claim of the round before is completed by now */
		word = interrupted(MEMORY + 8 * (7 - round % 8));
		answer(round, word != 1000 * round + 8 + 7 - round % 8);
	}
}

/* Each test has to find TOLD and DONE above the values for which it waits. */
static void between_litmus_tests(int hart)
{
	if (hart) {
		meet(&LINE(TOLD), ~0u);
		answer(~0u, 0);
		return;
	}
	tell(~0u);
	meet(&LINE(DONE), ~0u);
	LINE(STALE) = 0;
}

static void litmus(int hart)
{
	for (int n = 0; n < TESTERS; n++) {
		between_litmus_tests(hart);
		hart ? second_status(n) : litmus_status(n);
		between_litmus_tests(hart);
		hart ? second_doorbell(n) : litmus_doorbell();
	}
	between_litmus_tests(hart);
	hart ? second_interrupt() : litmus_interrupt();
}

void main(uint32_t hart)
{
	if (hart) {
		second_hart();
		litmus(1);
		return;
	}
	test_core();
	test_memory();
	test_interrupts();
	test_interrupts_take_turns();
	test_dma();
	if (HARTS > 1) {
		test_harts();
		litmus(0);
	}
	put(4);
}
