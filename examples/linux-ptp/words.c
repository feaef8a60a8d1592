/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words ADDRESS SIZE FIRST COUNT: prints COUNT pairs of 32-bit words in hexadecimal, starting at pair
 * FIRST of a ring of SIZE pairs in physical memory
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int memory = open("/dev/mem", O_RDONLY | O_SYNC);
	unsigned long size, first, count, n;
	volatile uint32_t *words;

	if (argc != 5 || memory < 0)
		return 1;
	size = strtoul(argv[2], NULL, 0);
	first = strtoul(argv[3], NULL, 0);
	count = strtoul(argv[4], NULL, 0);
	words = mmap(NULL, 8 * size, PROT_READ, MAP_SHARED, memory, strtoul(argv[1], NULL, 0));
	if (words == MAP_FAILED)
		return 1;
	for (n = first; n < first + count; n++)
		printf("%x %x\n", words[2 * (n % size)], words[2 * (n % size) + 1]);
	return 0;
}
