# SPDX-License-Identifier: BSD-2-Clause
"""`moderato wave`: a waveform of some cycles of a trial, with what the guest does meanwhile.

The trial runs twice. In the fast simulator it shows what happens in which cycle; in the one that has all
signals, the wave is written. Both go through the same cycles, which is checked in each run.
"""

import functools
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..captures import pcap
from ..explain import symbols, timeline
from ..measure import estimate, forward, trial
from ..measure.results import Result, Trial
from ..measure.traffic import Traffic, reporter
from ..run import runner, state
from ..run.machine import machine, traced
from ..run.session import Refused, Session
from ..run.system import System
from ..show import outputs
from ..show.errors import LabError, UsageError
from . import moments, signals, viewers

PICOSECONDS = 1_000_000_000_000
OF_THE_PROCESS = ("wall_seconds", "cpu_seconds", "slept_cycles")  # among the fields of a reply
LAST = slice(17, 25)  # octets of an FST file: the time of the last change; 0 in one that is not whole
FIRST_PASS, SECOND_PASS = "what happens", "the wave"


@dataclass(frozen=True)
class Request:
    """A trial, the cycles of it that are shown, and where the wave goes."""

    variant: str
    frame_bytes: int  # with the FCS
    load_percent: float  # of the line rate, into each port
    frames: int  # into each port
    output: Path
    begin: int | None = None  # a cycle; None: the trigger decides
    cycles: int = 0
    trigger: str = ""
    number: int = 1  # the trigger comes for that time
    before: int = 0  # cycles shown
    after: int = 0
    scopes: Sequence[str] = ()
    globs: Sequence[str] = ()
    link_mbps: int = 100
    system: System = System()
    traffic: Traffic = Traffic()
    patient: bool = False  # also if it takes hours


@dataclass(frozen=True)
class Window:
    first: int  # cycles, both included
    last: int
    marker: int


def wave(wanted: Request) -> int:
    """Run the trial twice and write the wave; returns the exit status."""
    one = Trial(
        wanted.variant,
        wanted.frame_bytes,
        wanted.load_percent,
        wanted.frames,
        wanted.link_mbps,
        traffic=wanted.traffic,
    )
    estimate.announce([one.seconds] * 2, wanted.patient, wanted.system, "give fewer --frames")
    fast = machine(wanted.link_mbps, wanted.system)
    ready = state.prepare(fast, [wanted.variant])[wanted.variant]
    slow = traced(fast)
    chosen = signals.choose(signals.of_simulator(slow.simulator), wanted.scopes, wanted.globs)
    begun = state.prepare(slow, [wanted.variant])[wanted.variant]

    first = functools.partial(look, one, ready, symbols.of_guest(ready))
    ((happened, reply, result),) = runner.run_all([(FIRST_PASS, first)], "passes")
    shown, texts = window(wanted, happened), moments.texts(happened)
    files = [wanted.output.with_suffix(suffix) for suffix in (".gtkw", ".sucl")]
    with outputs.replacing(wanted.output) as file:
        second = functools.partial(show, one, begun, shown, chosen, moments.lines(texts), file)
        try:
            (again,) = runner.run_all([(SECOND_PASS, second)], "passes")
        except KeyboardInterrupt as stop:
            if not whole(file):
                raise
            again = stop
        except Refused as refused:
            raise LabError(str(refused).replace(str(file), str(wanted.output))) from refused
    view = viewers.View(
        wanted.output,
        moments.bits(texts),
        chosen,
        *(cycle * PICOSECONDS // fast.sys_clk_hz for cycle in (shown.first, shown.last, shown.marker)),
    )
    for path, text in zip(files, (viewers.gtkwave(view), viewers.surfer(view))):
        outputs.write_text(path, text)
    outputs.name(wanted.output, *files)
    if isinstance(again, KeyboardInterrupt):
        raise again
    require_same(reply, again)
    print(
        f"Cycles {shown.first} to {shown.last} of {one.name}, {len(chosen)} signals, "
        f"{wanted.output.stat().st_size / 1e6:.1f} MB; the marker is in cycle {shown.marker}.\n"
        f"Open it: gtkwave {files[0]}\n"
        f"     or: surfer --command-file {files[1]} {wanted.output}"
    )
    return forward.report_problems([result])


def window(wanted: Request, happened: moments.Happened) -> Window:
    """The cycles to show, as far as the trial goes."""
    whole = f"this trial is from cycle {happened.first} to {happened.last}"
    if wanted.begin is None:
        marker = moments.find(happened, wanted.trigger, wanted.number)
        first = max(happened.first, marker - wanted.before)
        return Window(first, min(happened.last, marker + wanted.after), marker)
    if not happened.first <= wanted.begin <= happened.last:
        raise UsageError(f"--from {wanted.begin}: {whole}")
    last = min(happened.last, wanted.begin + wanted.cycles - 1)
    return Window(wanted.begin, last, wanted.begin)


def look(
    one: Trial,
    ready: state.State,
    functions: list[symbols.Symbol],
    progress: Callable[[float], None],
) -> tuple[moments.Happened, dict, Result]:
    """The trial with everything that the lab knows of each cycle."""
    hertz = ready.machine.sys_clk_hz
    report = reporter(progress, hertz, one.seconds)
    with ready.open(progress=report) as session, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        symbols.write(functions, folder / "symbols")
        before = trial.begin(one, ready, session)
        first = session.call("run", cycles=0)["cycle"] + 1
        session.call("profile", symbols=str(folder / "symbols"), timeline=str(folder / "timeline"))
        reply = offer(one, session, ready, pcap=name)
        session.call("profile", stop=str(folder / "stacks"))
        result = trial.conclude(one, ready, session, reply, 0, before)
        return happened(folder, first, reply["end_cycle"], hertz, one.link_mbps), reply, result


def offer(one: Trial, session: Session, ready: state.State, **more) -> dict:
    """Offers the frames; the reply, and all counters since reset."""
    of = ready.machine
    reply = session.call("trial", **trial.request(one, of.sys_clk_hz, of.system.ethtool), **more)
    counters = session.call("counters")
    return {name: value for name, value in (counters | reply).items() if name not in OF_THE_PROCESS} | {
        "all": {name: counters[name] for name in ("idle_cycles", "claims", "ports")}
    }


def happened(folder: Path, first: int, last: int, hertz: int, mbps: int) -> moments.Happened:
    """What a profile's timelines and a trial's captures in a folder say."""
    rows = [
        [line.split(maxsplit=2) for line in file.read_text().splitlines()]
        for file in sorted(folder.glob("timeline*"))
    ]
    events = [row[2].split() for row in rows[0] if row[1] == "!"]
    cycles = [int(row[0]) for row in rows[0] if row[1] == "!"]
    octet = 8000 // mbps  # ns

    def in_cycles(frame: timeline.Frame) -> timeline.Frame:
        begin, end = (-(-time * hertz // 1_000_000_000) for time in (frame.begin, frame.end))
        return timeline.Frame(begin, end, frame.octets, frame.name)

    return moments.Happened(
        first,
        last,
        [(cycle, int(port), name) for cycle, (port, name) in zip(cycles, events)],
        [
            [(int(row[0]), row[2] if row[1] == ">" else "") for row in hart if row[1] != "!"]
            for hart in rows
        ],
        {
            file.stem: [
                in_cycles(timeline.frame(begin, octets, octet)) for begin, octets in pcap.read(file)
            ]
            for file in sorted(folder.glob("*.pcap"))
        },
    )


def show(
    one: Trial,
    ready: state.State,
    shown: Window,
    chosen: Sequence[signals.Signal],
    texts: str,
    file: Path,
    progress: Callable[[float], None],
) -> dict:
    """The trial again, with the wave; its reply."""
    report = reporter(progress, ready.machine.sys_clk_hz, one.seconds)
    with ready.open(progress=report) as session, tempfile.TemporaryDirectory() as name:
        session.finishes = True
        (Path(name) / "texts").write_text(texts)
        trial.begin(one, ready, session)
        session.call(
            "wave",
            file=str(file),
            texts=str(Path(name) / "texts"),
            signals=[signal.path for signal in chosen],
            until=shown.last,
            **{"from": shown.first},
        )
        reply = offer(one, session, ready)
        session.call("wave", stop=True)
        return reply


def require_same(one: dict, other: dict):
    """Raises LabError if two replies to the same trial differ."""
    if one != other:
        names = sorted(name for name in one if one[name] != other.get(name))
        raise LabError(
            f"the run with the wave is not the run without it: {', '.join(names)} differ; report this"
        )


def whole(file: Path) -> bool:
    """Whether the file has some cycles, and all that a viewer needs."""
    return any(file.read_bytes()[LAST])
