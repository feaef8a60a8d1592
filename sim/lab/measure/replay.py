# SPDX-License-Identifier: BSD-2-Clause
"""`moderato replay`: sends captured frames through the guest, and captures the frames that leave it."""

import contextlib
import dataclasses
import functools
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..captures import pcap, router
from ..captures.rewrite import Rewritten, rewrite
from ..run import guest, runner, state
from ..run.machine import Machine, machine
from ..run.session import Session
from ..run.stations import ROUTER, TESTER
from ..run.system import System
from ..run.variants import LITEETH
from ..show import delivery, outputs
from ..show.errors import UsageError
from . import estimate, traffic, trial, trial_tables
from .forward import report_problems
from .results import LATENCY, OVERHEAD, Port, Result, Trial

LINK_MBPS = 100
LONGEST = 1522  # octets with FCS and tag: the ports count longer frames as damaged
KINDS = 5  # kinds of frames that a message lists

Frames = list[pcap.Frame]  # of one port


@dataclass(frozen=True)
class Request:
    """Frames of `inputs[n]` enter port n; frames that leave it go to `captures[n]`."""

    variant: str
    inputs: Sequence[Path | None]
    captures: Sequence[Path]
    json: Path | None = None
    system: System = System()
    udp_echo: bool = False  # the tester returns datagrams to port 7
    rewritten: bool = False  # the capture's addresses are replaced by the bench's
    patient: bool = False  # accept trials that take hours


def replay(wanted: Request) -> int:
    """Play the captures; prints the table, returns the exit status: 1 if it is unsound."""
    entered = read(wanted.inputs, wanted.rewritten)
    estimate.announce(
        [length(entered) / 1e9],
        wanted.patient,
        wanted.system,
        "play part of the capture (editcap -r FILE NEW 1-1000)",
        estimate.gaps(frame.nanoseconds / 1e9 for port in entered for frame in port),
    )
    of = machine(LINK_MBPS, wanted.system)
    state.ready(of, wanted.variant, static=False)
    job = functools.partial(run, of, wanted, entered)
    results = runner.run_all([(f"replay {wanted.variant}", job)], "replays")
    outputs.name(*wanted.captures)
    delivery.deliver(
        lambda: trial_tables.render_replay(results[0]),
        (wanted.json, lambda path: outputs.write_json(path, [result.as_json() for result in results])),
        conditions=of.conditions,
    )
    say_filtered(results[0])
    return report_problems(results)


def read(inputs: Sequence[Path | None], rewritten: bool) -> Sequence[Frames]:
    """The frames that enter each port. Raises LabError for captures that cannot be played."""
    entered = [pcap.frames(path) if path else [] for path in inputs]
    require_playable(inputs, entered)
    say_long(inputs, entered)
    if not rewritten:
        return entered
    made = rewrite(entered)
    if not made:
        names = " and ".join(str(path) for path in inputs if path)
        raise UsageError(
            f"{names} has no two stations that IPv4 goes between; leave out "
            "--rewrite, or name another capture"
        )
    say_rewritten(made)
    return made.entered


def say_rewritten(made: Rewritten):
    """Print the two stations, and the frames that cannot be mapped."""
    count = sum(map(len, made.entered))
    print(
        f"moderato: {count} of {count + made.left_out.total()} frames are rewritten: "
        + ", ".join(
            f"{end} is the tester at port {port}, {TESTER[port].ipv4}"
            for port, end in enumerate(made.ends)
        ),
        file=sys.stderr,
    )
    if made.left_out:
        kinds = [f"{number} {kind}" for kind, number in made.left_out.most_common(KINDS)]
        more = made.left_out.total() - sum(number for _, number in made.left_out.most_common(KINDS))
        print(
            f"moderato: left out, because they are not between those two: {', '.join(kinds)}"
            + f", {more} others" * bool(more),
            file=sys.stderr,
        )
    if made.quoting:
        print(
            f"moderato: {made.quoting} ICMP errors still quote the capture's addresses", file=sys.stderr
        )


def say_long(inputs: Sequence[Path | None], entered: Sequence[Frames]):
    """Print that frames are too long for the ports. Hosts that merge segments capture such frames."""
    for path, frames in zip(inputs, entered):
        long = [number for number, frame in enumerate(frames, 1) if len(frame.on_wire()) > LONGEST]
        if long:
            print(
                f"moderato: {path}: {len(long)} frame(s) longer than Ethernet's, from record "
                f"{long[0]} on, will be dropped as damaged; hosts that merge segments capture "
                "such: ethtool -K INTERFACE gro off lro off tso off gso off there",
                file=sys.stderr,
            )


def say_filtered(result: Result):
    """Print why no frame was forwarded, if the frames are for other stations."""
    filtered = result.total("dropped_filtered")
    if filtered and not result.total("forwarded"):
        ports = ", ".join(
            f"port {port} has {station.mac} and {station.ipv4}, the tester there "
            f"{tester.mac} and {tester.ipv4}"
            for port, (station, tester) in enumerate(zip(ROUTER, TESTER))
        )
        print(
            f"moderato: nothing was forwarded, and {filtered} frames were for other stations: "
            f"{ports}; --rewrite gives the capture's frames these addresses",
            file=sys.stderr,
        )


def require_playable(inputs: Sequence[Path | None], entered: Sequence[Frames]):
    """Reject captures without frames, and frames with an earlier time than their predecessor."""
    if not any(entered):
        names = " and ".join(str(path) for path in inputs if path)
        raise UsageError(f"{names} has no frames; capture some")
    for path, frames in zip(inputs, entered):
        for number, pair in enumerate(itertools.pairwise(frames), 2):
            early = pair[0].nanoseconds - pair[1].nanoseconds
            if path and early > 0:
                raise UsageError(
                    f"{path}: record {number} is {early / 1000:g} us before record "
                    f"{number - 1}; sort it: reordercap {path.name} NEW"
                )


def run(
    of: Machine, wanted: Request, entered: Sequence[Frames], progress: Callable[[float], None]
) -> Result:
    """Play `entered`, a list for each port. The captures are written completely or not at all."""
    ready = state.ready(of, wanted.variant, static=False)
    start = time.monotonic()
    seconds = length(entered) / 1e9
    report = traffic.reporter(progress, of.sys_clk_hz, seconds)
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(ready.open(progress=report, udp_echo=wanted.udp_echo))
        files = [stack.enter_context(outputs.replacing(path)) for path in wanted.captures]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        captures = Captures(files, folder)
        before = begin(session)
        reply = play(session, of, entered, captures)
        result = conclude(wanted.variant, ready, session, entered, reply, before, captures)
        return dataclasses.replace(result, wall_seconds=time.monotonic() - start)


@dataclass(frozen=True)
class Captures:
    left: Sequence[Path]  # frames that left, by port
    folder: Path  # for other files

    @property
    def answers(self) -> list[Path]:
        """Frames that entered, too: the tester's own."""
        return [self.folder / f"answers{port}" for port in range(len(self.left))]


Before = tuple[guest.Packets, list[int]]  # the guest's counters, idle cycles of each hart


def begin(session: Session) -> Before:
    return guest.packets(session.check(guest.IPV4)), session.call("counters")["idle_cycles"]


def play(session: Session, of: Machine, entered: Sequence[Frames], captures: Captures) -> dict:
    """moderato-sim's reply."""
    given = [captures.folder / f"in{port}" if frames else None for port, frames in enumerate(entered)]
    for path, frames in zip(given, entered):
        if path:
            pcap.write(path, frames)
    return session.call(
        "replay",
        **{"in": [path and str(path) for path in given]},
        out=list(map(str, captures.left)),
        answers=list(map(str, captures.answers)),
        link_mbps=LINK_MBPS,
        quiet_cycles=traffic.quiet(of.sys_clk_hz),
        max_cycles=round(of.sys_clk_hz * length(entered) / 1e9) + traffic.timeout(of.sys_clk_hz),
    )


def conclude(
    variant: str,
    ready: state.State,
    session: Session,
    entered: Sequence[Frames],
    reply: dict,
    before: Before,
    captures: Captures,
) -> Result:
    """The result of what `play` did, without `wall_seconds`. `before`: the value of `begin`."""
    idle = session.call("counters")["idle_cycles"]
    left, answered = ([pcap.frames(file) for file in each] for each in (captures.left, captures.answers))
    packets = guest.packets(session.check(guest.IPV4)).since(before[0])
    counters, problems = trial.read_counters(session)
    reply = reply | {"idle_cycles": [new - old for new, old in zip(idle, before[1])]}
    settings = Trial(variant, None, None, max(map(len, entered)), LINK_MBPS)
    return evaluate(
        settings,
        ready,
        Played(reply, entered, answered, left, counters, problems, packets),
        0,
    )


def length(entered: Sequence[Frames]) -> int:
    """Nanoseconds from the first frame to the end of the last. A frame enters at its time, or later,
    after its predecessor with preamble and gap."""
    first = min((port[0].nanoseconds for port in entered if port), default=0)
    ends = []
    for port in entered:
        free = first
        for frame in port:
            bits = 8 * (len(frame.on_wire()) + OVERHEAD)
            free = max(free, frame.nanoseconds) + bits * 1000 // LINK_MBPS
        ends.append(free - first)
    return max(ends, default=0)


@dataclass(frozen=True)
class Played:
    """The result of a replay."""

    reply: dict  # moderato-sim's report, with `idle_cycles` of each hart
    entered: Sequence[Frames]  # frames from the captures, by port like all of these
    answers: Sequence[Frames]  # frames from the tester itself, which entered, too
    left: Sequence[Frames]
    counters: guest.Counters  # the guest's counters since boot
    problems: list[str]  # problems of the counters
    packets: guest.Packets


def evaluate(settings: Trial, ready: state.State, played: Played, wall_seconds: float) -> Result:
    """Figures like a trial's, over the whole replay; latency is not measured."""
    hz = ready.machine.sys_clk_hz
    reply = played.reply
    clocks = reply["end_cycle"] - reply["start_cycle"]
    kernel = played.counters.since(ready.counters())
    through, answered = forwarded(played)
    ports = []
    for number, port in enumerate(reply["ports"]):
        beyond = reply["ports"][1 - number]["left"]
        intact = through[number] + answered[number]
        octets = sum(len(frame) + pcap.FCS for frame in intact)
        ports.append(
            Port(
                offered=port["offered"],
                forwarded=len(intact),
                corrupted=beyond["bad_fcs"] + beyond["bad_preamble"],
                reordered=None,
                fps=len(intact) * hz / clocks,
                mbps=octets * 8 * hz / clocks / 1e6,
                answers_forwarded=len(answered[number]),
                **trial.of_the_mac(port),
            )
        )
    counts_all = ready.conditions["nic"] != LITEETH  # LiteEth has no counter for some frames
    result = Result(
        trial=settings,
        sys_clk_hz=hz,
        cycles=clocks,
        ports=ports,
        latency=dict.fromkeys(LATENCY),
        **trial.of_the_harts(reply["idle_cycles"], clocks, kernel),
        backlog_dropped=kernel.backlog_dropped,
        tx_dropped=sum(kernel.tx_dropped),
        delivered=played.packets.delivered,
        wall_seconds=wall_seconds,
        problems=[*trial.damage(reply), *played.problems, *(unaccounted(ports) if counts_all else [])],
        conditions=ready.conditions,
    )
    return dataclasses.replace(result, reasons=reasons(result, played.packets))


def forwarded(played: Played) -> tuple[list[list[bytes]], list[list[bytes]]]:
    """Forwarded frames, by the port where they entered: from captures, and from the tester."""
    entered, answers, left = (
        [[frame.octets for frame in frames] for frames in each]
        for each in (played.entered, played.answers, played.left)
    )
    found = router.forwarded([*enumerate(entered), *enumerate(answers)], left)
    return found[: len(entered)], found[len(entered) :]


def reasons(result: Result, packets: guest.Packets) -> dict[str, int]:
    """Packets that were not forwarded, by reason, from the kernel's IPv4 counters; `other` is the
    rest."""
    found = {
        "not_ipv4": result.total("received") - result.backlog_dropped - packets.received,
        "expired": packets.expired,
        "bad_checksum": packets.bad_checksum,
        "no_route": packets.no_route,
    }
    return found | {"other": result.dropped_elsewhere - sum(found.values())}


def unaccounted(ports: Sequence[Port]) -> list[str]:
    """Ports whose MAC has counted more or fewer frames than entered."""
    counts = [
        (
            port.offered + port.answers,
            port.received
            + port.dropped_at_ring
            + port.dropped_at_fifo
            + port.dropped_damaged
            + port.dropped_filtered,
        )
        for port in ports
    ]
    return [
        f"{entered} frames entered at port {number}, its MAC counted {counted}"
        for number, (entered, counted) in enumerate(counts)
        if entered != counted
    ]
