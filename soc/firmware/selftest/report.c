/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines, and the console. All lines remain in memory, because the serial line may lose octets. */
#include "selftest.h"

#define SIZE   8192 /* octets of all lines */
#define PIECE  128 /* of what is typed */
#define REPEAT "repeat"

/* LiteX's UART */
#define UART_RXTX	REG(UART_BASE)
#define UART_TXFULL	REG(UART_BASE + 4)
#define UART_RXEMPTY	REG(UART_BASE + 8)
#define UART_EV_PENDING REG(UART_BASE + 16)
#define UART_EV_RX	2u

static const char *const names[] = { "pass", "FAIL", "skip", "info" };

static char report[SIZE] NOINIT;
static u32 size, line; /* written; where the last line starts */
static u32 lines, failed;

u32 crc32(u32 crc, const void *octets, u32 size)
{
	static const u32 table[] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
				     0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
				     0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
				     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	const u8 *octet = octets;

	crc = ~crc;
	while (size--) {
		crc ^= *octet++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

u32 failures(void)
{
	return failed;
}

/* Console -------------------------------------------------------------------------------------- */

static void send(u32 from)
{
	for (; from < size; from++) {
		while (UART_TXFULL)
			;
		UART_RXTX = report[from];
	}
}

static char receive(void)
{
	char character;

	while (UART_RXEMPTY)
		sleep_until(now() + CLOCK_HZ / 20000); /* the FIFO has room for 16 octets */
	character = UART_RXTX;
	UART_EV_PENDING = UART_EV_RX;
	return character;
}

/* Lines ---------------------------------------------------------------------------------------- */

static void put(char character)
{
	if (size < SIZE)
		report[size++] = character;
}

static void text(const char *characters)
{
	for (; *characters; characters++)
		put(*characters);
}

static void decimal(u32 value)
{
	if (value > 9)
		decimal(value / 10);
	put('0' + value % 10);
}

static void digits(u32 value)
{
	for (u32 digit = 8; digit--;)
		put("0123456789abcdef"[value >> 4 * digit & 15]);
}

/* `port`: appended to the name, unless NO_PORT. The number of digits of a line's number is fixed. */
void begin(const char *name, u32 port, enum status status)
{
	line = size;
	text("selftest ");
	put('0' + lines / 10 % 10);
	decimal(lines++ % 10);
	put(' ');
	text(name);
	if (port != NO_PORT)
		decimal(port);
	put(' ');
	text(names[status]);
	failed += status == FAIL;
}

void word(const char *name, const char *value)
{
	put(' ');
	text(name);
	put('=');
	text(value);
}

void number(const char *name, u32 value)
{
	word(name, "");
	decimal(value);
}

void hex(const char *name, u32 value)
{
	word(name, "0x");
	digits(value);
}

void end(void)
{
	u32 crc = crc32(0, report + line, size - line);

	text(" *");
	digits(crc);
	text("\r\n");
	send(line);
}

/* After the tests ------------------------------------------------------------------------------ */

static int is_repeat(const char *typed, u32 length)
{
	for (u32 at = 0; at < sizeof(REPEAT) - 1; at++)
		if (at >= length || typed[at] != REPEAT[at])
			return 0;
	return length == sizeof(REPEAT) - 1;
}

/* Each typed line gets an answer: all lines again, or for any other text its length and its CRC. */
void serve_console(void)
{
	u32 last = size, count = lines, length;
	char typed[PIECE];

	for (;;) {
		for (length = 0; length < PIECE; length++) {
			typed[length] = receive();
			if (typed[length] == '\n')
				break;
		}
		if (is_repeat(typed, length)) {
			send(0);
			continue;
		}
		begin("echo", NO_PORT, INFO);
		number("octets", length);
		hex("crc", crc32(0, typed, length));
		end();
		size = last;
		lines = count;
	}
}
