/* SPDX-License-Identifier: BSD-2-Clause */
/* words ADDRESS COUNT: prints 32-bit words of physical memory, in hexadecimal */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	volatile uint32_t *words;
	unsigned long address, count, n;
	int memory = open("/dev/mem", O_RDONLY | O_SYNC);

	if (argc != 3 || memory < 0)
		return 1;
	address = strtoul(argv[1], NULL, 0);
	count = strtoul(argv[2], NULL, 0);
	words = mmap(NULL, 4 * count, PROT_READ, MAP_SHARED, memory, address);
	if (words == MAP_FAILED)
		return 1;
	for (n = 0; n < count; n++)
		printf("%x\n", words[n]);
	return 0;
}
