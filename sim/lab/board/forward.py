# SPDX-License-Identifier: BSD-2-Clause
"""`moderato board forward`: the lab's trial on a real board, with this machine as the tester."""

import os
import platform
import sys
import time
from collections.abc import Callable

from moderato.boards import SIMULATED
from moderato.toolchain import project

from ..measure import trial_tables
from ..measure.forward import Request, report_problems
from ..measure.results import LATENCY, Port, Result, Trial, frame_rate
from ..run import ethtool
from ..run.variants import ALL
from ..show import delivery, outputs
from ..show.errors import LabError
from . import counters, wire
from .desk import Desk
from .tester import Fates, Tester

TRIES = 20  # readings of counters, until no frame passes meanwhile
SLOWER = 100  # times, for a simulated board: a second of a busy one takes this machine 80
SLOW_HOST = 0.99  # of the intended rate


def forward(wanted: Request, at: Desk) -> int:
    """Run the trials one after the other; print the table. 1: one of them is unsound."""
    at.start()
    at.require_ports()
    results = []
    for each in wanted.trials():
        print(f"moderato: {each.name} ...", file=sys.stderr)
        results.append(trial(each, at))
    delivery.deliver(
        lambda: (
            trial_tables.render(results)
            + "".join(f"{each.trial.name}: {note(each)}\n" for each in results)
        ),
        (wanted.json, lambda path: outputs.write_json(path, [each.as_json() for each in results])),
    )
    return report_problems(results)


def trial(wanted: Trial, at: Desk) -> Result:
    """Offer the frames to both ports at once, and close the account with the board's counters."""
    assert wanted.frame_bytes is not None and wanted.load_percent is not None
    for command in ALL[wanted.variant].commands():
        status, said = at.shell.run(command)
        if status and not ethtool.UNCHANGED.search(said):
            said = " ".join(said.split()) or f"status {status}"
            raise LabError(f"the board can't run {wanted.variant}: `{command}` failed: {said}")
    rate = frame_rate(wanted.frame_bytes, wanted.load_percent, wanted.link_mbps)
    rate /= SLOWER if at.built.simulated else 1
    wires, macs, size = [at.wires[port] for port in range(2)], at.addresses(), wanted.frame_bytes
    tester, before = _counted(at, lambda: Tester(wires, macs, size))
    start = time.monotonic()
    seconds = tester.offer(wanted.frames, rate)
    tester.drain(at.built.slow)
    _, after = _counted(at, lambda: tester)
    return evaluate(wanted, at, tester.fates, after.since(before), (seconds, time.monotonic() - start))


def _counted(at: Desk, make: Callable[[], Tester]) -> tuple[Tester, counters.Counters]:
    """A tester, and the board's counters at a moment up to which it has counted the same frames."""
    for _ in range(TRIES):
        tester = make()
        while tester.receive():
            pass
        tester = make()  # counts from here on
        found = counters.read(at.shell, at.built.interfaces)
        if not tester.receive():
            return tester, found
    raise LabError("other programs of this machine keep sending at --port0 or --port1; end them")


def evaluate(
    wanted: Trial,
    at: Desk,
    fates: list[Fates],
    counted: counters.Counters,
    seconds: tuple[float, float],
) -> Result:
    """seconds: of the offer, and of the whole trial with the reading of counters."""
    hz = at.built.soc["sys_clk_hz"]
    offering, whole = seconds
    assert wanted.frame_bytes is not None and wanted.load_percent is not None
    lines = counted.kernel
    ports = []
    for number, fate in enumerate(fates):
        board = counted.ports[number]
        fps = fate.forwarded / offering
        ports.append(
            Port(
                offered=fate.offered,
                answers=fate.answers + fate.own,
                received=board["rx_packets"],
                forwarded=fate.forwarded,
                dropped_at_ring=board["rx_missed_errors"],
                dropped_at_fifo=board["rx_fifo_errors"],
                dropped_damaged=board["rx_crc_errors"] + board["rx_length_errors"],
                dropped_filtered=board["rx_filtered"],
                corrupted=fate.corrupted,
                reordered=fate.reordered,
                rx_interrupts=lines.rx_interrupts[number] if lines.rx_interrupts else 0,
                tx_interrupts=lines.tx_interrupts[number] if lines.tx_interrupts else 0,
                rx_withdrawn=0,
                tx_withdrawn=0,
                fps=fps,
                mbps=fps * wanted.frame_bytes * 8 / 1e6,
            )
        )
    idle = max(0.0, 100 * (1 - counted.busy / (offering * counted.harts)))
    intended = 2 * frame_rate(wanted.frame_bytes, wanted.load_percent, wanted.link_mbps)
    offered = sum(fate.offered for fate in fates) / offering
    return Result(
        trial=wanted,
        sys_clk_hz=hz,
        cycles=round(offering * hz),
        ports=ports,
        latency=_latency([ns for fate in fates for ns in fate.latency], hz),
        cpu_idle_percent=idle,
        backlog_dropped=lines.backlog_dropped,
        tx_dropped=sum(lines.tx_dropped),
        wall_seconds=whole,
        problems=account(fates, counted),
        conditions={
            "commit": project.version(),
            "board": at.built.board,
            "nic": at.built.soc.get("nic"),
            "bitstream_commit": at.built.report.get("commit"),
        },
        hardware={
            "board": at.built.soc.get("board", at.built.board),
            "host_kernel": platform.release(),
            "host_cpu": wire.cpu_model(),
            "host_cores": os.cpu_count(),
            "host_drivers": [wire.driver(at.wires[port].name) for port in range(2)],
            "timestamps": "software, of the host",
            "intended_fps": round(intended, 3),
            "offered_fps": round(offered, 3),
            "seconds": round(offering, 6),
        },
    )


def account(fates: list[Fates], counted: counters.Counters) -> list[str]:
    """Frames that one end counted and the other one did not; none in a sound trial."""
    problems = []
    for port, fate in enumerate(fates):
        board = counted.ports[port]
        entered = fate.offered + fate.answers + fate.own
        arrived = sum(board[name] for name in counters.ARRIVED)
        if arrived != entered:
            problems.append(
                f"this machine sent {entered} frames into port {port}, and the board counts {arrived}; "
                "look at this machine's NIC (ethtool -S), and for pause frames (ethtool -a)"
            )
        other = fates[1 - port]  # of the frames that leave here
        there = other.forwarded + other.corrupted + other.duplicated + fate.strangers
        if board["tx_packets"] != there:
            lost = f"; this machine had no room for {other.lost_by_host}" if other.lost_by_host else ""
            problems.append(
                f"the board sent {board['tx_packets']} frames at port {port}, and {there} arrived{lost}"
            )
        if fate.corrupted or fate.duplicated:
            problems.append(
                f"{fate.corrupted} frames that entered at port {port} left corrupted, "
                f"{fate.duplicated} twice"
            )
    return problems


def _latency(times: list[int], hz: int) -> dict[str, int | None]:
    """min, median, p99 and max of ns, in clocks of the SoC."""
    if not times:
        return dict.fromkeys(LATENCY)
    times = sorted(times)
    picked = times[0], times[len(times) // 2], times[len(times) * 99 // 100], times[-1]
    return {name: round(ns * hz / 1e9) for name, ns in zip(LATENCY, picked)}


def note(result: Result) -> str:
    """Of how much of the intended rate this machine offered, and whether it is the bottleneck."""
    assert result.hardware
    if result.conditions["board"] == SIMULATED:
        return (
            "the board is simulated, with seconds of its own: rates, latency and CPU idle are not "
            f"judged, the account is; offered at a {SLOWER}th of --load"
        )
    intended, offered = result.hardware["intended_fps"], result.hardware["offered_fps"]
    text = (
        f"{offered:.0f} of the intended {intended:.0f} frames/s were offered (drivers of this machine: "
        f"{', '.join(result.hardware['host_drivers'])}); latency includes this machine's"
    )
    if offered < SLOW_HOST * intended:
        text += "; this machine is the bottleneck: its rate is the load, not --load"
    return text
