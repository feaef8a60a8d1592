# SPDX-License-Identifier: BSD-2-Clause
"""The experiment that chose the CPU's caches, TLBs and prediction: one trial on each of several
clusters.

    ./moderato cpus        # some minutes for each cluster
"""

from moderato.soc.cpu import CpuConfig

from ..measure import trial
from ..measure.results import Trial, frames_for
from ..run import state
from ..run.machine import machine


def cluster(kib: int, ways: int, tlb: int, prediction: str) -> CpuConfig:
    """A CPU whose two caches have that many KiB, and whose two TLBs have that many entries."""
    return CpuConfig(
        icache=kib << 10,
        icache_ways=ways,
        dcache=kib << 10,
        dcache_ways=ways,
        itlb=tlb,
        dtlb=tlb,
        prediction=prediction,
    )


CLUSTERS = [(16, 4, 16, "none"), (16, 4, 4, "none"), (16, 4, 4, "target")]
VARIANT = "napi-tx-off"
SECONDS = 0.1  # of simulated time, at full load: some hundred forwarded frames


def measure(cpu: CpuConfig) -> list[str]:
    """Boot and forward 64-byte frames; returns a row of the table."""
    of = machine(cpu=cpu)
    boot = state.booted(of).cycle()
    one = Trial(VARIANT, 64, 100, frames_for(SECONDS, 64, 100, 100), 100)
    ready = state.ready(of, one.variant)
    result = trial.run(one, ready, lambda done: None)
    with ready.open() as session:
        reply = session.call("trial", **trial.request(one, of.sys_clk_hz))
    speed = (reply["end_cycle"] - reply["start_cycle"]) / reply["cpu_seconds"]
    return [f"{boot / 1e6:.1f}", f"{result.total('fps'):.0f}", f"{speed / 1e6:.2f}"]


def cpus() -> int:
    """Prints the table; returns the exit status."""
    print(
        f"| each cache | each TLB | prediction | boot, M cycles | 64-byte frames/s, {VARIANT} "
        "| M cycles per CPU second |"
    )
    print("|---|---|---|---|---|---|")
    for kib, ways, tlb, prediction in CLUSTERS:
        figures = measure(cluster(kib, ways, tlb, prediction))
        print(
            "|",
            " | ".join([f"{kib} KiB, {ways}-way", f"{tlb} entries", prediction, *figures]),
            "|",
            flush=True,
        )
    return 0
