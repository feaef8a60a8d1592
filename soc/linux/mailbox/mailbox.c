/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the mailbox's content to standard output:  mailbox > /tmp/moderato.ko
 *
 * The mailbox is reserved RAM. The simulator (or a debugger) writes a 32-bit length and that many bytes
 * to it. The device tree has its address: /chosen/moderato,mailbox = <base size>.
 */
#include <endian.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROPERTY "/sys/firmware/devicetree/base/chosen/moderato,mailbox"

static void die(const char *what)
{
	fprintf(stderr, "mailbox: ");
	perror(what);
	exit(1);
}

/*
 * The simulator bypasses the data cache, which may still hold lines of the previous content. Reading
 * many times the cache's size evicts them.
 */
static void evict(void)
{
	static volatile char filler[128 << 10];

	for (size_t i = 0; i < sizeof(filler); i += 32)
		filler[i] = 0; /* its own page, instead of the shared zero page */
	for (size_t i = 0; i < sizeof(filler); i += 32)
		(void)filler[i];
}

int main(void)
{
	uint32_t where[2], base, size, length;
	const uint32_t *box;
	int file;

	file = open(PROPERTY, O_RDONLY);
	if (file < 0 || read(file, where, sizeof(where)) != sizeof(where))
		die(PROPERTY);
	base = be32toh(where[0]);
	size = be32toh(where[1]);

	file = open("/dev/mem", O_RDONLY);
	if (file < 0)
		die("/dev/mem");
	box = mmap(NULL, size, PROT_READ, MAP_SHARED, file, base);
	if (box == MAP_FAILED)
		die("mmap");

	evict();
	length = le32toh(box[0]);
	if (length == 0 || length > size - sizeof(length)) {
		fprintf(stderr, "mailbox: empty or damaged (length %u); fill it first\n", length);
		return 1;
	}
	for (uint32_t done = 0; done < length;) {
		ssize_t count = write(1, (const char *)(box + 1) + done, length - done);

		if (count < 0)
			die("write");
		done += count;
	}
	return 0;
}
