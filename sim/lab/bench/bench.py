# SPDX-License-Identifier: BSD-2-Clause
"""`moderato bench`: how fast the simulation is, while it forwards, and next to stock litex_sim."""

import statistics
import time
from collections.abc import Callable

from moderato.sim.sim_soc import SimConfig, soc_verilog
from moderato.toolchain.progress import step

from ..measure import trial
from ..measure.results import Trial
from ..run import state
from ..run.machine import Machine, machine
from ..run.session import Session
from ..show.columns import sentence
from . import litex_sim

RUNS = 3
FORWARDING = Trial("napi", 64, 100, 15000, 100)  # 0.1 s of overload: the CPU is never idle
BOOT_CLOCKS = 20_000_000
START_CLOCKS = 1_000_000  # measured separately: the cost of starting the process


def bench() -> int:
    """Prints figures with their conditions; returns the exit status."""
    of = machine()
    ready = state.ready(of, FORWARDING.variant)
    print(sentence(f"Medians of {RUNS} runs, one process at a time, CPU time of the process."))
    print()

    with step("measuring how fast it forwards", "half a minute"):
        rate = _median(lambda: forwarding_rate(ready))
    say(
        "forwarding",
        f"{rate / 1e6:.2f} M cycles per CPU second: two MACs, {FORWARDING.variant}, "
        f"{FORWARDING.frame_bytes}-byte frames, {FORWARDING.load_percent} % of "
        f"{FORWARDING.link_mbps} Mb/s at both ports",
    )

    with step("measuring how fast it starts", "a few seconds"):
        seconds = _median(lambda: restore_seconds(ready))
    say("restore", f"{seconds:.2f} s wall time from starting the process to the first forwarded frame")

    with step("measuring a boot, also by litex_sim", "3 minutes"):
        ours, stock = boot_rates(of)
    say(
        "boot",
        f"{ours / 1e6:.2f} M cycles per CPU second, {BOOT_CLOCKS // 1_000_000} M cycles of "
        "Linux's boot on the same SoC",
    )
    say(
        "litex_sim",
        f"{stock / 1e6:.2f} M cycles per CPU second for the same cycles: LiteX's own "
        "simulator, build flow and default flags",
    )
    say("ratio", f"{ours / stock:.2f}")
    return 0


def say(what: str, figure: str):
    print(sentence(f"{what:12}{figure}", 12), flush=True)


def _median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(RUNS))


def forwarding_rate(ready: state.State) -> float:
    """Clocks per CPU second in a trial."""
    with ready.open() as session:
        reply = session.call("trial", **trial.request(FORWARDING, ready.machine.sys_clk_hz))
    return (reply["end_cycle"] - reply["start_cycle"]) / reply["cpu_seconds"]


def restore_seconds(ready: state.State) -> float:
    """From the start of the process to the first frame that leaves the other port."""
    start = time.monotonic()
    with ready.open() as session:
        session.call(
            "offer", **trial.request(Trial(FORWARDING.variant, 64, 10, 1, 100), ready.machine.sys_clk_hz)
        )
        while not _forwarded(session):
            session.call("run", cycles=20_000)
    return time.monotonic() - start


def _forwarded(session: Session) -> bool:
    return any(port["events"]["tx_completed"] for port in session.call("counters")["ports"])


def boot_rates(of: Machine) -> tuple[float, float]:
    """Clocks per CPU second of both simulators over the same cycles of the same boot."""
    config = SimConfig(macs=len(of.soc["macs"]))
    stock = litex_sim.simulator(config, soc_verilog(config), of.images)

    def own_rate() -> float:
        with Session(of.simulator, load=of.images) as session:
            session.call("run", cycles=START_CLOCKS)
            return BOOT_CLOCKS / session.call("run", cycles=BOOT_CLOCKS)["cpu_seconds"]

    def stock_rate() -> float:
        both = litex_sim.cpu_seconds(stock, START_CLOCKS + BOOT_CLOCKS)
        return BOOT_CLOCKS / (both - litex_sim.cpu_seconds(stock, START_CLOCKS))

    return _median(own_rate), _median(stock_rate)
