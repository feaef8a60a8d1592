# SPDX-License-Identifier: BSD-2-Clause
"""One trial: offers frames in a ready state, evaluates the result, and checks whether it is sound."""

import dataclasses
import time
from collections.abc import Callable, Iterable

from ..run import guest
from ..run.session import Session
from ..run.state import State
from ..show import outputs
from .learning import hands_over, learn
from .results import LATENCY, Port, Result, Trial
from .traffic import SEED, quiet, reporter, timeout

FRAMES = ("offered", "forwarded", "corrupted", "reordered")
BAD_FRAMES = "frames that entered at port"  # in problems that captures of the trial show
CAPTURES = ("port[01]-in.pcap", "port[01]-out.pcap")  # of a trial


def run(trial: Trial, ready: State, progress: Callable[[float], None]) -> Result:
    """Offer the frames to both ports at once, wait until it is quiet, read the guest's counters."""
    start = time.monotonic()
    of = ready.machine
    with ready.open(progress=reporter(progress, of.sys_clk_hz, trial.seconds)) as session:
        before = begin(trial, ready, session)
        with outputs.replacing_folder(trial.captures, CAPTURES) as folder:
            capture = {"pcap": str(folder)} if folder else {}
            reply = session.call("trial", **request(trial, of.sys_clk_hz, of.system.ethtool), **capture)
        return conclude(trial, ready, session, reply, start, before)


def begin(trial: Trial, ready: State, session: Session) -> tuple[guest.Counters, int]:
    """Prepare a trial: offer learning frames if the variant hands flows over. Returns the guest's
    counters and its number of forwarded frames before the trial."""
    if not hands_over(trial.variant):
        return ready.counters(), 0
    of = ready.machine
    assert trial.frame_bytes is not None
    learn(session, of.sys_clk_hz, trial.frame_bytes, trial.link_mbps, trial.traffic, of.system.ethtool)
    return read_counters(session)[0], guest.forwarded(session)


def conclude(
    trial: Trial,
    ready: State,
    session: Session,
    reply: dict,
    start: float,
    before: tuple[guest.Counters, int],
) -> Result:
    """The trial's result, with the guest's counters. `start`: time.monotonic() at its start; `before`:
    the value of `begin`."""
    counters, forwarded = before
    result = evaluate(
        trial,
        ready.machine.sys_clk_hz,
        reply,
        counters,
        *read_counters(session),
        time.monotonic() - start,
    )
    if hands_over(trial.variant):
        result = dataclasses.replace(result, by_hardware=guest.forwarded(session) - forwarded)
    return dataclasses.replace(result, conditions=ready.conditions)


def read_counters(session: Session) -> tuple[guest.Counters, list[str]]:
    """The guest's counters since boot, and where they differ from the hardware's."""
    text = session.check(guest.COMMAND)
    kernel, hardware = guest.parse(text), session.call("counters")
    return kernel, [
        *disagreements(kernel, hardware["ports"]),
        *strayed(guest.taken(text), hardware["claims"]),
    ]


def request(trial: Trial, sys_clk_hz: int, settings: Iterable[str] = ()) -> dict:
    """The fields of moderato-sim's `trial`. `settings`: ethtool settings in addition to the
    variant's."""
    clocks = round(sys_clk_hz * trial.seconds)
    slot = clocks / trial.frames
    offer = {
        "frame_bytes": trial.frame_bytes,
        "load_percent": trial.load_percent,
        "frames": trial.frames,
    }
    if trial.burst:
        offer["burst"] = {"load_percent": 100, "frames": trial.burst}
    if trial.probe_every:
        offer["probe_every"] = trial.probe_every
    # Two testers are never synchronous.
    return {
        "ports": trial.traffic.offers(offer, slot / 2),
        "link_mbps": trial.link_mbps,
        "seed": SEED,
        "quiet_cycles": quiet(sys_clk_hz, settings),
        "max_cycles": clocks + timeout(sys_clk_hz),
    }


# Evaluation ---------------------------------------------------------------------------------------


def evaluate(
    trial: Trial,
    sys_clk_hz: int,
    reply: dict,
    before: guest.Counters,
    after: guest.Counters,
    problems: list[str],
    wall_seconds: float,
) -> Result:
    """The figures of a trial. `reply`: moderato-sim's report; `problems`: of the counters."""
    assert trial.frame_bytes is not None
    window = reply["window"]
    clocks = max(1, window["end_cycle"] - window["start_cycle"])  # 0 for a single offered frame
    kernel = after.since(before)
    ports = [
        Port(**of_the_frames(port, trial.frame_bytes * 8, sys_clk_hz / clocks), **of_the_mac(port))
        for port in reply["ports"]
    ]
    idle = window["idle_cycles"]
    events = {
        name: sum(port["window_events"][name] for port in reply["ports"])
        for name in ("rx_completed", "rx_interrupt", "tx_interrupt")
    }
    interrupts = events["rx_interrupt"] + events["tx_interrupt"]
    return Result(
        trial=trial,
        sys_clk_hz=sys_clk_hz,
        cycles=reply["end_cycle"] - reply["start_cycle"],
        ports=ports,
        latency=reply["latency_cycles"] or dict.fromkeys(LATENCY),
        probe_latency=reply["probe_latency_cycles"] or dict.fromkeys(LATENCY),
        **of_the_harts(idle, clocks, kernel),
        backlog_dropped=kernel.backlog_dropped,
        tx_dropped=sum(kernel.tx_dropped),
        wall_seconds=wall_seconds,
        problems=[*damage(reply, trial.traffic.in_order), *problems],
        window=(window["start_cycle"], window["end_cycle"]),
        interrupts_per_second=interrupts * sys_clk_hz / clocks,
        frames_per_interrupt=events["rx_completed"] / events["rx_interrupt"]
        if events["rx_interrupt"]
        else None,
    )


def of_the_frames(port: dict, bits: int, per_second: float) -> dict:
    """Fields of a Port about the tester's frames into that port, if there are any."""
    if "offered" not in port:
        return dict.fromkeys(FRAMES, 0) | {"fps": 0.0, "mbps": 0.0}
    rate = port["window"]["forwarded"] * per_second
    return {name: port[name] for name in FRAMES} | {"fps": rate, "mbps": rate * bits / 1e6}


def of_the_harts(idle: list[int], clocks: int, kernel: guest.Counters) -> dict:
    """Fields of a Result about the harts' idle time and interrupts. `idle`: idle cycles of each hart,
    out of `clocks`."""
    lines = kernel.rx_interrupts, kernel.tx_interrupts, kernel.shared_interrupts
    return {
        "cpu_idle_percent": 100 * sum(idle) / (len(idle) * clocks),
        "idle_per_hart": [100 * cycles / clocks for cycles in idle],
        # Older checkpoints have only sums.
        "interrupts_per_hart": kernel.per_hart or [sum(map(sum, lines))],
    }


def of_the_mac(port: dict) -> dict[str, int]:
    """Fields of a Port from its MAC's counters of received frames."""
    events = port["events"]
    return {
        "answers": port["left"]["answered"],
        "received": events["rx_completed"],
        "dropped_at_ring": events["rx_drop_ring"],
        "dropped_at_fifo": events["rx_drop_fifo"],
        "dropped_damaged": events["rx_drop_error"],
        "dropped_filtered": events["rx_drop_filter"],
        "rx_interrupts": events["rx_interrupt"],
        "tx_interrupts": events["tx_interrupt"],
        "rx_withdrawn": port["withdrawn"]["rx"],
        "tx_withdrawn": port["withdrawn"]["tx"],
    }


def damage(reply: dict, ordered: bool = True) -> list[str]:
    """Damage that no forwarding device may do to frames. `ordered`: reordering counts as damage."""
    found = []
    if not reply["quiet"]:
        found.append("it did not become quiet after all frames were offered")
    for number, port in enumerate(reply["ports"]):
        found += [
            f"{port[kind]} {BAD_FRAMES} {number} left {kind}"
            for kind in ("corrupted", "duplicated", "reordered")
            if port.get(kind) and (ordered or kind != "reordered")
        ]
        found += [
            f"{port['left'][kind]} frames left port {number} with a {what}"
            for kind, what in (
                ("bad_fcs", "wrong FCS"),
                ("bad_preamble", "wrong preamble"),
                ("short_gap", "short gap before them"),
            )
            if port["left"][kind]
        ]
    return found


def disagreements(kernel: guest.Counters, hardware: list[dict]) -> list[str]:
    """Differences between /proc/interrupts and the interrupts that the hardware raised, both since
    reset.

    Withdrawn interrupts do not count: a driver that polls the ring may re-arm or disarm an interrupt a
    few cycles after its rise, before the hart's claim at the PLIC. hardware: the ports of moderato-sim's
    `counters`.
    """
    found = []
    for number, port in enumerate(hardware):
        events, withdrawn = port["events"], port["withdrawn"]
        rx, tx = events["rx_interrupt"], events["tx_interrupt"]
        for line, seen, raised, fell in (
            ("rx", kernel.rx_interrupts, rx, withdrawn["rx"]),
            ("tx", kernel.tx_interrupts, tx, withdrawn["tx"]),
            ("shared", kernel.shared_interrupts, rx + tx, 0),
        ):
            if seen and seen[number] != raised - fell:
                found.append(
                    f"/proc/interrupts shows {seen[number]} {line} interrupts of "
                    f"port {number}, the hardware raised {raised}"
                    + f", {fell} of which were withdrawn"
                    * bool(fell)
                )
    return found


def strayed(kernel: dict[int, list[int]], claims: list[list[int]]) -> list[str]:
    """Differences between a hart's claims at the PLIC and /proc/interrupts, both since reset.

    kernel: for each hart, counts by source. claims: for each hart, a list of counts with an entry per
    source.
    """
    return [
        f"/proc/interrupts shows {seen} interrupts of source {source} at hart {hart}, which took "
        f"{claims[hart][source]} from the PLIC"
        for source, harts in kernel.items()
        for hart, seen in enumerate(harts)
        if seen != claims[hart][source]
    ]
