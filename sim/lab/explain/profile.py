# SPDX-License-Identifier: BSD-2-Clause
"""`moderato profile`: the cost of each packet, by the terms of the paper's table 5.

The simulator charges every cycle of the trial's window, its steady state, to one call stack of the
guest. The guest is unchanged and does not notice.
"""

import functools
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..measure import estimate, forward, trial
from ..measure.results import Trial, frames_for
from ..measure.traffic import Traffic, reporter
from ..run import runner, state
from ..run.machine import machine
from ..run.system import System
from ..show import delivery, outputs
from . import attribution, flame_graph, symbols
from .stacks import Profile, fold, read


@dataclass(frozen=True)
class Request:
    """A trial of each profiled variant, and the files to write."""

    variants: Sequence[str]  # one or more of the NIC's (variants.NICS)
    frame_bytes: int  # with the FCS
    load_percent: float  # of the line rate, into each port
    seconds: float  # simulated time in which frames are offered
    link_mbps: int = 100
    folded: Path | None = None
    flame_graph: Path | None = None
    json: Path | None = None
    system: System = System()
    patient: bool = False  # accept trials that take hours

    def trials(self) -> list[Trial]:
        frames = frames_for(self.seconds, self.frame_bytes, self.load_percent, self.link_mbps)
        return [
            Trial(
                variant,
                self.frame_bytes,
                self.load_percent,
                frames,
                self.link_mbps,
                traffic=Traffic(in_order=self.system.in_order),
            )
            for variant in self.variants
        ]


def profile(wanted: Request) -> int:
    """Profile the trials; prints the table, returns the exit status: 1 if one of them is unsound."""
    trials = wanted.trials()
    estimate.announce(
        [each.seconds for each in trials],
        wanted.patient,
        wanted.system,
        "give fewer --seconds or a higher --load",
    )

    def work(found: dict[int, Profile]):
        states = state.prepare(machine(wanted.link_mbps, wanted.system), wanted.variants)
        functions = symbols.of_guest(states[wanted.variants[0]])
        runner.run_all(
            [
                (each.name, functools.partial(run, each, states[each.variant], functions))
                for each in trials
            ],
            "trials",
            found,
        )

    def show(found: dict[int, Profile], part: delivery.Part) -> int:
        profiles = [found[number] for number in sorted(found)]
        delivery.deliver(
            lambda: attribution.render(profiles) + part.note,
            (wanted.folded, lambda path: outputs.write_text(path, fold(profiles))),
            (wanted.flame_graph, lambda path: outputs.write_text(path, flame_graph.render(profiles))),
            (
                wanted.json,
                lambda path: outputs.write_json(
                    path, part.mark([attribution.as_json(each) for each in profiles])
                ),
            ),
            conditions=machine(wanted.link_mbps, wanted.system).conditions,
        )
        return forward.report_problems([each.result for each in profiles], wanted.system)

    return delivery.keep(work, len(trials), show)


def run(
    one: Trial, ready: state.State, functions: list[symbols.Symbol], progress: Callable[[float], None]
) -> Profile:
    """A trial like trial.run()'s, with the profile of its window."""
    start = time.monotonic()
    of = ready.machine
    report = reporter(progress, of.sys_clk_hz, one.seconds)
    with ready.open(progress=report) as session, tempfile.TemporaryDirectory() as folder:
        names, stacks = Path(folder) / "symbols", Path(folder) / "stacks"
        symbols.write(functions, names)
        before = trial.begin(one, ready, session)
        session.call("profile", symbols=str(names), window=True)
        reply = session.call("trial", **trial.request(one, of.sys_clk_hz, of.system.ethtool))
        stopped = session.call("profile", stop=str(stacks))
        result = trial.conclude(one, ready, session, reply, start, before)
        return Profile(result, read(stacks), counts(reply), stopped["memory"])


def counts(reply: dict) -> Counter:
    """The events of all ports in a trial's window."""
    found = Counter()
    for port in reply["ports"]:
        events = port["window_events"]
        found.update(
            forwarded=port["window"]["forwarded"],
            received=events["rx_completed"],
            rx_interrupts=events["rx_interrupt"],
            tx_interrupts=events["tx_interrupt"],
        )
    return found
