# SPDX-License-Identifier: BSD-2-Clause
"""`moderato replay`: captured frames go through the guest; what leaves it is captured."""

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path


from ..run import guest, pool, state
from ..run.machine import Machine, machine
from ..run.system import System
from ..run.variants import LITEETH
from ..show import outputs
from ..show.errors import UsageError
from . import estimate, pcap, router, trial, trial_tables
from .forward import report_problems
from .results import LATENCY, Port, Result, Trial

LINK_MBPS = 100
PATIENCE = 500_000_000  # clocks beyond the capture's own time
FCS = 4                 # octets


Frames = list[tuple[int, bytes]]  # as pcap.read gives them


def replay(variant: str, inputs: Sequence[Path | None], captures: Sequence[Path],
           json: Path | None, system: System = System(),
           patient: bool = False, udp_echo: bool = False) -> int:
    """Play `inputs[n]` into port n as it was captured, write what left it to `captures[n]`."""
    entered = [pcap.read(path) if path else [] for path in inputs]
    require_playable(inputs, entered)
    estimate.announce([span(entered) / 1e9], patient, system.harts)
    of = machine(LINK_MBPS, system)
    state.ready(of, variant, static=False)
    job = functools.partial(run, of, variant, inputs, entered, captures, udp_echo)
    results = pool.run_all([(f"replay {variant}", job)], "replays")
    print(trial_tables.render_replay(results[0]), end="")
    if json:
        outputs.write_json(json, [result.as_json() for result in results])
    outputs.name(*captures, json)
    return report_problems(results)


def require_playable(inputs: Sequence[Path | None], entered: Sequence[Frames]):
    """Refuse captures without frames, and frames that would have to enter before the one before."""
    if not any(entered):
        names = " and ".join(str(path) for path in inputs if path)
        raise UsageError(f"{names} has no frames; capture some")
    for path, frames in zip(inputs, entered):
        for number, ((earlier, _), (later, _)) in enumerate(itertools.pairwise(frames), 2):
            if later < earlier:
                raise UsageError(f"{path}: frame {number} is {(earlier - later) / 1000:g} us before "
                                 f"frame {number - 1}; sort it: reordercap {path.name} NEW")


def run(of: Machine, variant: str, inputs: Sequence[Path | None], entered: Sequence[Frames],
        captures: Sequence[Path], udp_echo: bool, progress: Callable[[float], None]) -> Result:
    """`entered`: the frames of `inputs`. The captures appear whole or not at all."""
    ready = state.ready(of, variant, static=False)
    start = time.monotonic()
    clocks = round(span(entered) * of.sys_clk_hz / 1_000_000_000)

    def report(done: dict):
        progress(min(1.0, done["cycles"] / (clocks + 2 * trial.QUIET)))

    with contextlib.ExitStack() as stack:
        session = stack.enter_context(ready.open(progress=report, udp_echo=udp_echo))
        files = [stack.enter_context(outputs.replacing(path)) for path in captures]
        delivered = guest.delivered(session.check(guest.SNMP))
        before = session.call("counters")["idle_cycles"]
        reply = session.call("replay", **{"in": [path and str(path) for path in inputs]},
                             out=list(map(str, files)), link_mbps=LINK_MBPS,
                             quiet_cycles=trial.QUIET, max_cycles=clocks + PATIENCE)
        idle = session.call("counters")["idle_cycles"]
        left = [pcap.read(file) for file in files]
        delivered = guest.delivered(session.check(guest.SNMP)) - delivered
        counters, problems = trial.read_counters(session)
    reply["idle_cycles"] = [new - old for new, old in zip(idle, before)]
    settings = Trial(variant, None, None, max(map(len, entered)), LINK_MBPS)
    return evaluate(settings, ready, reply, entered, left, counters, problems, delivered,
                    time.monotonic() - start)


def span(entered: Sequence[Frames]) -> int:
    """Nanoseconds from the first frame to the last."""
    times = [moment for port in entered for moment, _ in port]
    return max(times) - min(times) if times else 0


def evaluate(settings: Trial, ready: state.State, reply: dict, entered: Sequence[Frames],
             left: Sequence[Frames], counters: guest.Counters, problems: list[str],
             delivered: int, wall_seconds: float) -> Result:
    """Figures like a trial's, over the whole replay; latency is not measured."""
    hz = ready.machine.sys_clk_hz
    clocks = reply["end_cycle"] - reply["start_cycle"]
    kernel = counters.since(ready.counters())
    ports = []
    for number, port in enumerate(reply["ports"]):
        other = 1 - number
        beyond = reply["ports"][other]["left"]
        forwarded = router.forwarded([frame for _, frame in entered[number]],
                                     [frame for _, frame in left[other]])
        octets = sum(len(frame) + FCS for frame in forwarded)
        ports.append(Port(
            offered=port["offered"], forwarded=len(forwarded),
            corrupted=beyond["bad_fcs"] + beyond["bad_preamble"], reordered=None,
            fps=len(forwarded) * hz / clocks, mbps=octets * 8 * hz / clocks / 1e6,
            **trial.of_the_mac(port)))
    counts_all = ready.conditions["nic"] != LITEETH  # which has no counter for some frames
    return Result(trial=settings, sys_clk_hz=hz, cycles=clocks, ports=ports,
                  latency=dict.fromkeys(LATENCY),
                  **trial.of_the_harts(reply["idle_cycles"], clocks, kernel),
                  backlog_dropped=kernel.backlog_dropped, tx_dropped=sum(kernel.tx_dropped),
                  delivered=delivered, wall_seconds=wall_seconds,
                  problems=[*trial.damage(reply), *problems,
                            *(unaccounted(ports) if counts_all else [])],
                  conditions=ready.conditions)


def unaccounted(ports: Sequence[Port]) -> list[str]:
    """Ports at which more or fewer frames entered than the MAC has counted."""
    counts = [(port.offered + port.answers,
               port.received + port.dropped_at_ring + port.dropped_at_fifo + port.dropped_damaged
               + port.dropped_filtered) for port in ports]
    return [f"{entered} frames entered at port {number}, its MAC counted {counted}"
            for number, (entered, counted) in enumerate(counts) if entered != counted]
