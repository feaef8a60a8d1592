#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""IEEE 1588 over one wire: two simulated systems, joined as by `moderato live --boxes 2`, each with its
own clock. linuxptp's ptp4l is the master in one system and the slave in the other.

    python two_nodes.py             # prints ptp4l's offsets and the true ones

MAC 1 is the slave's. Its sys_clk_freq is 37 ppm too high, so that its clock is 37 ppm slow, as with an
inexact crystal. A witness in each system samples the clocks. Both systems share one simulated time, so
differences between samples are true offsets, which no guest can measure.
"""

import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from migen import Cat, If, Memory, Signal

from moderato.sim.lab.live import boxes
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import Machine, around
from moderato.sim.lab.run.session import Session
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.sim.lab.show.guest_output import GuestOutput
from moderato.sim.sim_soc import SimConfig, SimSoC, write
from moderato.soc.cpu.netlist import cluster
from moderato.soc.linux import userspace
from moderato.soc.linux.kernel import Choice
from moderato.soc.soc import plic_sources
from moderato.soc.verilog import sources
from moderato.toolchain.cache import artifact, run
from moderato.toolchain.project import ROOT

HERE = Path(__file__).parent
SYSTEM = System(nic=OFFLOAD, kernel=Choice("ptp"))
LINK = 1000  # Mb/s
PPM = 37
DELAY = 1000  # ns of the wire
SLAVE, MASTER = 1, 0  # numbers of the MACs at its ends
WITNESS_BASE = 0xF200_0000, 0xF201_0000  # of both MACs
SAMPLE_BITS, SAMPLES = 18, 512  # one sample per 2**18 clocks, 2.6 ms
LAST = 100  # number of the evaluated last samples, 0.26 s
SYNC = -6  # log2 of the seconds between two Sync messages
SETTLED = 0.5  # seconds from the slave's first offset to the first evaluated one
SECONDS = 1.3  # total simulated time
FAST = 1000  # maximum simulated seconds per second: the simulation need not keep pace with a host
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


class Witness(LiteXModule):
    """Samples a clock every 2**SAMPLE_BITS cycles: 64 bits in 2**-32 ns, sample n at `bus` address
    8*(n % SAMPLES)."""

    def __init__(self, clock):
        storage = Memory(32, 2 * SAMPLES)
        port = storage.get_port(write_capable=True)
        self.specials += storage, port
        self.memory = memory = wishbone.SRAM(storage, read_only=True)
        self.bus = memory.bus

        # # #

        clocks, sample, total = Signal(SAMPLE_BITS), Signal(max=SAMPLES), Signal(64)
        self.sync += [
            clocks.eq(clocks + 1),
            If(clocks == 2**SAMPLE_BITS - 1, total.eq(clock.total)),
            If(clocks == 1, sample.eq(sample + 1)),
        ]
        self.comb += [
            port.adr.eq(Cat(clocks[0], sample)),
            port.dat_w.eq(Cat(total)[:32]),
            If(clocks[0], port.dat_w.eq(total[32:])),
            port.we.eq(clocks < 2),
        ]


class Node(SimSoC):
    """The lab's SoC with witnesses, for both systems."""

    def __init__(self, config: SimConfig):
        self.claimed_hz = [config.sys_clk_hz * (1 + number * PPM / 1e6) for number in (0, 1)]
        SimSoC.__init__(self, config)
        for number, mac in enumerate(self.macs):
            witness = Witness(mac.clock)
            self.add_module(name=f"witness{number}", module=witness)
            self.bus.add_slave(
                f"witness{number}",
                witness.bus,
                SoCRegion(origin=WITNESS_BASE[number], size=8 * SAMPLES, mode="r", cached=False),
            )

    def mac_options(self, number):
        return {**SimSoC.mac_options(self, number), "sys_clk_freq": self.claimed_hz[number]}


def verilog(program: Path = Path(__file__)) -> Path:
    """A folder of the build cache with the Verilog and soc.json, which `program` writes."""
    netlist = cluster(SimConfig().cpu, 2, plic_sources(2))
    inputs = [netlist, Path(__file__), program, ROOT / "sim/sim_soc.py", *sources()]

    def build(folder: Path):
        run([sys.executable, program, "build", folder])

    return artifact("ptp-verilog", inputs, build, "20 s")


# The guest ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """said: offsets in ns that the slave's ptp4l printed after its clock settled. true: sampled offsets
    for that time. first: ptp4l's first offset. ppm: its correction."""

    said: list[float]
    true: list[float]
    first: float
    ppm: float
    delay: list[float]
    log: str


def put(guest: Session, machine: Machine, program: Path, name: str):
    guest.call("mailbox", file=str(program), address=machine.mailbox)
    guest.check(f"mailbox > /tmp/{name}; chmod +x /tmp/{name}")


def measure() -> Result:
    m = around(verilog(), LINK, SYSTEM)
    words = userspace.compiled("words", HERE / "words.c", userspace.toolchain())
    ready = state.loaded(m, True)
    with (
        boxes.joined([ready, ready], DELAY) as made,
        boxes.opened(made) as (slave, master),
        GuestOutput(m.sys_clk_hz) as output,
    ):
        for guest in slave, master:
            guest.call("link", mbps=LINK)
            put(guest, m, userspace.ptp4l(), "ptp4l")
            put(guest, m, words, "words")
            guest.check(f"echo '{CONFIG}' > /tmp/ptp.conf")
        end = together(slave, master) + round(SECONDS * m.sys_clk_hz)
        started = [
            box.with_fields(until=end, link_mbps=LINK, pace=FAST, keys=ptp4l(port, options))
            for box, (port, options) in zip(
                made,
                ((SLAVE, "-s --first_step_threshold 0.000001"), (MASTER, "--priority1 1")),
                strict=True,
            )
        ]
        boxes.Running(started, [slave, master], output).result()
        true = [
            (ahead - behind) / 2**32
            for ahead, behind in zip(
                samples(slave, SLAVE, end), samples(master, MASTER, end), strict=True
            )
        ]
        said = slave.check("cat /tmp/log")
        log = said + master.check("cat /tmp/log")
    offsets = [
        tuple(map(float, line))
        for line in re.findall(
            r"ptp4l\[([\d.]+)\]: master offset +(-?\d+) s2 freq +([+-]\d+) path delay +(-?\d+)", said
        )
    ]
    times = [float(time) for time in re.findall(r"ptp4l\[([\d.]+)\]: master offset", said)]
    first = float(re.search(r"master offset +(-?\d+) s0", said)[1])
    settled = times[0] + SETTLED
    kept = [line for line in offsets if line[0] > settled]
    # ptp4l prints by how much it slows the clock down.
    return Result(
        [line[1] for line in kept], true, first, -kept[-1][2] / 1000, [line[3] for line in kept], log
    )


def together(*guests: Session) -> int:
    """Advance all guests to the same cycle, and return it."""
    cycles = [guest.call("run", cycles=0)["cycle"] for guest in guests]
    for guest, cycle in zip(guests, cycles, strict=True):
        guest.call("run", cycles=max(cycles) - cycle)
    return max(cycles)


def ptp4l(port: int, options: str) -> str:
    """The command line that starts ptp4l."""
    return f"/tmp/ptp4l -m -f /tmp/ptp.conf {options} -i eth{port} > /tmp/log 2>&1 &\n"


def samples(guest: Session, mac: int, cycle: int) -> list[int]:
    """The witness's last LAST samples of a clock before `cycle`, in 2**-32 ns."""
    first = ((cycle >> SAMPLE_BITS) - LAST) % SAMPLES
    said = guest.check(f"/tmp/words {WITNESS_BASE[mac]:#x} {SAMPLES} {first} {LAST}")
    printed = [int(word, 16) for word in said.split()]
    pairs = zip(printed[::2], printed[1::2], strict=True)
    return [low | high << 32 for low, high in pairs]


def report(result: Result) -> str:
    def line(name, values):
        return (
            f"{name}: mean {statistics.mean(values):+.1f} ns, standard deviation "
            f"{statistics.pstdev(values):.1f} ns, {min(values):+.1f} to {max(values):+.1f} ns, "
            f"{len(values)} values"
        )

    return "\n".join(
        [
            f"first offset: {result.first:.0f} ns",
            f"correction: {result.ppm:+.3f} ppm",
            line("offset, from ptp4l", result.said),
            line("offset, true", result.true),
            line("path delay", result.delay),
        ]
    )


def main():
    result = measure()
    print(result.log, report(result), sep="\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["build"]:
        write(Node(SimConfig(macs=2, offloads=True)), Path(sys.argv[2]))
    else:
        main()
