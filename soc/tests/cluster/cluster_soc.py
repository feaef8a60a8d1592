# SPDX-License-Identifier: BSD-2-Clause
"""The simulated SoC with DMA testers instead of MACs, and a program in its ROM.

    python cluster_soc.py HARTS LATENCY SMALL PROGRAM DIRECTORY

SMALL: 1 as on a board that is too small for Linux (no MMU, a RAM without byte masks), or 0.
"""

import sys
from dataclasses import replace
from pathlib import Path

from dma_tester import DMATester
from litex.soc.integration.soc import SoCRegion

from moderato.sim.sim_soc import SimConfig, SimSoC, write
from moderato.soc import soc
from moderato.soc.cpu import CpuConfig
from moderato.soc.memory import IntegratedRAM, WholeWords
from moderato.soc.soc import MAC_BASE, MAC_FIRST_IRQ, MAC_SIZE

TESTERS = 2


class MasklessRAM(IntegratedRAM):
    def __init__(self, port, size, latency):
        whole = WholeWords(port)
        IntegratedRAM.__init__(self, whole.memory, size, latency)
        self.whole_words = whole


class TestSoC(SimSoC):
    def __init__(self, config, program: bytes):
        SimSoC.__init__(self, config)
        self.init_rom(
            "rom",
            contents=[int.from_bytes(program[i : i + 4], "little") for i in range(0, len(program), 4)],
            auto_size=False,
        )
        for number in range(TESTERS):
            tester = DMATester()
            self.add_module(name=f"tester{number}", module=tester)
            self.bus.add_slave(
                f"tester{number}",
                tester.bus,
                SoCRegion(origin=MAC_BASE + number * MAC_SIZE, size=MAC_SIZE, cached=False),
            )
            self.comb += tester.dma.connect(self.cpu.add_dma_port())
            self.comb += self.cpu.interrupt[MAC_FIRST_IRQ + 2 * number].eq(tester.irq)


if __name__ == "__main__":
    harts, latency, small, program, directory = sys.argv[1:]
    cpu = CpuConfig(harts=int(harts))
    if int(small):
        soc.IntegratedRAM = MasklessRAM
        cpu = replace(cpu, itlb=0, dtlb=0)
    config = SimConfig(macs=0, cpu=cpu, ram_latency=int(latency))
    write(TestSoC(config, Path(program).read_bytes()), Path(directory))
