# SPDX-License-Identifier: BSD-2-Clause
"""`moderato profile`: what each packet costs, by the terms of the paper's table 5.

The simulator charges every cycle of the trial's window, its steady state, to one call stack of the
guest, which is untouched and does not notice.
"""

import functools
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path


from ..measure import estimate, forward, trial
from ..measure.results import Trial, frames_for
from ..measure.traffic import Traffic
from ..run import pool, state
from ..run.machine import machine
from ..run.system import System
from ..show import delivery, outputs
from . import attribution, flame_graph, symbols
from .stacks import Profile, fold, read


def profile(variants: Sequence[str], frame_bytes: int, load_percent: float, seconds: float,
            link_mbps: int, folded: Path | None, svg: Path | None, json: Path | None,
            system: System = System(), patient: bool = False) -> int:
    """Profile a trial of each variant; prints the table, returns the exit status.

    patient: also if that takes hours.
    """
    frames = frames_for(seconds, frame_bytes, load_percent, link_mbps)
    trials = [Trial(variant, frame_bytes, load_percent, frames, link_mbps,
                    traffic=Traffic(in_order=system.in_order)) for variant in variants]
    estimate.announce([each.seconds for each in trials], patient, system.harts,
                      "give fewer --seconds or a higher --load")

    def work(found: dict[int, Profile]):
        states = state.prepare(machine(link_mbps, system), variants)
        functions = symbols.of_guest(states[variants[0]])
        pool.run_all([
            (each.name, functools.partial(run, each, states[each.variant], functions))
            for each in trials], "trials", found)

    def show(found: dict[int, Profile], part: delivery.Part) -> int:
        profiles = [found[number] for number in sorted(found)]
        delivery.deliver(
            lambda: attribution.render(profiles) + part.note,
            (folded, lambda path: outputs.write_text(path, fold(profiles))),
            (svg, lambda path: outputs.write_text(path, flame_graph.render(profiles))),
            (json, lambda path: outputs.write_json(
                path, part.mark([attribution.as_json(each) for each in profiles]))))
        return forward.report_problems([each.result for each in profiles])

    return delivery.keep(work, len(trials), show)


def run(one: Trial, ready: state.State, functions: list[symbols.Symbol],
        progress: Callable[[float], None]) -> Profile:
    """A trial as trial.run() makes it, and where its window's cycles went."""
    start = time.monotonic()
    clocks = round(ready.machine.sys_clk_hz * one.seconds)

    def report(done: dict):
        progress(min(1.0, done["cycles"] / (clocks + 2 * trial.QUIET)))

    with ready.open(progress=report) as session, tempfile.TemporaryDirectory() as folder:
        names, stacks = Path(folder) / "symbols", Path(folder) / "stacks"
        symbols.write(functions, names)
        session.call("profile", symbols=str(names), window=True)
        reply = session.call("trial", **trial.request(one, clocks))
        stopped = session.call("profile", stop=str(stacks))
        result = trial.conclude(one, ready, session, reply, start)
        return Profile(result, read(stacks), counts(reply), stopped["memory"])


def counts(reply: dict) -> Counter:
    """What happened in the window of a trial, of all ports."""
    found = Counter()
    for port in reply["ports"]:
        events = port["window_events"]
        found.update(forwarded=port["window"]["forwarded"], received=events["rx_completed"],
                     rx_interrupts=events["rx_interrupt"], tx_interrupts=events["tx_interrupt"])
    return found
