// SPDX-License-Identifier: BSD-2-Clause
// Runs the SoC of a board: simulation TEXT CYCLES prints the console until TEXT appears there.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "Vtop.h"
#include "verilated.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s TEXT CYCLES\n", argv[0]);
        return 2;
    }
    const std::string wanted = argv[1];
    const unsigned long last = strtoul(argv[2], nullptr, 10);
    std::string seen;
    auto top = std::make_unique<Vtop>();

    top->serial_source_ready = 1;
    for (unsigned long cycle = 0; cycle < last; cycle++) {
        top->sys_clk = 0;
        top->eval();
        if (top->serial_source_valid) {
            putchar(top->serial_source_data);
            fflush(stdout);
            seen += static_cast<char>(top->serial_source_data);
            if (seen.ends_with(wanted)) {
                printf("\n[%lu cycles]\n", cycle);
                return 0;
            }
        }
        top->sys_clk = 1;
        top->eval();
    }
    printf("\n[no \"%s\" in %lu cycles]\n", wanted.c_str(), last);
    return 0;
}
