# SPDX-License-Identifier: BSD-2-Clause
"""The experiment that chose the CPU's caches and TLBs: one trial on each of several clusters.

    ./moderato cpus        # some minutes for each cluster
"""

from moderato.soc.cpu import CpuConfig

from ..run import state
from ..run.machine import machine
from . import trial
from .results import Trial, frames_for


def cluster(kib: int, ways: int, tlb: int) -> CpuConfig:
    """Both caches of so many KiB, both TLBs of so many entries."""
    return CpuConfig(icache=kib << 10, icache_ways=ways, dcache=kib << 10, dcache_ways=ways,
                     itlb=tlb, dtlb=tlb)


CLUSTERS = {f"{kib} KiB, {ways}-way; {tlb} TLB entries": cluster(kib, ways, tlb)
            for kib, ways, tlb in ((4, 1, 4), (8, 2, 4), (16, 4, 4), (8, 2, 16), (16, 4, 16))}
SECONDS = 0.1  # of simulated time, at full load: some hundred forwarded frames


def measure(cpu: CpuConfig) -> list[str]:
    """Boot and forward 64-byte frames with NAPI and one Tx interrupt per 128; a table's row."""
    of = machine(cpu=cpu)
    with state.booted(of).open() as session:
        boot = session.call("run", cycles=1)["cycle"]
    one = Trial("napi-tx-128", 64, 100, frames_for(SECONDS, 64, 100, 100), 100)
    ready = state.ready(of, one.variant)
    result = trial.run(one, ready, lambda done: None)
    with ready.open() as session:
        reply = session.call("run", cycles=5_000_000)
    return [f"{boot / 1e6:.1f}", f"{result.total('fps'):.0f}", f"{5 / reply['cpu_seconds']:.2f}"]


def cpus() -> int:
    """Prints the table; returns the exit status."""
    print("| each cache; each TLB | boot, M cycles | 64-byte frames/s, napi-tx-128 "
          "| M cycles per CPU second, idle |")
    print("|---|---|---|---|")
    for name, cpu in CLUSTERS.items():
        print("|", " | ".join([name, *measure(cpu)]), "|", flush=True)
    return 0
