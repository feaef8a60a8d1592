# SPDX-License-Identifier: BSD-2-Clause
"""`moderato timeline`: what happens while a burst is forwarded, as a trace for Perfetto.

Shows the wires, the MACs and the guest's functions, in nanoseconds since reset.
"""

import functools
import itertools
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..captures import pcap
from ..measure import estimate, forward, trial
from ..measure.results import Result, Trial
from ..measure.traffic import Traffic
from ..run import runner, state
from ..run.machine import machine
from ..run.system import System
from ..show import outputs
from ..show.columns import sentence
from ..wave import again
from ..wave.triggers import DROP
from . import symbols
from .perfetto_trace import Trace
from .terms import term_of

SHORTEST = 1000  # ns: shorter calls of functions are omitted
TAIL = 100_000  # ns shown after the last frame or event
PREAMBLE, FCS = 8, 4  # octets (IEEE 802.3)
PAYLOAD = 42  # offset of a test frame's payload: signature, port, number
SIGNATURE = b"Mode"
PORTS = (0, 1)
OTHER = "another frame"  # name of frames that are not test frames
# Names of a MAC's events in the trace; all other events are drops.
EVENTS = {
    "rx_interrupt": "Rx interrupt",
    "tx_interrupt": "Tx interrupt",
    "rx_completed": "received: frame in memory",
    "tx_completed": "to be sent: frame in the MAC",
    "rx_drop_ring": "dropped: Rx ring empty",
    "rx_drop_fifo": "dropped: Rx FIFO full",
    "rx_drop_error": "dropped: damaged",
    "rx_drop_filter": "dropped: for another station",
}
DROPS = [name for name in EVENTS if "drop" in name]
# Functions that each frame passes once: off an Rx ring, onto a Tx ring.
TAKEN = "eth_type_trans"
SENT = ("moderato_start_xmit", "liteeth_start_xmit")


@dataclass(frozen=True)
class Event:
    """An event of a MAC, named as in sim/harness/README.md."""

    time: int  # ns
    port: int
    name: str


@dataclass(frozen=True)
class Call:
    """A call of a function from entry to return, without the time in which its task did not run."""

    begin: int  # ns
    end: int  # ns
    stack: tuple[str, ...]  # the function itself is the last one


@dataclass(frozen=True)
class Frame:
    """A frame on a wire, from the preamble to the FCS."""

    begin: int  # ns
    end: int  # ns
    octets: int  # with FCS
    name: str  # for a test frame "port where it entered:number"


@dataclass(frozen=True)
class Burst:
    result: Result
    events: list[Event]
    calls: list[list[Call]]  # for each hart; callers before callees
    wires: dict[str, list[Frame]]  # by "port0-in", "port0-out", ...
    taken: list[int]  # ns: when the driver took a received frame,
    sent: list[int]  # ns: when the driver got a frame to send


@dataclass(frozen=True)
class Request:
    """A burst at the minimum gap into each port at once, and the file of its trace."""

    variant: str
    frame_bytes: int  # with the FCS
    frames: int  # into each port
    link_mbps: int
    output: Path
    system: System = System()
    patient: bool = False  # accept trials that take hours


def timeline(wanted: Request) -> int:
    """Forward the burst and write its trace; returns the exit status."""
    one = Trial(
        wanted.variant,
        wanted.frame_bytes,
        100,
        wanted.frames,
        wanted.link_mbps,
        traffic=Traffic(in_order=wanted.system.in_order),
    )
    estimate.announce([one.seconds], wanted.patient, wanted.system, "give fewer --frames")
    of = machine(wanted.link_mbps, wanted.system)
    ready = state.prepare(of, [wanted.variant])[wanted.variant]
    job = functools.partial(run, one, ready, symbols.of_guest(ready))
    (burst,) = runner.run_all([(one.name, job)])
    with outputs.replacing(wanted.output) as file:
        file.write_bytes(trace(burst))
    offered, forwarded = burst.result.total("offered"), burst.result.total("forwarded")
    print(
        sentence(
            f"{one.name}: {forwarded} of {offered} frames forwarded, "
            f"{sum(map(len, burst.calls))} calls; open {wanted.output} in https://ui.perfetto.dev"
        )
    )
    dropped = [each for each in burst.events if each.name in DROPS]
    if command := again.command(one, wanted.system, DROP if dropped else ""):
        print(
            f"moderato: the signals of its first {'drop' if dropped else 'frame'}: {command}",
            file=sys.stderr,
        )
    return forward.report_problems([burst.result], wanted.system)


def run(
    one: Trial, ready: state.State, functions: list[symbols.Symbol], progress: Callable[[float], None]
) -> Burst:
    start = time.monotonic()
    hertz = ready.machine.sys_clk_hz
    progress(0)
    with ready.open() as session, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        symbols.write(functions, folder / "symbols")
        before = trial.begin(one, ready, session)
        session.call("profile", symbols=str(folder / "symbols"), timeline=str(folder / "timeline"))
        reply = session.call("trial", pcap=name, **trial.request(one, hertz))
        session.call("profile", stop=str(folder / "stacks"))
        result = trial.conclude(one, ready, session, reply, start, before)
        octet = 8000 // one.link_mbps  # ns
        wires = {
            file.stem: [frame(begin, octets, octet) for begin, octets in pcap.read(file)]
            for file in sorted(folder.glob("*.pcap"))
        }
        harts = [
            [line.split() for line in file.read_text().splitlines()]
            for file in sorted(folder.glob("timeline*"))
        ]  # a second hart's names end in .1
    harts = [[(int(row[0]) * 1_000_000_000 // hertz, *row[1:]) for row in rows] for rows in harts]
    times = sorted(itertools.chain(*harts), key=lambda row: row[0])
    events = [Event(when, int(rest[1]), rest[2]) for when, *rest in times if rest[0] == "!"]
    last = max(
        [event.time for event in events] + [each.end for frames in wires.values() for each in frames]
    )
    entries = [(when, rest[0]) for when, kind, *rest in times if kind == ">"]
    return Burst(
        result,
        events,
        [list(calls(rows, last + TAIL)) for rows in harts],
        wires,
        [when for when, name in entries if name == TAKEN],
        [when for when, name in entries if name in SENT],
    )


def frame(begin: int, octets: bytes, octet: int) -> Frame:
    """A captured frame; its time is that of the first bit after the SFD. octet: ns per octet."""
    size = len(octets) + FCS
    signature, port, number = struct.unpack_from("!4sHI", octets, PAYLOAD)
    name = f"{port}:{number}" if signature == SIGNATURE else OTHER
    return Frame(begin - PREAMBLE * octet, begin + size * octet, size, name)


def calls(rows: Iterable[tuple], last: int) -> Iterator[Call]:
    """Calls from rows (time, ">", function) and (time, "<") until `last`, in order of entry."""
    found, names, begun = [], [], []
    for when, kind, *rest in rows:
        if when >= last:
            break
        if kind == ">":
            names.append(rest[0])
            begun.append(len(found))
            found.append((when, tuple(names)))
        elif kind == "<":
            names.pop()
            place = begun.pop()
            found[place] = Call(found[place][0], when, found[place][1])
    for place in begun:
        found[place] = Call(found[place][0], last, found[place][1])
    return (call for call in found if call.end - call.begin >= SHORTEST)


def trace(burst: Burst) -> bytes:
    """Perfetto's format; the tracks lead from the wire to the CPU's functions."""
    made = Trace()
    group = made.track("Wires")
    for port in PORTS:
        for direction in ("in", "out"):
            track = made.track(f"port {port} {direction}", group)
            for each in burst.wires[f"port{port}-{direction}"]:
                made.slice(
                    track,
                    each.begin,
                    each.end,
                    each.name,
                    flow="" if each.name == OTHER else each.name,
                    octets=each.octets,
                )
    for port in PORTS:
        group = made.track(f"MAC {port}")
        names = sorted({event.name for event in burst.events if event.port == port})
        tracks = {name: made.track(EVENTS[name], group) for name in names}
        for event in burst.events:
            if event.port == port:
                made.instant(tracks[event.name], event.time, EVENTS[event.name])
    group = made.track("Frames that wait")
    for name, (came, went) in waiting(burst).items():
        track = made.track(name, group, counter=True)
        for moment, level in fill(came, went):
            made.count(track, moment, level)
    for hart, found in enumerate(burst.calls):
        track = made.track(f"CPU {hart}" if len(burst.calls) > 1 else "CPU")
        for call in found:
            made.slice(track, call.begin, call.end, call.stack[-1], term=term_of(call.stack))
    return made.bytes()


# Frames that wait ---------------------------------------------------------------------------------


def waiting(burst: Burst) -> dict[str, tuple[list[int], list[int]]]:
    """For each place where frames wait: the times of arrivals and departures, in ns.

    Rings of both ports count together, because the kernel's functions do not show the port.
    """

    def events(names, ports=PORTS):
        return [each.time for each in burst.events if each.name in names and each.port in ports]

    places = {}
    for port in PORTS:
        came, left = (burst.wires[f"port{port}-{way}"] for way in ("in", "out"))
        places[f"in MAC {port}, received"] = (
            [each.end for each in came],
            events(["rx_completed", *DROPS], [port]),
        )
        places[f"in MAC {port}, to be sent"] = (
            events(["tx_completed"], [port]),
            [each.end for each in left],
        )
    places["in the Rx rings"] = (events(["rx_completed"]), burst.taken)
    places["in the Tx rings"] = (burst.sent, events(["tx_completed"]))
    return {name: times for name, times in places.items() if all(times)}


def fill(came: list[int], went: list[int]) -> Iterator[tuple[int, int]]:
    """(time, number of waiting frames) at each change."""
    level = 0
    steps = sorted([(when, 1) for when in came] + [(when, -1) for when in went])
    for when, changes in itertools.groupby(steps, lambda step: step[0]):
        level += sum(change for _, change in changes)
        yield when, level
