// SPDX-License-Identifier: BSD-2-Clause
// Runs the SoC of a board: simulation CYCLES TEXT [LINE TEXT]... prints the console until the first
// TEXT appears there, then types LINE and goes on until the next TEXT appears.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "Vtop.h"
#include "verilated.h"

int main(int argc, char **argv)
{
    if (argc < 3 || argc % 2 == 0) {
        fprintf(stderr, "usage: %s CYCLES TEXT [LINE TEXT]...\n", argv[0]);
        return 2;
    }
    const unsigned long last = strtoul(argv[1], nullptr, 10);
    int wanted = 2;
    std::string seen, typed;
    auto top = std::make_unique<Vtop>();

    top->serial_source_ready = 1;
    for (unsigned long cycle = 0; cycle < last; cycle++) {
        top->serial_sink_valid = !typed.empty();
        top->serial_sink_data = typed.empty() ? 0 : typed.front();
        top->sys_clk = 0;
        top->eval();
        if (top->serial_sink_valid && top->serial_sink_ready)
            typed.erase(0, 1);
        if (top->serial_source_valid) {
            putchar(top->serial_source_data);
            fflush(stdout);
            seen += static_cast<char>(top->serial_source_data);
            if (seen.ends_with(argv[wanted])) {
                printf("\n[\"%s\" after %lu cycles]\n", argv[wanted], cycle);
                fflush(stdout);
                if (wanted + 1 == argc)
                    return 0;
                typed = argv[wanted + 1];
                seen.clear();
                wanted += 2;
            }
        }
        top->sys_clk = 1;
        top->eval();
    }
    printf("\n[no \"%s\" in %lu cycles]\n", argv[wanted], last);
    return 0;
}
