#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Linux forwards frames on LiteX's VexRiscv-SMP and, for comparison, on the lab's own cluster.

    python forward_smp.py           # prints a table; the first run builds for half an hour

Kernel, guest, driver, memory, traffic, and the sizes of caches and TLBs are the same. Frames of 64
octets enter both ports at 100 % of 100 Mb/s for 0.2 s. The driver uses no Tx interrupts
(`napi-tx-off`).
"""

import functools
import sys
from dataclasses import dataclass

from smp_soc import verilog

from moderato.sim.lab.explain import attribution, profile, symbols
from moderato.sim.lab.explain.stacks import Profile
from moderato.sim.lab.measure.results import Trial, frames_for
from moderato.sim.lab.run import runner, state
from moderato.sim.lab.run.machine import around, machine
from moderato.sim.lab.show.columns import columns

VARIANT = "napi-tx-off"
OCTETS = 64
SECONDS = 0.2
AS_OURS = {
    "icache_size": 16384,
    "icache_ways": 4,
    "dcache_size": 16384,
    "dcache_ways": 4,
    "itlb_size": 4,
    "dtlb_size": 4,
    "icache_width": 64,
    "dcache_width": 64,
}
STOCK, OURS = "VexRiscv-SMP", "our cluster"
SYSTEMS = {STOCK: lambda: around(verilog(**AS_OURS)), OURS: machine}


@dataclass(frozen=True)
class Row:
    """boot: cycles from reset to the shell."""

    system: str
    boot: int
    profile: Profile

    @property
    def per_second(self) -> float:
        """Frames per second that both ports forward."""
        return self.profile.result.total("fps")

    @property
    def cycles_a_beat(self) -> float:
        """Cycles per beat of the MACs' memory port, in the steady state."""
        uses = [
            uses for client, uses in self.profile.memory.items() if client.startswith(("DMA", "MAC"))
        ]
        return sum(sum(each.values()) for each in uses) / sum(each["beats"] for each in uses)


def measure(system: str, progress=lambda share: None) -> Row:
    of = SYSTEMS[system]()
    ready = state.ready(of, VARIANT)
    with state.booted(of).open() as session:
        boot = session.call("run", cycles=1)["cycle"] - 1
    one = Trial(VARIANT, OCTETS, 100, frames_for(SECONDS, OCTETS, 100, 100), 100)
    return Row(system, boot, profile.run(one, ready, symbols.of_guest(ready), progress))


def table(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        result, frames = row.profile.result, row.profile.counts["forwarded"]
        causes = attribution.by_cause(row.profile)
        busy = {name: causes[name] for name in attribution.CAUSES if name != "idle"}
        lines.append(
            [
                row.system,
                f"{row.boot / 1e6:.1f} M",
                f"{result.offered_fps:.0f}",
                f"{row.per_second:.0f}",
                *(
                    str(result.total(name))
                    for name in ("rx_interrupts", "tx_interrupts", "dropped_at_ring", "dropped_at_fifo")
                ),
                *map(
                    str,
                    [round(sum(busy.values()) / frames), *attribution.per_frame(busy, frames).values()],
                ),
                f"{result.cpu_idle_percent:.0f} %",
                f"{row.cycles_a_beat:.1f}",
            ]
        )
    head = [
        "system",
        "boot",
        "offered",
        "forwarded",
        "Rx",
        "Tx",
        "at ring",
        "at FIFO",
        "all",
        *(name for name in attribution.CAUSES if name != "idle"),
        "idle",
        "a beat",
    ]
    return "\n".join(
        columns(
            [head, *lines],
            group={
                "frames/s:": range(2, 4),
                "interrupts:": range(4, 6),
                "dropped:": range(6, 8),
                "CPU cycles a frame:": range(8, 15),
                "CPU:": range(15, 16),
                "DMA:": range(16, 17),
            },
        )
    )


def main():
    rows = runner.run_all([(system, functools.partial(measure, system)) for system in SYSTEMS], "trials")
    print(table(rows))
    problems = [f"{row.system}: {problem}" for row in rows for problem in row.profile.result.problems]
    sys.exit("\n".join(problems) or None)


if __name__ == "__main__":
    main()
