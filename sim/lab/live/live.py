# SPDX-License-Identifier: BSD-2-Clause
"""`moderato live`: hosts at the ports of the box, until its console or a command ends; and a replay of
such a session."""

import contextlib
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux.kernel import Choice

from ..explain import stacks, symbols
from ..run import state
from ..run.console import package
from ..run.machine import machine
from ..run.session import PROMPT, Session, octets
from ..run.system import System
from ..run.variants import KNOWN, LITEETH
from ..show import outputs
from ..show.errors import LabError
from ..show.guest_output import GuestOutput
from . import hosts, recording, window

LINK_MBPS = 100
GREETING = """\
moderato: this is the console of a router; its page is http://198.18.0.1/
moderato: `help` says what is there, Ctrl-A x leaves. Ctrl-C goes to the guest.
moderato: a host beyond each port runs what you type behind one of these, in
moderato: another terminal, such as ping 198.18.0.1:
moderato:   198.18.0.2: {}
moderato:   198.19.0.2: {}
"""


@dataclass(frozen=True)
class Request:
    """command: for a host; None: the guest's console. until: a cycle. pace: simulated seconds in one."""
    variant: str | None
    command: str | None
    system:  System = System()
    record:  Path | None = None
    capture: Path | None = None
    json:    Path | None = None
    until:   int | None = None
    pace:    float = 1.0
    begin:   int | None = None   # a cycle, from which on `folded` counts
    folded:  Path | None = None
    watch:   bool = False        # a page shows what happens


def live(request: Request) -> int:
    """Returns the exit status: the command's, or the console's."""
    with hosts.made() as beside:  # before anything is built
        ready = _ready(request.system, request.variant)
        with _watched(request) as watching:
            return _live(request, ready, beside, watching)


def _live(request: Request, ready: state.State, beside: hosts.Hosts, watching: dict) -> int:
    fields = {"hosts": list(beside.taps), "pace": request.pace, "link_mbps": LINK_MBPS,
              "about": about(request, ready), **_files(request), **watching}
    if request.until is not None:
        fields["until"] = request.until
    if request.command is None:
        return console(ready, beside, fields)
    status, reply = run(ready, beside, request.command, fields)
    _tell(request, ready, reply)
    outputs.name(request.record, request.capture, request.json)
    if status is None:
        why = reply.get("ended") or f"cycle {reply['end_cycle']} was reached"
        raise LabError(f"{why} before the command had ended")
    return status


def _ready(system: System, variant: str | None) -> state.State:
    ready = state.ready(machine(LINK_MBPS, system), variant)
    return state.serving(state.at_console(ready, package(system.nic)))


@contextlib.contextmanager
def _watched(request: Request) -> Iterator[dict]:
    """The field of the session for its window, if one is wanted."""
    if not request.watch:
        yield {}
        return
    variants = [] if request.system.nic == LITEETH else list(KNOWN)
    with window.opened({"variant": request.variant, "variants": variants}) as descriptor:
        yield {"window": descriptor}


def about(request: Request, ready: state.State) -> dict:
    """What a recording says about itself; replay() reads it."""
    return {"variant": request.variant, "system": dataclasses.asdict(request.system),
            "conditions": ready.conditions}


def _files(request: Request) -> dict:
    return {name: str(path) for name in ("record", "capture")
            if (path := getattr(request, name)) is not None}


def console(ready: state.State, beside: hosts.Hosts, fields: dict):
    """Hand the terminal to the guest: this process becomes the simulator, and has the hosts."""
    ready.open().end()  # mends a checkpoint that can't be used
    for descriptor in (*beside.descriptors, *_window(fields)):
        os.set_inheritable(descriptor, True)
    print(GREETING.format(*(beside.entry(port, os.getpid()) for port in range(2))), end="",
          file=sys.stderr, flush=True)
    simulator = str(ready.machine.simulator)
    os.execv(simulator, [simulator, "--restore", str(ready.checkpoint), "--interactive", "--prompt",
                         PROMPT, "--live", json.dumps(
                             {name: octets(value) for name, value in fields.items()})])


def _window(fields: dict) -> list[int]:
    return [fields["window"]] if "window" in fields else []


def run(ready: state.State, beside: hosts.Hosts, command: str,
        fields: dict) -> tuple[int | None, dict]:
    """The status of a command beyond port 0, and what moderato-sim says of the session.

    The status is None if the session ended first; the command was killed then.
    """
    read, write = os.pipe()  # closed when the command has ended, or when we have
    with ready.open(keep=[*beside.taps, read, *_window(fields)]) as session, \
            ThreadPoolExecutor(1) as thread, _closing(write) as ends:
        os.close(read)
        with contextlib.redirect_stdout(sys.stderr), GuestOutput(ready.machine.sys_clk_hz) as output:
            output.live = False  # the terminal is the command's
            session.progress = lambda told: output.show(_printed(told), told["cycle"])
            process = beside.start(command)
            try:
                replied = thread.submit(session.call, "live", **fields, until_closed=read, stream=True)
                replied.add_done_callback(lambda _: process.kill())
                process.wait()
                ended = replied.done()
            finally:
                process.kill()
                process.wait()
                ends()
            reply = replied.result()
            output.show(_printed(reply), reply["cycle"])
    status = process.returncode
    return None if ended else status if status >= 0 else 128 - status, reply


@contextlib.contextmanager
def _closing(descriptor: int):
    """Gives what closes it, once; at the end it is closed anyhow."""
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, descriptor)
        yield stack.close


def _printed(told: dict) -> str:
    return bytes.fromhex(told.get("printed", "")).decode(errors="surrogateescape").replace("\r\n", "\n")


# Replay -------------------------------------------------------------------------------------------

def replay(path: Path, request: Request) -> int:
    """Play a recording; 0 if all that left did so in its cycle, and the reports are the same."""
    recorded = recording.read(path)
    until = _until(recorded, request)
    variant, system = _recorded_system(recorded)
    ready = _ready(system, variant)
    _require_same(recorded, ready)
    request = dataclasses.replace(request, variant=variant, system=system)
    fields = {"replay": str(path), "until": until, "link_mbps": LINK_MBPS, **_files(request)}
    if request.begin is not None:
        fields["from"] = request.begin
    with _watched(request) as watching, ready.open(keep=_window(watching)) as session, \
            _profiled(session, ready, request), GuestOutput(ready.machine.sys_clk_hz) as output:
        session.progress = lambda told: output.show(_printed(told), told["cycle"])
        reply = session.call("live", stream=True, **fields, **watching)
        output.show(_printed(reply), reply["cycle"])
    print(file=sys.stderr)
    _tell(request, ready, reply)
    outputs.name(request.capture, request.json, request.folded)
    if reply["difference"]:
        raise LabError(f"the replay differs from its recording: {reply['difference']}")
    same = "to its end" if recorded.report and until == recorded.end else "as far as it went"
    print(f"moderato: the same as the recording, to the cycle, {same}", file=sys.stderr)
    return 0


@contextlib.contextmanager
def _profiled(session: Session, ready: state.State, request: Request) -> Iterator[None]:
    """Write where the cycles went, if that is wanted."""
    if request.folded is None:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        names, written = Path(folder) / "symbols", Path(folder) / "stacks"
        symbols.write(symbols.of_guest(ready), names)
        session.call("profile", symbols=str(names), window=request.begin is not None)
        yield
        session.call("profile", stop=str(written))
        outputs.write_text(request.folded,
                           stacks.folded(request.variant or "default", stacks.read(written)))


def _until(recorded: recording.Recording, request: Request) -> int:
    """The cycle at which a replay ends."""
    until = request.until
    if until is None and recorded.report is None:
        raise LabError(f"{recorded.path} was cut short behind {recorded.inputs} inputs, at cycle "
                       f"{recorded.end}; --until {recorded.end} plays what is there")
    if until is not None and until > recorded.end:
        raise LabError(f"{recorded.path} ends at cycle {recorded.end}; give --until up to that")
    end = recorded.end if until is None else until
    if request.begin is not None and request.begin >= end:
        raise LabError(f"--from {request.begin} is behind the end, cycle {end}; give one before it")
    return end


def _recorded_system(recorded: recording.Recording) -> tuple[str | None, System]:
    try:
        fields = dict(recorded.about["system"])
        fields["kernel"] = Choice(**fields["kernel"])
        fields["ethtool"] = tuple(fields["ethtool"])
        return recorded.about["variant"], System(**fields)
    except (KeyError, TypeError):
        raise _other(recorded, "describes it in another way") from None


def _require_same(recorded: recording.Recording, ready: state.State):
    here, there = ready.conditions, recorded.about["conditions"]
    for what in ("machine", "checkpoint"):
        if here[what] != there.get(what):
            raise _other(recorded, f"is {what} {here[what]}, not {there.get(what)}")


def _other(recorded: recording.Recording, why: str) -> LabError:
    version = recorded.about.get("conditions", {}).get("version", "another commit")
    return LabError(f"{recorded.path} was recorded by {version}, on another machine (this one {why}); "
                    "check that commit out and play it there")


# Report -------------------------------------------------------------------------------------------

def _tell(request: Request, ready: state.State, reply: dict):
    seconds = (reply["end_cycle"] - reply["start_cycle"]) / ready.machine.sys_clk_hz
    ports = "; ".join(f"port {number}: {port['in']['frames']} frames in, {port['out']['frames']} out, "
                      f"{port['dropped']} dropped" for number, port in enumerate(reply["ports"]))
    print(f"moderato: {seconds:.3f} s simulated; {ports}", file=sys.stderr)
    if request.json:
        outputs.write_json(request.json, report(request, ready, reply))


REPORT = ("start_cycle", "end_cycle", "keys", "ports", "idle_cycles", "claims")


def report(request: Request, ready: state.State, reply: dict) -> dict:
    """What `--json` has: a session and its replay differ in `simulation` only."""
    wall = reply["wall_seconds"]
    cycles = reply["end_cycle"] - reply["start_cycle"]
    return {"variant": request.variant, **{name: reply[name] for name in REPORT},
            "conditions": ready.conditions,
            "simulation": {"wall_seconds": wall, "cycles_per_second": round(cycles / wall)}}
