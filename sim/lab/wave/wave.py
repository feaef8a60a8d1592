# SPDX-License-Identifier: BSD-2-Clause
"""`moderato wave`: writes a waveform of some cycles, with the guest's work in them.

A trial or a command runs twice: in the fast simulator to find the events' cycles, then in the traced one
to write the wave. Both simulate the same cycles, which is checked.
"""

import functools
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..captures import pcap
from ..explain import symbols, timeline
from ..measure import estimate
from ..measure.results import Trial
from ..measure.traffic import Traffic, reporter
from ..run import runner, state
from ..run.machine import machine, traced
from ..run.session import Refused, Session
from ..run.system import System
from ..show import outputs
from ..show.errors import LabError, UsageError
from . import moments, signals, viewers
from .runs import Executing, Forwarding

PICOSECONDS = 1_000_000_000_000
OF_THE_PROCESS = ("wall_seconds", "cpu_seconds", "slept_cycles")  # fields of a reply
LAST = slice(17, 25)  # octets of an FST file with the time of the last change; 0 in an incomplete file
FIRST_PASS, SECOND_PASS = "what happens", "the wave"


@dataclass(frozen=True)
class Request:
    """A trial or a command, the cycles to show, and the file of the wave."""

    variant: str
    frame_bytes: int  # with the FCS
    load_percent: float  # of the line rate, into each port
    frames: int  # into each port
    output: Path
    command: str | None = None  # for the guest's shell, instead of a trial
    begin: int | None = None  # a cycle; None: the trigger decides
    cycles: int = 0
    trigger: str = ""
    number: int = 1  # which event of the trigger, from 1
    before: int = 0  # cycles shown before the trigger
    after: int = 0
    scopes: Sequence[str] = ()
    globs: Sequence[str] = ()
    link_mbps: int = 100
    system: System = System()
    traffic: Traffic = Traffic()
    patient: bool = False  # accept runs that take hours


@dataclass(frozen=True)
class Window:
    first: int  # first and last cycle
    last: int
    marker: int


Run = Forwarding | Executing


def wave(wanted: Request) -> int:
    """Run it twice and write the wave; returns the exit status."""
    one = what_runs(wanted)
    if isinstance(one, Forwarding):
        estimate.announce([one.seconds] * 2, wanted.patient, wanted.system, "give fewer --frames")
    fast = machine(wanted.link_mbps, wanted.system)
    ready = one.ready(fast)
    slow = traced(fast)
    chosen = signals.choose(signals.of_simulator(slow.simulator), wanted.scopes, wanted.globs)
    begun = one.ready(slow)

    first = functools.partial(look, one, ready, symbols.of_guest(ready))
    ((happened, reply, status),) = runner.run_all([(FIRST_PASS, first)], "passes")
    shown, texts = window(wanted, happened), moments.texts(happened)
    files = [wanted.output.with_suffix(suffix) for suffix in (".gtkw", ".sucl")]
    with outputs.replacing(wanted.output) as file:
        second = functools.partial(show, one, begun, shown, chosen, moments.lines(texts), file)
        try:
            (again,) = runner.run_all([(SECOND_PASS, second)], "passes")
            require_same(reply, again)
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
    print(
        f"Cycles {shown.first} to {shown.last} of {one.name}, {len(chosen)} signals, "
        f"{wanted.output.stat().st_size / 1e6:.1f} MB; the marker is in cycle {shown.marker}.\n"
        f"Open it: gtkwave {files[0]}\n"
        f"     or: surfer --command-file {files[1]} {wanted.output}"
    )
    return status


def what_runs(wanted: Request) -> Run:
    if wanted.command is not None:
        return Executing(wanted.command, wanted.variant)
    return Forwarding(
        Trial(
            wanted.variant,
            wanted.frame_bytes,
            wanted.load_percent,
            wanted.frames,
            wanted.link_mbps,
            traffic=wanted.traffic,
        )
    )


def window(wanted: Request, happened: moments.Happened) -> Window:
    """The cycles to show, limited to the run."""
    whole = f"this run is from cycle {happened.first} to {happened.last}"
    if wanted.begin is None:
        marker = moments.find(happened, wanted.trigger, wanted.number)
        first = max(happened.first, marker - wanted.before)
        return Window(first, min(happened.last, marker + wanted.after), marker)
    if not happened.first <= wanted.begin <= happened.last:
        raise UsageError(f"--from {wanted.begin}: {whole}")
    last = min(happened.last, wanted.begin + wanted.cycles - 1)
    return Window(wanted.begin, last, wanted.begin)


def look(
    one: Run,
    ready: state.State,
    functions: list[symbols.Symbol],
    progress: Callable[[float], None],
) -> tuple[moments.Happened, dict, int]:
    """All events that the lab knows with their cycles; the report, and the exit status."""
    hertz = ready.machine.sys_clk_hz
    report = reporter(progress, hertz, one.seconds)
    with ready.open(progress=report) as session, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        symbols.write(functions, folder / "symbols")
        before = one.begin(ready, session)
        first = session.call("run", cycles=0)["cycle"] + 1
        session.call("profile", symbols=str(folder / "symbols"), timeline=str(folder / "timeline"))
        reply = one.run(ready, session, captures=name)
        counted = with_counters(reply, session)
        session.call("profile", stop=str(folder / "stacks"))
        status = one.end(ready, session, reply, before)
        return happened(folder, first, reply["end_cycle"], hertz, one.link_mbps), counted, status


def with_counters(reply: dict, session: Session) -> dict:
    """A report without values that depend on the process, with all counters since reset."""
    return {
        part: {name: value for name, value in of.items() if name not in OF_THE_PROCESS}
        for part, of in (("report", reply), ("counters", session.call("counters")))
    }


def happened(folder: Path, first: int, last: int, hertz: int, mbps: int) -> moments.Happened:
    """The events in a folder with a profile's timelines and a trial's captures."""
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
    one: Run,
    ready: state.State,
    shown: Window,
    chosen: Sequence[signals.Signal],
    texts: str,
    file: Path,
    progress: Callable[[float], None],
) -> dict:
    """Repeat the run and write the wave; returns its report."""
    report = reporter(progress, ready.machine.sys_clk_hz, one.seconds)
    with ready.open(progress=report) as session, tempfile.TemporaryDirectory() as name:
        session.finishes = True
        (Path(name) / "texts").write_text(texts)
        one.begin(ready, session)
        session.call(
            "wave",
            file=str(file),
            texts=str(Path(name) / "texts"),
            signals=[signal.path for signal in chosen],
            until=shown.last,
            **{"from": shown.first},
        )
        reply = with_counters(one.run(ready, session), session)
        session.call("wave", stop=True)
        return reply


def require_same(one: dict, other: dict):
    """Raises LabError if two reports of the same run differ."""
    names = [name for part, of in one.items() for name in of if of[name] != other[part].get(name)]
    if names:
        raise LabError(
            f"the run with the wave is not the run without it: {', '.join(names)} differ; report this"
        )


def whole(file: Path) -> bool:
    """Whether the file is complete, with some cycles."""
    return any(file.read_bytes()[LAST])
