// SPDX-License-Identifier: BSD-2-Clause
/* pin MASK TASK: sets the harts on which a task, or a kernel thread, may run. The mask is hexadecimal,
 * as in the kernel's files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	cpu_set_t harts;
	unsigned long mask;

	if (argc != 3) {
		fprintf(stderr, "usage: pin MASK TASK\n");
		return 2;
	}
	mask = strtoul(argv[1], NULL, 16);
	CPU_ZERO(&harts);
	for (unsigned int hart = 0; hart < 8 * sizeof(mask); hart++)
		if (mask >> hart & 1)
			CPU_SET(hart, &harts);
	if (sched_setaffinity(atoi(argv[2]), sizeof(harts), &harts)) {
		fprintf(stderr, "pin: task %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	return 0;
}
