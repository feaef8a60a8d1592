// SPDX-License-Identifier: BSD-2-Clause
// Runs the SoC, and prints the output of its UART until EOT: `model MAX_CYCLES`.
#include <cstdio>
#include <cstdlib>
#include "Vsim.h"

int main(int argc, char **argv)
{
	const unsigned long limit = argc > 1 ? strtoul(argv[1], nullptr, 0) : 0;
	Vsim soc;

	soc.serial_source_ready = 1;
	for (unsigned long cycle = 0; cycle < limit; cycle++) {
		soc.sys_clk = 0;
		soc.eval();
		const bool printed = soc.serial_source_valid;
		const char character = soc.serial_source_data;
		soc.sys_clk = 1;
		soc.eval();
		if (printed && character == 4) {
			fprintf(stderr, "%lu cycles\n", cycle);
			return 0;
		}
		if (printed)
			putchar(character);
	}
	fprintf(stderr, "not finished after %lu cycles\n", limit);
	return 1;
}
