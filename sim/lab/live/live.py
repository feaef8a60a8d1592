# SPDX-License-Identifier: BSD-2-Clause
"""`moderato live`: hosts at the ports of one or two boxes, until the console or a command ends; and
replays of such sessions."""

import contextlib
import dataclasses
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux.kernel import KERNELS, TICKS, Choice
from moderato.toolchain.project import DIRTY

from ..explain import stacks, symbols
from ..run import state
from ..run.console import package
from ..run.machine import Machine, machine
from ..run.session import Session
from ..run.system import HARTS, MAX_CLOCK, MEMORIES, MIN_CLOCK, SPREADS, System
from ..run.variants import KNOWN, LITEETH, NICS
from ..show import outputs
from ..show.errors import LabError
from ..show.guest_output import GuestOutput
from . import boxes, consoles, cpu_terms, hosts, recording, window
from .boxes import DELAY_NS, Box

LINK_MBPS = 100
ENDING = 10  # seconds that a session may take to end, unless Ctrl-C comes again
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STDOUT, STDERR = 1, 2
GREETING = """\
moderato: this is the console of a router; its page is http://198.18.0.1/
moderato: `help` says what is there, Ctrl-A x leaves. Ctrl-C goes to the guest.
{}moderato: a host beyond each port runs what you type after one of these, in
moderato: another terminal, such as ping 198.18.0.1:
moderato:   198.18.0.2: {}
moderato:   198.19.0.2: {}
"""


@dataclass(frozen=True)
class Request:
    """command: for a host; None: the guest's console. until: a cycle. pace: simulated seconds per
    second."""

    variant: str | None = None
    command: str | None = None
    system: System = System()
    record: Path | None = None
    capture: Path | None = None
    json: Path | None = None
    until: int | None = None
    pace: float = 1.0
    begin: int | None = None  # the first cycle that counts in `folded`
    folded: Path | None = None
    watch: bool = False  # show the session in a page
    boxes: int = 1
    delay: float = DELAY_NS  # of the wire between two boxes
    typed: tuple[str | None, ...] = (None, None)  # keys for each console at the start


def live(request: Request) -> int:
    """Returns the exit status: the command's, or the console's."""
    # Checked before anything is built.
    with hosts.made() as beside, outputs.read_pipes(request.record, request.capture) as pipes:
        ready = _ready(request.system, request.variant, request.boxes)
        if request.until is not None:
            _require_behind(request.until, ready[0].cycle() + 1, "the session")
        with (
            _watched(request, ready[0], request.record) as watching,
            boxes.joined(ready, request.delay) as made,
        ):
            return _live(
                request,
                [_in_session(request, number, box, beside, watching) for number, box in enumerate(made)],
                beside,
                pipes,
            )


def _in_session(request: Request, number: int, box: Box, beside: hosts.Hosts, watching: dict) -> Box:
    """A box's fields and descriptors in a session, except for its wire."""
    taps: list[int | None] = [*beside.taps]
    if request.boxes > 1:
        taps[1 - number] = None
    fields = {
        "hosts": taps,
        "pace": request.pace,
        "link_mbps": LINK_MBPS,
        "about": about(request, box.ready, number),
        **_files(request, number),
        **watching,
    }
    if request.until is not None:
        fields["until"] = request.until
    if (typed := request.typed[number]) is not None:
        fields["keys"] = typed + "\n"
    return box.with_fields([*(tap for tap in taps if tap is not None), *_window(watching)], **fields)


def _live(request: Request, made: Sequence[Box], beside: hosts.Hosts, pipes: Sequence[int]) -> int:
    if request.command is None:
        entries = [beside.entry(port, os.getpid()) for port in range(2)]
        if len(made) == 1:
            return console(made[0].with_fields(pipes), beside, GREETING.format("", *entries))
        return consoles.relay(made, GREETING.format(consoles.GREETING, *entries))
    # If standard output takes the result, it takes nothing else (cli.tables_to_stderr).
    alone = request.json and outputs.descriptor(request.json) == STDOUT
    status, replies, stopped = run(made, beside, request.command, STDERR if alone else None)
    _tell(request, [box.ready for box in made], replies)
    _name(request, replies)
    if stopped:
        raise KeyboardInterrupt
    if status is None:
        why = next(
            (reply["ended"] for reply in replies if "ended" in reply),
            f"cycle {replies[0]['end_cycle']} was reached",
        )
        raise LabError(f"{why} before the command had ended")
    return status


def _ready(system: System, variant: str | None, count: int = 1) -> Sequence[state.State]:
    one = serving(machine(LINK_MBPS, system), variant)
    return [one] if count == 1 else state.boxed(one)


def serving(of: Machine, variant: str | None) -> state.State:
    """Where a session of one box starts."""
    return state.serving(state.at_console(state.ready(of, variant), package(of.system.nic)))


@contextlib.contextmanager
def _watched(request: Request, ready: state.State, recorded: Path | None) -> Iterator[dict]:
    """The fields of the session for its window, if one is wanted."""
    if not request.watch:
        yield {}
        return
    about = {
        "variant": request.variant,
        "terms": cpu_terms.shown(request.system.harts),
        "variants": [] if request.system.nic == LITEETH else list(KNOWN),
        "wave": _wave(recorded),
    }
    # A file without a name is removed however the session ends.
    with os.fdopen(os.memfd_create("symbols"), "w") as names:
        names.write(symbols.text(symbols.of_guest(ready)))
        names.flush()
        with window.opened(about) as descriptor:
            yield {"window": descriptor, "symbols": f"/dev/fd/{names.fileno()}"}


def _wave(recorded: Path | None) -> str | None:
    """The command for a wave of a recording, if that is a file; a cycle follows it."""
    if recorded is None or recorded.is_fifo() or outputs.descriptor(recorded) is not None:
        return None
    return f"./moderato wave --replay {shlex.quote(str(recorded))} --output wave.fst"


def about(request: Request, ready: state.State, number: int = 0) -> dict:
    """A recording's description of its session; replay() reads it."""
    said = {
        "variant": request.variant,
        "system": dataclasses.asdict(request.system),
        "conditions": ready.conditions,
    }
    return said if request.boxes == 1 else said | {"box": number, "delay_ns": request.delay}


def _files(request: Request, number: int) -> dict:
    return {
        name: str(outputs.numbered(path, number))
        for name in ("record", "capture")
        if (path := getattr(request, name)) is not None
    }


def console(box: Box, beside: hosts.Hosts, greeting: str):
    """Hand the terminal to the guest: this process becomes the simulator, and keeps the hosts."""
    box.ready.open().end()  # replaces an unusable checkpoint
    for descriptor in (*beside.descriptors, *box.keep):
        os.set_inheritable(descriptor, True)
    print(greeting, end="", file=sys.stderr, flush=True)
    words = consoles.words(box)
    os.execv(words[0], words)


def _window(fields: dict) -> list[int]:
    """The page's descriptors that the simulator needs."""
    if "window" not in fields:
        return []
    return [fields["window"], int(Path(fields["symbols"]).name)]


def run(
    made: Sequence[Box],
    beside: hosts.Hosts,
    command: str,
    stdout: int | None = None,
) -> tuple[int | None, list[dict], bool]:
    """The status of a command on the host at port 0, moderato-sim's report for each box, and whether
    Ctrl-C ended it.

    stdout: as for Hosts.start(). The status is None if the session ended first, or after Ctrl-C, which
    kills the command.
    """
    asked = {each: signal.getsignal(each) for each in STOPS}
    read, write = os.pipe()  # closed when the command has ended, or when this process has
    made = [box.with_fields([read], until_closed=read) for box in made]
    stopped = False
    with boxes.opened(made) as sessions, _closing(write) as ends:
        os.close(read)
        with (
            contextlib.redirect_stdout(sys.stderr),
            GuestOutput(made[0].ready.machine.sys_clk_hz) as output,
        ):
            output.live = False  # the command has the terminal
            running, process, status = boxes.Running(made, sessions, output), None, None
            try:
                process = beside.start(command, stdout)
                running.when_ended(process.kill)
                status = process.wait()
            except KeyboardInterrupt:
                stopped = True  # the session ends as it does after its command: all output is complete
            finally:
                ended = running.ended()
                if process:
                    process.kill()
                    process.wait()
                ends()
            if stopped:
                with _heeding(asked):
                    over = running.over(ENDING)
                if not over:
                    raise KeyboardInterrupt
            replies = running.result()
    status = None if ended or stopped else status
    return status if status is None or status >= 0 else 128 - status, replies, stopped


@contextlib.contextmanager
def _heeding(handlers: dict) -> Iterator[None]:
    """Restore these signal handlers in the block: since the first signal, the others were ignored."""
    before = {each: signal.signal(each, handler) for each, handler in handlers.items()}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextlib.contextmanager
def _closing(descriptor: int):
    """Yields a function that closes it, once; the block's end also closes it."""
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, descriptor)
        yield stack.close


# Replay -------------------------------------------------------------------------------------------


def replay(path: Path, request: Request) -> int:
    """Play a recording; 0 if all that left did so in its cycle, and the reports are the same."""
    recorded = read(path)
    if request.watch and len(recorded) > 1:
        raise LabError(
            f"--watch shows one box, and {path} is of two; leave it out: --capture has what "
            "passed, and --folded where the cycles of each went"
        )
    if len(recorded) > 1 and request.folded and outputs.descriptor(request.folded) is not None:
        raise LabError(f"--folded writes a file for each box, and {path} is of two; name a file")
    until = _until(_shortest(recorded), request)
    variant, system = recorded_system(recorded[0])
    delay = _recorded_delay(recorded[0])
    ready = _ready(system, variant, len(recorded))
    for each, there in zip(recorded, ready, strict=True):
        require_same(each, there)
    request = dataclasses.replace(
        request, variant=variant, system=system, boxes=len(recorded), delay=delay
    )
    fields = {"until": until, "link_mbps": LINK_MBPS}
    if request.begin is not None:
        fields["from"] = request.begin
    with contextlib.ExitStack() as stack:
        stack.enter_context(outputs.read_pipes(request.capture))
        watching = stack.enter_context(_watched(request, ready[0], path))
        made = [
            box.with_fields(
                _window(watching), replay=str(each.path), **fields, **watching, **_files(request, number)
            )
            for number, (box, each) in enumerate(
                zip(stack.enter_context(boxes.joined(ready, request.delay)), recorded, strict=True)
            )
        ]
        sessions = stack.enter_context(boxes.opened(made))
        for number, session in enumerate(sessions):
            stack.enter_context(_profiled(session, ready[number], request, number))
        output = stack.enter_context(GuestOutput(ready[0].machine.sys_clk_hz))
        replies = boxes.Running(made, sessions, output).result()
    print(file=sys.stderr)
    _tell(request, ready, replies)
    _name(request, replies, request.folded)
    for number, reply in enumerate(replies):
        if reply["difference"]:
            raise LabError(
                f"the replay differs from its recording: {_of(number, replies)}{reply['difference']}"
            )
    whole = all(each.report and until == each.end for each in recorded)
    print(
        "moderato: the same as the recording, to the cycle, "
        + ("to its end" if whole else "as far as it went"),
        file=sys.stderr,
    )
    return 0


def read(path: Path) -> list[recording.Recording]:
    """Of one box, or of both."""
    recorded = [recording.read(path)]
    if "box" not in recorded[0].about:
        return recorded
    for number in range(2):
        recorded[number:] = [recording.read(outputs.numbered(path, number))]
        if (said := recorded[number].about.get("box")) != number:
            raise LabError(
                f"{recorded[number].path} is not of box {number}, but of "
                f"{'one alone' if said is None else f'box {said}'}; name the file of box "
                "0; that of box 1 has .1 after its name, in the same folder"
            )
    return recorded


def _shortest(recorded: Sequence[recording.Recording]) -> recording.Recording:
    """The recording that ends first. If it is incomplete, no recording is complete."""
    return min(recorded, key=lambda each: (each.end, each.report is not None))


@contextlib.contextmanager
def _profiled(session: Session, ready: state.State, request: Request, number: int) -> Iterator[None]:
    """Write the profile of the block, if it is wanted."""
    if request.folded is None:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        names, written = Path(folder) / "symbols", Path(folder) / "stacks"
        symbols.write(symbols.of_guest(ready), names)
        session.call("profile", symbols=str(names), window=request.begin is not None)
        yield
        session.call("profile", stop=str(written))
        outputs.write_text(
            outputs.numbered(request.folded, number),
            stacks.folded(request.variant or "default", stacks.read(written)),
        )


def _until(recorded: recording.Recording, request: Request) -> int:
    """The cycle at which a replay ends."""
    until = request.until
    if until is None and recorded.report is None:
        raise LabError(
            f"{recorded.path} was cut short after {recorded.inputs} inputs, at cycle "
            f"{recorded.end}; --until {recorded.end} plays what is there"
        )
    if until is not None and until > recorded.end:
        raise LabError(f"{recorded.path} ends at cycle {recorded.end}; give --until up to that")
    if until is not None:
        _require_behind(until, min(recorded.start, recorded.end), str(recorded.path))
    end = recorded.end if until is None else until
    if request.begin is not None and request.begin >= end:
        raise LabError(f"--from {request.begin} is after the end, cycle {end}; give one before it")
    return end


def _require_behind(until: int, start: int, what: str):
    """Reject an end before the first cycle."""
    if until < start:
        raise LabError(
            f"--until {until} lies before the beginning: {what} begins at cycle {start}; "
            "give a later one"
        )


def recorded_system(recorded: recording.Recording) -> tuple[str | None, System]:
    """Variant and system, if this commit has such ones: before anything is built from them."""
    try:
        variant, fields = recorded.about["variant"], dict(recorded.about["system"])
        fields["kernel"] = Choice(**fields["kernel"])
        fields["ethtool"] = tuple(fields["ethtool"])
        system = System(**fields)
    except (KeyError, TypeError, ValueError):
        raise _other(recorded, "describes it in another way") from None
    for what, said, known in (
        ("NIC", system.nic, NICS),
        ("variant", variant, [None] if system.nic == LITEETH else [None, *KNOWN]),
        ("kernel", system.kernel.name, KERNELS),
        ("Hz of the tick like", system.kernel.hz, TICKS),
        ("number of harts", system.harts, HARTS),
        ("spread", system.spread, SPREADS),
        ("memory", system.memory, MEMORIES),
        ("MHz of the clock like", system.clock_mhz, range(MIN_CLOCK, MAX_CLOCK + 1)),
        *(("setting", each, [str(each)]) for each in system.ethtool),
    ):
        if not any(type(said) is type(each) and said == each for each in known):  # 1.0 is not 1
            raise _other(recorded, f"has no {what} {said!r}")
    return variant, system


def _recorded_delay(recorded: recording.Recording) -> float:
    """In ns, at most a second: moderato-sim checks the wire's limit."""
    delay = recorded.about.get("delay_ns", DELAY_NS)
    if not isinstance(delay, int | float) or not 0 <= delay <= 1e9:
        raise _other(recorded, f"has no wire of {delay!r} ns")
    return delay


def require_same(recorded: recording.Recording, ready: state.State):
    here, there = ready.conditions, recorded.about.get("conditions", {})
    for what in ("machine", "checkpoint"):
        if here[what] != there.get(what):
            raise _other(recorded, f"is {what} {here[what]}, not {there.get(what)}")


def _other(recorded: recording.Recording, why: str) -> LabError:
    version = recorded.about.get("conditions", {}).get("version", "another commit")
    mend = "check that commit out and play it there"
    if str(version).endswith(DIRTY):
        mend = "files of that commit were changed, so play it where it was recorded, or record it again"
    return LabError(
        f"{recorded.path} was recorded by {version}, on another machine (this one {why}); {mend}"
    )


# Report -------------------------------------------------------------------------------------------


def _tell(request: Request, ready: Sequence[state.State], replies: Sequence[dict]):
    for number, reply in enumerate(replies):
        seconds = (reply["end_cycle"] - reply["start_cycle"]) / ready[0].machine.sys_clk_hz
        ports = "; ".join(
            f"port {port}: {passed['in']['frames']} frames in, {passed['out']['frames']} out, "
            f"{passed['dropped']} dropped"
            for port, passed in enumerate(reply["ports"])
        )
        print(f"moderato: {_of(number, replies)}{seconds:.3f} s simulated; {ports}", file=sys.stderr)
    if request.json:
        outputs.write_json(request.json, report(request, ready, replies))


def _of(number: int, of: Sequence) -> str:
    """The prefix of a message about one of several boxes."""
    return f"box {number}: " if len(of) > 1 else ""


def _name(request: Request, replies: Sequence[dict], *more: Path | None):
    """Name the files that were written. more: files of each box."""
    written = [
        outputs.numbered(getattr(request, name), number)
        for number, reply in enumerate(replies)
        for name in reply["written"]
    ]
    outputs.name(
        *written,
        *(outputs.numbered(path, number) for path in more if path for number in range(request.boxes)),
        request.json,
    )


REPORT = ("start_cycle", "end_cycle", "keys", "ports", "idle_cycles", "claims")


def report(request: Request, ready: Sequence[state.State], replies: Sequence[dict]) -> dict:
    """The content of `--json`. A session and its replay differ only in `simulation`."""
    each = [
        {name: reply[name] for name in REPORT} | {"conditions": there.conditions}
        for there, reply in zip(ready, replies, strict=True)
    ]
    found = each[0] if len(each) == 1 else {"delay_ns": request.delay, "boxes": each}
    wall = max(reply["wall_seconds"] for reply in replies)
    cycles = replies[0]["end_cycle"] - replies[0]["start_cycle"]
    return {
        "variant": request.variant,
        **found,
        "simulation": {"wall_seconds": wall, "cycles_per_second": round(cycles / wall)},
    }
