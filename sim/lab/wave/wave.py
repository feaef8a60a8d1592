# SPDX-License-Identifier: BSD-2-Clause
"""`moderato wave`: writes a waveform of some cycles, with the guest's work in them.

A run (runs.py) happens twice. In the fast simulator it shows what happens in which cycle; in the one
that has all signals, the wave is written. A trigger that only signals show takes another pass there,
before. All passes go through the same cycles, which is checked.
"""

import contextlib
import functools
import itertools
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..explain import symbols, timeline
from ..live.recording import is_recording
from ..measure import replay
from ..measure.results import Trial
from ..measure.traffic import Traffic, reporter
from ..run import runner, state
from ..run.machine import machine, traced
from ..run.session import Refused, Session
from ..run.system import System
from ..show import outputs
from ..show.errors import LabError, UsageError
from . import accesses, moments, signals, viewers, wires
from .runs import Executing, Forwarding, Replaying, Run, playing
from .triggers import KINDS, Trigger

PICOSECONDS = 1_000_000_000_000
OF_THE_PROCESS = ("wall_seconds", "cpu_seconds", "slept_cycles")  # among the fields of a reply
LAST = slice(17, 25)  # octets of an FST file: the time of the last change; 0 in one that is not whole
CHECKED = "(cocotb-tests/formal/"  # in the error of a violated check: harness/checks.py
CHOICE = ("--at", "--nth", "--every", "--before", "--after", "--from", "--cycles")  # of the cycles
EARLIER = 1000  # cycles before a violation
FIRST_PASS, SEARCH, LAST_PASS = "what happens", "the trigger's signals", "the wave"


@dataclass(frozen=True)
class Request:
    """A trial, a command or a replay, the cycles of it that are shown, and where the wave goes."""

    variant: str | None  # None: as a recording has it
    frame_bytes: int  # with the FCS
    load_percent: float  # of the line rate, into each port
    frames: int  # into each port
    output: Path
    command: str | None = None  # of the guest's shell, in place of a trial
    replay: Sequence[Path] = ()  # captures, by port, or a recording
    rewritten: bool = False  # as for `moderato replay`
    begin: int | None = None  # a cycle; None: the trigger decides
    cycles: int = 0
    trigger: Trigger = Trigger("")
    number: int = 1  # the trigger comes for that time
    every: int = 1  # that many times, from then on
    before: int = 0  # cycles shown
    after: int = 0
    scopes: Sequence[str] = ()
    globs: Sequence[str] = ()
    link_mbps: int = 100
    system: System = System()
    traffic: Traffic = Traffic()
    patient: bool = False  # accept runs that take hours
    typed: Sequence[str] = ()  # words of the command line


class Violated(LabError):
    """A property of the MACs does not hold in this cycle."""

    def __init__(self, cycle: int, message: str):
        super().__init__(message)
        self.cycle = cycle


@dataclass(frozen=True)
class Window:
    first: int  # first and last cycle
    last: int
    marker: int


def wave(wanted: Request) -> int:
    """Run it twice and write the wave; returns the exit status."""
    one, system = what_runs(wanted)
    one.announce(wanted.patient, system)
    fast = machine(one.link_mbps, system)
    ready = one.ready(fast)
    one.accept(ready)
    slow = traced(fast)
    known = signals.of_simulator(slow.simulator)
    chosen = signals.choose(known, wanted.scopes, wanted.globs)
    searched = wanted.begin is None and KINDS[wanted.trigger.kind].shown
    watched = accesses.watched(wanted.trigger, known) if searched else []
    begun = one.ready(slow)

    looking = functools.partial(look, one, ready, symbols.of_guest(ready))
    ((happened, reply, status),) = runner.run_all([(FIRST_PASS, looking)], "passes")
    found = [*happened.moments()]
    if watched:
        with explained(wanted, happened.first):
            found += search(wanted.trigger, one, begun, happened, watched, reply)
    shown, texts = windows(wanted, happened, found), moments.texts(happened)
    if len(shown) > 1:
        texts["window"] = [*numbers(shown)]
    broken = None  # the cycle of a violation
    files = [wanted.output.with_suffix(suffix) for suffix in (".gtkw", ".sucl")]
    with outputs.replacing(wanted.output) as file:
        showing = functools.partial(show, one, begun, shown, chosen, moments.lines(texts), file)
        try:
            with explained(wanted, happened.first):
                (again,) = runner.run_all([(LAST_PASS, showing)], "passes")
            require_same(reply, again)
        except KeyboardInterrupt as stop:
            if not whole(file):
                raise
            again = stop
        except Violated as violated:
            if not whole(file):
                raise
            again, broken = violated, violated.cycle
        except Refused as refused:
            raise LabError(str(refused).replace(str(file), str(wanted.output))) from refused
    marked = [each.marker for each in shown if broken is None or each.marker < broken]
    if broken is not None and broken <= shown[-1].last:
        marked = [broken, *marked]
    first, last, *markers = (
        cycle * PICOSECONDS // fast.sys_clk_hz for cycle in (shown[0].first, shown[-1].last, *marked)
    )
    view = viewers.View(wanted.output, moments.bits(texts), chosen, first, last, markers)
    for path, text in zip(files, (viewers.gtkwave(view), viewers.surfer(view))):
        outputs.write_text(path, text)
    outputs.name(wanted.output, *files)
    if isinstance(again, BaseException):
        raise again
    some = f"{len(shown)} windows of cycles" if len(shown) > 1 else "Cycles"
    marker = "the marker is" if len(shown) == 1 else "the first marker is"
    print(
        f"{some} {shown[0].first} to {shown[-1].last} of {one.name}, {len(chosen)} signals, "
        f"{wanted.output.stat().st_size / 1e6:.1f} MB; {marker} in cycle {shown[0].marker}.\n"
        f"Open it: gtkwave {files[0]}\n"
        f"     or: surfer --command-file {files[1]} {wanted.output}"
    )
    return status


@contextlib.contextmanager
def explained(wanted: Request, first: int) -> Iterator[None]:
    """Raises Violated for a check that ends a run. first: the run's first cycle."""
    try:
        yield
    except Refused as refused:
        if CHECKED not in str(refused):
            raise
        cycle = refused.reply["cycle"] - 1  # clocked in the next one
        begin = max(first, cycle - EARLIER)
        chosen = ["--from", str(begin), "--cycles", str(cycle - begin + 1)]
        command = shlex.join(["./moderato", "wave", *without_choice(wanted.typed), *chosen])
        raise Violated(cycle, f"cycle {cycle}: {refused}; to see it: {command}") from refused


def without_choice(words: Sequence[str]) -> Iterator[str]:
    """The words of a command line, without those that choose the cycles."""
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name not in CHOICE:
            yield word
        elif not equals:
            next(rest)


def what_runs(wanted: Request) -> tuple[Run, System]:
    """And on which system."""
    if any(map(is_recording, wanted.replay)):
        return playing(wanted.replay[0], wanted.begin, wanted.cycles)
    assert wanted.variant is not None
    if wanted.replay:
        entered = replay.read([*wanted.replay, None][:2], wanted.rewritten)
        return Replaying(wanted.replay, wanted.variant, entered), wanted.system
    if wanted.command is not None:
        return Executing(wanted.command, wanted.variant), wanted.system
    one = Trial(
        wanted.variant,
        wanted.frame_bytes,
        wanted.load_percent,
        wanted.frames,
        wanted.link_mbps,
        traffic=wanted.traffic,
    )
    return Forwarding(one), wanted.system


def search(
    trigger: Trigger,
    one: Run,
    begun: state.State,
    happened: moments.Happened,
    watched: Sequence[signals.Signal],
    reply: dict,
) -> list[moments.Moment]:
    """The moments of a trigger that only these signals show, from the whole run."""
    every = Window(happened.first, happened.last, happened.first)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "search.fst"
        job = functools.partial(show, one, begun, [every], watched, "", file)
        (again,) = runner.run_all([(SEARCH, job)], "passes")
        require_same(reply, again)
        rows = accesses.read(file, watched, begun.machine.sys_clk_hz)
    return [*accesses.moments(trigger, rows)]


def windows(
    wanted: Request, happened: moments.Happened, found: Sequence[moments.Moment]
) -> list[Window]:
    """The cycles to show, as far as the run goes."""
    if wanted.begin is None:
        return [
            Window(
                max(happened.first, marker - wanted.before),
                min(happened.last, marker + wanted.after),
                marker,
            )
            for marker in moments.find(found, wanted.trigger, wanted.number, wanted.every)
        ]
    if not happened.first <= wanted.begin <= happened.last:
        raise UsageError(
            f"--from {wanted.begin}: this run is from cycle {happened.first} to {happened.last}"
        )
    last = min(happened.last, wanted.begin + wanted.cycles - 1)
    return [Window(wanted.begin, last, wanted.begin)]


def numbers(shown: Sequence[Window]) -> Iterator[tuple[int, str]]:
    """The number of the window, from each cycle on in which that changes."""
    begins = [one.first for one in shown[1:]]
    for number, (one, after) in enumerate(itertools.zip_longest(shown, begins), 1):
        yield one.first, str(number)
        if after is None or one.last + 1 < after:
            yield one.last + 1, ""


def gaps(shown: Sequence[Window]) -> list[tuple[int, int]]:
    """Cycles between windows. The one after a window is shown: there its number ends."""
    between = [(one.last + 2, after.first - 1) for one, after in itertools.pairwise(shown)]
    return [(first, last) for first, last in between if first <= last]


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
        status = one.end(ready, session, reply, before, folder)
        captured = one.wires(ready, folder, reply)
        seen = happened(folder, first, reply["end_cycle"], hertz, captured, one)
        return seen, counted, status


def with_counters(reply: dict, session: Session) -> dict:
    """A report without values that depend on the process, with all counters since reset."""
    return {
        part: {name: value for name, value in of.items() if name not in OF_THE_PROCESS}
        for part, of in (("report", reply), ("counters", session.call("counters")))
    }


def happened(
    folder: Path, first: int, last: int, hertz: int, captured: wires.Captured, of: Run
) -> moments.Happened:
    """From a profile's timelines in a folder, and captures."""
    rows = [
        [line.split(maxsplit=2) for line in file.read_text().splitlines()]
        for file in sorted(folder.glob("timeline*"))
    ]
    events = [row[2].split() for row in rows[0] if row[1] == "!"]
    cycles = [int(row[0]) for row in rows[0] if row[1] == "!"]
    named = wires.frames(captured, 8000 // of.link_mbps)

    def in_cycles(frame: timeline.Frame) -> timeline.Frame:
        begin, end = cycle(frame.begin), cycle(frame.end)
        return timeline.Frame(begin, end, frame.octets, frame.name)

    def cycle(nanoseconds: int) -> int:
        return -(-nanoseconds * hertz // 1_000_000_000)

    return moments.Happened(
        first,
        last,
        [(cycle, int(port), name) for cycle, (port, name) in zip(cycles, events)],
        [
            [(int(row[0]), sys.intern(row[2]) if row[1] == ">" else "") for row in hart if row[1] != "!"]
            for hart in rows
        ],
        {wire: [in_cycles(frame) for frame in frames] for wire, frames in named.items()},
        [(cycle(time), port) for time, port in wires.bad(captured, named, of.in_order)],
    )


def show(
    one: Run,
    ready: state.State,
    shown: Sequence[Window],
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
            until=shown[-1].last,
            gaps=gaps(shown),
            **{"from": shown[0].first},
        )
        try:
            reply = with_counters(one.run(ready, session), session)
        except Refused:
            with contextlib.suppress(Refused):  # the wave can be the reason
                session.call("wave", stop=True)
            raise
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
