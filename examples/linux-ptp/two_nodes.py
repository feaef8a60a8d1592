#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Two nodes over one wire: the two MACs of the lab's SoC, wired to each other, each with a clock of its
own; linuxptp's ptp4l is the master on one, and makes the other one follow.

    python two_nodes.py             # prints what ptp4l says, and what is true

MAC 1 is told a system clock that is 37 ppm faster than it is, so that its driver lets its clock go 37
ppm too slowly, as a crystal would. A witness beside both reads them in the same clock, and keeps the
differences: what nobody in the guest knows.
"""

import re
import statistics
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from migen import Cat, If, Memory, Record, Signal

from moderato.gateware.phy.sim import SimPHY, sim_phy_pads
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import around
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.sim.sim_soc import SimConfig, SimSoC, write
from moderato.soc.cpu.netlist import cluster
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import Choice
from moderato.soc.soc import plic_sources
from moderato.soc.toolchain.cache import artifact, run
from moderato.soc.toolchain.project import ROOT

HERE   = Path(__file__).parent
SYSTEM = System(nic=OFFLOAD, kernel=Choice("ptp"))
LINK   = 1000            # Mb/s
PPM    = 37
CABLE  = 12              # clocks from a word's departure to its arrival; 4 octets take 3.2 of them
WITNESS_BASE = 0xf200_0000
SAMPLE_BITS, SAMPLES = 18, 512  # a sample in 2**18 clocks, 2.6 ms
TOLD     = 100           # the last ones of them, 0.26 s
SYNC     = -6            # log2 of the seconds between two Sync messages
SETTLED  = 0.5           # seconds from the slave's first offset to where its clock is trusted
SECONDS  = 1.3           # of simulated time, in all
CONFIG = f"""\
[global]
network_transport L2
time_stamping hardware
logAnnounceInterval -4
logSyncInterval {SYNC}
logMinDelayReqInterval {SYNC}
announceReceiptTimeout 3
tx_timestamp_timeout 100
summary_interval {SYNC}
pi_proportional_const 20
pi_integral_const 2
use_syslog 0
verbose 1
"""


class Cable(LiteXModule):
    """From what one PHY sends to what another one receives, CABLE clocks later."""
    def __init__(self, source, sink):
        layout = [("valid", 1), ("data", 32), ("last", 1), ("bytes", 3)]
        stages = [Record(layout) for _ in range(CABLE)]
        self.comb += [getattr(stages[0], name).eq(getattr(source, f"tx_{name}")) for name, _ in layout]
        self.sync += [after.eq(before) for before, after in zip(stages, stages[1:])]
        self.comb += [getattr(sink, f"rx_{name}").eq(getattr(stages[-1], name)) for name, _ in layout]


class Witness(LiteXModule):
    """How far the second clock is ahead of the first one, in 2**-32 ns: each 2**SAMPLE_BITS clocks a
    number of 64 bits, sample n at `bus` address 8*(n % SAMPLES)."""
    def __init__(self, first, second):
        storage = Memory(32, 2*SAMPLES)
        port    = storage.get_port(write_capable=True)
        self.specials += storage, port
        self.memory = memory = wishbone.SRAM(storage, read_only=True)
        self.bus    = memory.bus

        # # #

        clocks, sample, ahead = Signal(SAMPLE_BITS), Signal(max=SAMPLES), Signal(64)
        self.sync += [
            clocks.eq(clocks + 1),
            If(clocks == 2**SAMPLE_BITS - 1, ahead.eq(second.total - first.total)),
            If(clocks == 1, sample.eq(sample + 1)),
        ]
        self.comb += [
            port.adr.eq(Cat(clocks[0], sample)),
            port.dat_w.eq(Cat(ahead)[:32]),
            If(clocks[0], port.dat_w.eq(ahead[32:])),
            port.we.eq(clocks < 2),
        ]


class TwoNodes(SimSoC):
    def __init__(self, config: SimConfig):
        SimSoC.__init__(self, config)
        self.witness = Witness(*(mac.clock for mac in self.macs))
        self.bus.add_slave("witness", self.witness.bus,
                           SoCRegion(origin=WITNESS_BASE, size=8*SAMPLES, mode="r", cached=False))

    def mac_options(self, number):
        told = self.sys_clk_freq * (1 + number * PPM / 1e6)
        return {**SimSoC.mac_options(self, number), "sys_clk_freq": told}

    def make_phys(self, sys_clk_hz):
        """The tester sees what leaves, and nothing of it arrives."""
        ends = []
        for port, pads in enumerate(self.eth_pads):
            end = Record([field for field in sim_phy_pads(8) if field[0] != "events"])
            self.comb += [getattr(pads, f"tx_{name}").eq(getattr(end, f"tx_{name}"))
                          for name in ("valid", "data", "last", "bytes")]
            self.comb += end.link_mbps.eq(pads.link_mbps)
            phy = SimPHY(end, sys_clk_hz, f"mac{port}_datapath")
            self.add_module(name=f"phy{port}", module=phy)
            ends.append((end, phy))
        (first, _), (second, _) = ends
        self.cables = [Cable(first, second), Cable(second, first)]
        self.submodules += self.cables
        return [phy for _, phy in ends]


def verilog() -> Path:
    """A folder with the Verilog, and soc.json, from the build cache."""
    config = SimConfig(macs=2, offloads=True)
    netlist = cluster(config.cpu, 2, plic_sources(2))
    inputs = [netlist, Path(__file__), *(ROOT / name for name in (
        "gateware", "sim/sim_soc.py", "soc/cpu", "soc/memory.py", "soc/soc.py")),
        *(f"{package}={version(package)}" for package in ("litex", "liteeth", "migen"))]

    def build(folder: Path):
        run([sys.executable, __file__, folder])

    return artifact("ptp-verilog", inputs, build, "20 s")


# The guest ----------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Result:
    """said: offsets in ns that the slave's ptp4l printed when its clock was settled. true: how far it
    really was ahead then, sampled. first: what ptp4l said of it at first. ppm: its correction."""
    said:  list[float]
    true:  list[float]
    first: float
    ppm:   float
    delay: list[float]
    log:   str


def put(guest, machine, program: Path, name: str):
    guest.call("mailbox", file=str(program), address=machine.mailbox)
    guest.check(f"mailbox > /tmp/{name}; chmod +x /tmp/{name}")


def measure() -> Result:
    m = around(verilog(), LINK, SYSTEM)
    words = userspace.compiled("words", HERE / "words.c", userspace.toolchain())
    with state.loaded(m, True).open() as guest:
        guest.call("link", mbps=LINK)
        put(guest, m, userspace.ptp4l(), "ptp4l")
        put(guest, m, words, "words")
        guest.check(f"echo '{CONFIG}' > /tmp/ptp.conf")
        for role, interface, options in (("master", "eth0", "--priority1 1"),
                                         ("slave", "eth1", "-s --first_step_threshold 0.000001")):
            guest.check(f"/tmp/ptp4l -m -f /tmp/ptp.conf --uds_address /tmp/{role} {options} "
                        f"-i {interface} > /tmp/{role}.log 2>&1 &")
        end = guest.call("run", cycles=round(SECONDS * m.sys_clk_hz))["cycle"]
        said = guest.check("cat /tmp/slave.log")
        samples = truth(guest, end)
        log = said + guest.check("cat /tmp/master.log")
    offsets = [tuple(map(float, line)) for line in re.findall(
        r"ptp4l\[([\d.]+)\]: master offset +(-?\d+) s2 freq +([+-]\d+) path delay +(-?\d+)", said)]
    times = [float(time) for time in re.findall(r"ptp4l\[([\d.]+)\]: master offset", said)]
    first = float(re.search(r"master offset +(-?\d+) s0", said)[1])
    settled = times[0] + SETTLED
    kept = [line for line in offsets if line[0] > settled]
    # ptp4l says what it takes off the clock's rate.
    return Result([line[1] for line in kept], samples, first, -kept[-1][2] / 1000,
                  [line[3] for line in kept], log)


def truth(guest, cycle: int) -> list[float]:
    """The witness's samples of the last time until then, in ns."""
    first = ((cycle >> SAMPLE_BITS) - TOLD) % SAMPLES
    said = guest.check(f"/tmp/words {WITNESS_BASE:#x} {SAMPLES} {first} {TOLD}")
    printed = [int(word, 16) for word in said.split()]
    pairs = zip(printed[::2], printed[1::2], strict=True)
    return [((low | high << 32) - (high >> 31 << 64)) / 2**32 for low, high in pairs]


def report(result: Result) -> str:
    def line(name, values):
        return (f"{name}: mean {statistics.mean(values):+.1f} ns, standard deviation "
                f"{statistics.pstdev(values):.1f} ns, {min(values):+.1f} to {max(values):+.1f} ns, "
                f"{len(values)} values")
    return "\n".join([f"first offset: {result.first:.0f} ns", f"correction: {result.ppm:+.3f} ppm",
                      line("offset, as ptp4l says", result.said), line("offset, true", result.true),
                      line("path delay", result.delay)])


def main():
    result = measure()
    print(result.log, report(result), sep="\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write(TwoNodes(SimConfig(macs=2, offloads=True)), Path(sys.argv[1]))
    else:
        main()
