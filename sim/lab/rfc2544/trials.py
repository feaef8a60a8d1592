# SPDX-License-Identifier: BSD-2-Clause
"""The trials of RFC 2544's tests. A trial's record is the same whenever it runs.

steady    whether the device sustains a load; ends early if it clearly does not
loss      the same load to the end of the window, to measure the loss
burst     N frames with minimum gaps (RFC 2544, 26.4)
recovery  a load, then half of it (26.5)
reset     a load while the device is reset (26.6)
"""

import hashlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from ..measure.learning import hands_over, learn
from ..measure.results import frame_rate
from ..measure.traffic import SEED, Traffic, entered, quiet, timeout
from ..measure.trial import damage
from ..run.session import Session
from ..run.state import State
from ..run.variants import INTERFACES

FRAMES = 500  # offered to each port in a steady trial, at least: see docs/results.md
# Simulated seconds, at least: 14 ticks of the kernel. Even the fastest strategy frees its 128 skbs at
# least once in each part of the window.
SECONDS = 0.14
PARTS = 8  # of the window, in moderato-sim's reports
HOPELESS = 64  # growth of the least outstanding, in frames, that no later part can compensate
SLACK = 1  # frame: variation of the least outstanding of a device that sustains the load
SPAN = 3 / 8  # of the window: the part over which growth() measures a steady growth
WINDOW = 4 / 5  # part of a trial
# Resets both MACs and restores the neighbours. The program is typed before the load keeps the CPU busy,
# and waits for its commands, because starting it would take longer than they do.
RESET = "".join(
    [f"link set {name} {way}\\n" for way in ("down", "up") for name in INTERFACES]
    + [
        f"neigh replace 198.1{8 + port}.0.2 lladdr 02:54:73:74:00:0{port} nud permanent dev {name}\\n"
        for port, name in enumerate(INTERFACES)
    ]
)
TYPE, TYPING = f"(usleep 150000; printf '{RESET}') | ip -batch -\n", 0.05
ENVELOPE = ("do", "ok", "wall_seconds", "cpu_seconds")  # of moderato-sim's replies


@dataclass(frozen=True)
class Task:
    """One trial: the load of each port, and how to evaluate it."""

    kind: str
    variant: str
    frame_bytes: int
    link_mbps: int
    load_percent: float
    frames: int
    phase: float = 0.5  # delay of the second port's frames, as a share of a slot
    resolution: float = 1.0  # percent: resolution of a steady trial's verdict
    then: tuple[float, int] | None = None  # the next load, and its number of frames
    traffic: Traffic = Traffic()

    @property
    def name(self) -> str:
        return " ".join(
            filter(
                None,
                (
                    f"{self.variant} {self.frame_bytes} {self.kind} {self.load_percent:.4g} %",
                    self.traffic.words,
                ),
            )
        )

    def as_record(self) -> dict:
        """Its fields. Usual traffic is omitted, because older records do not have it."""
        fields = asdict(self) | {"traffic": self.traffic.as_record()}
        if self.traffic == Traffic():
            del fields["traffic"]
        return fields

    def key(self, ready: State) -> str:
        """A hash of all that the record depends on: the checkpoint's content and this task."""
        learning = ["learning"] if hands_over(self.variant) else []
        content = json.dumps([ready.folder.name, self.as_record(), *learning], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def steady(
    variant: str,
    frame_bytes: int,
    link_mbps: int,
    load_percent: float,
    phase: float,
    resolution: float,
    traffic: Traffic = Traffic(),
) -> Task:
    """A steady trial that is long enough for its verdict."""
    rate = frame_rate(frame_bytes, load_percent, link_mbps)
    # An excess of the load by the resolution accumulates more frames than the slack.
    enough = math.ceil(1.5 * SLACK / (resolution / 100) / (SPAN * WINDOW))
    frames = max(FRAMES, enough, math.ceil(rate * SECONDS))
    return Task(
        "steady",
        variant,
        frame_bytes,
        link_mbps,
        load_percent,
        frames,
        phase,
        resolution,
        traffic=traffic,
    )


def whole_window(task: Task) -> Task:
    """A steady trial that does not end early."""
    return replace(task, kind="loss")


# Running ------------------------------------------------------------------------------------------


def run(task: Task, session: Session, sys_clk_hz: int, progress: Callable[[float], None]) -> dict:
    """The record of a trial: the task, moderato-sim's report, and the verdict."""
    slot = sys_clk_hz / frame_rate(task.frame_bytes, task.load_percent, task.link_mbps)
    clocks = round(slot * task.frames)
    offer = {"frame_bytes": task.frame_bytes, "load_percent": task.load_percent, "frames": task.frames}
    if task.then:
        load, frames = task.then
        clocks += round(sys_clk_hz * frames / frame_rate(task.frame_bytes, load, task.link_mbps))
        offer["then"] = {"load_percent": load, "frames": frames}
    begun = time.monotonic()
    if hands_over(task.variant):
        learn(session, sys_clk_hz, task.frame_bytes, task.link_mbps, task.traffic)
    if task.kind == "reset":
        session.call("send", text=TYPE)
        session.call("run", cycles=round(TYPING * sys_clk_hz))
    offered = session.call(
        "offer",
        ports=task.traffic.offers(offer, slot * task.phase),
        link_mbps=task.link_mbps,
        seed=SEED,
        quiet_cycles=quiet(sys_clk_hz),
        max_cycles=clocks + timeout(sys_clk_hz),
    )
    start, end = offered["start_cycle"], offered["start_cycle"] + clocks + 2 * quiet(sys_clk_hz)
    session.progress = lambda done: progress(min(1.0, (done["cycle"] - start) / (end - start)))
    report, why = VERDICTS[task.kind](task, session, offered)
    # After a reset, frames that waited for ARP are sent after later ones.
    ordered = task.traffic.in_order and task.kind != "reset"
    problems = damage(report, ordered) if report["quiet"] else []
    if task.kind == "reset" and not reset_seen(report):
        problems.append("the interfaces were not reset while the load lasted")
    report = {name: value for name, value in report.items() if name not in ENVELOPE}
    return {
        "name": task.name,
        "task": task.as_record(),
        "sys_clk_hz": sys_clk_hz,
        "passed": not why and not problems,
        "why": why or "; ".join(problems),
        "problems": problems,
        "cycles": report["cycle"] - start,
        "report": report,
        "wall_seconds": round(time.monotonic() - begun, 3),
    }


def _steady(task: Task, session: Session, offer: dict) -> tuple[dict, str]:
    """A report, and why the device does not sustain the load; empty if it does."""
    begin, end = offer["window"]["start_cycle"], offer["window"]["end_cycle"]
    cycle = offer["cycle"]
    for part in range(1, PARTS + 1):
        until = begin + (end - begin) * part // PARTS + 1
        session.call("run", cycles=max(0, until - cycle))
        reply = session.call("status")
        cycle = reply["cycle"]
        least = [port["window"]["least_outstanding"] for port in entered(reply)]
        grown = max(port[-1] - port[0] for port in least)
        if grown > HOPELESS and task.kind == "steady":
            return reply, f"{grown} frames more inside, or lost, after {part} parts of the window"
    grown = max(map(growth, least))
    offered = reply["ports"][0]["window"]["offered"]
    allowed = max(SLACK, offered * SPAN * task.resolution / 100 / 2)
    if grown > allowed:
        return reply, f"{grown} frames more inside, or lost, at the end than half a window before"
    return _lossless(session)


def growth(least_outstanding: list[int]) -> int:
    """Growth, in frames, from the second to the last quarter of the window, if each part is above each.

    Work for every 128 frames moves the least outstanding up and down, so a single low or high part means
    nothing. The first quarter does not count, because a permanent queue may still be filling.
    """
    quarter = len(least_outstanding) // 4
    return min(least_outstanding[-quarter:]) - max(least_outstanding[quarter : 2 * quarter])


def _lossless(session: Session) -> tuple[dict, str]:
    reply = session.call("collect")
    lost = sum(port["lost"] for port in entered(reply))
    return reply, f"{lost} frames lost" if lost else ""


def reset_seen(report: dict) -> bool:
    """Whether, at each port with traffic, frames were lost and later ones forwarded before the load's
    end."""
    return all(
        port["lost"]
        and port["longest_pause"]
        and port["longest_pause"]["end_cycle"] < report["offered_cycle"]
        for port in entered(report)
    )


def _whole(task: Task, session: Session, offer: dict) -> tuple[dict, str]:
    return _lossless(session)


VERDICTS = {"steady": _steady, "loss": _steady, "burst": _whole, "recovery": _whole, "reset": _whole}
