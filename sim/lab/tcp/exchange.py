# SPDX-License-Identifier: BSD-2-Clause
"""Runs a transfer between the tester and a program of the guest, or through the guest."""

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ..explain.stacks import read
from ..measure.traffic import SEED, quiet
from ..measure.trial import CAPTURES, read_counters
from ..run.session import Session
from ..show import outputs
from ..show.errors import LabError
from . import costs, nuttcp, receive_queue
from .figures import figures, problems
from .transfer import FAULT_EVERY, IN, KIND, PEERS, THROUGH, Transfer

STREAM, RESULT = "/tmp/stream", "/tmp/result"
TESTER = "198.18.0.2"  # at port 0; one end of all connections
TIMEOUT = 20  # seconds until a transfer is ended,
SLOWEST = 4  # or this many times its expected duration,
NOMINAL_HZ = 100_000_000  # at this clock; at a slower one, the same number of clocks


def run(
    transfer: Transfer, session: Session, sys_clk_hz: int, progress: Callable[[float], None]
) -> dict:
    """The record of a transfer: settings, figures, and problems that make them unsound."""
    begun = time.monotonic()
    of = transfer.octets * transfer.connections
    session.progress = lambda done: progress(min(1.0, done.get("octets", 0) / of))
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        if transfer.profile:
            (files / "symbols").write_text(transfer.symbols)
            session.call(
                "profile",
                symbols=str(files / "symbols"),
                window=True,
                calls=str(files / "calls"),
                functions=list(receive_queue.CALLS),
            )
        with outputs.replacing_folder(transfer.captures, CAPTURES) as captures:
            reply, served = talk(transfer, session, captures, sys_clk_hz)
        profile = {}
        if transfer.profile:
            session.call("profile", stop=str(files / "stacks"))
            window = reply["window"] or reply
            profile = {
                "profile": costs.summary(read(files / "stacks"))
                | {
                    "receive_queue": receive_queue.figures(
                        (files / "calls").open(), window["start_cycle"], window["end_cycle"]
                    )
                }
            }
    found = figures(transfer, reply, sys_clk_hz)
    if transfer.profile and not found["segments"]:
        raise LabError(
            f"{transfer.name}: no segment is in the window, which a profile would be divided "
            "by; move more octets (--bytes)"
        )
    counters, disagreements = read_counters(session)
    wanted = transfer.record()
    del wanted["profile"]
    return {
        "name": transfer.name,
        "kind": KIND,
        **wanted,
        **found,
        **profile,
        "guest": served,
        "interrupts_per_hart": [
            after - before for after, before in zip(counters.per_hart, transfer.before)
        ],
        "problems": [*problems(transfer, reply, served), *disagreements],
        "simulation": {"wall_seconds": round(time.monotonic() - begun, 3)},
    }


def talk(
    transfer: Transfer, session: Session, captures: Path | None, sys_clk_hz: int = NOMINAL_HZ
) -> tuple[dict, list[dict]]:
    """moderato-sim's report, and the guest program's report of each connection.

    captures: their folder, or None.
    """
    wanted = request(transfer, sys_clk_hz) | ({"pcap": str(captures)} if captures else {})
    if transfer.direction == THROUGH:
        session.call("talk", **wanted)
        return session.call("collect"), []
    if transfer.direction == IN:
        pid = start(session, transfer, f"in {RESULT}")
        session.call("talk", **wanted)
    else:
        session.call("talk", **wanted)
        pid = start(session, transfer, f"out {TESTER} {RESULT}")
    reply = session.call("collect")
    # If the peer vanished, the program waits for a very long time. It may also have ended before the
    # kernel has sent everything.
    over = all(each["state"] == "closed" for each in reply["connections"])
    end = "" if over else f"kill {pid} 2> /dev/null; "
    ended = session.check(f"{end}while [ -d /proc/{pid} ]; do :; done; cat {RESULT}")
    return reply, nuttcp.served(ended) if transfer.program == "nuttcp" else served(ended)


def start(session: Session, transfer: Transfer, what: str) -> int:
    """Start the program in the background; returns its process."""
    if transfer.program == "nuttcp":
        return int(session.check(nuttcp.command(transfer, TESTER, RESULT)))
    words = [f"-b {transfer.user_buffer}", f"-c {transfer.connections}", f"-n {transfer.octets}"]
    words += [f"-s {transfer.socket}"] * bool(transfer.socket)
    words += [f"-k {SEED}"] + ["-v"] * transfer.check
    return int(session.check(f"{STREAM} {' '.join(words)} {what}"))


def served(result: str) -> list[dict]:
    """The guest program's report of each connection. Raises LabError with its error message."""
    found = []
    for line in result.splitlines():
        words = re.fullmatch(r"(\d+) (\d+) (\d+) (\d+|-) (\d+)", line)
        if not words:
            raise LabError(f"the guest's program failed: {line}")
        number, octets, wrong, first, calls = words.groups()
        found.append(
            {
                "number": int(number),
                "octets": int(octets),
                "corrupted": int(wrong),
                "first_corrupted": None if first == "-" else int(first),
                "calls": int(calls),
            }
        )
    return sorted(found, key=lambda each: each["number"])


def request(transfer: Transfer, sys_clk_hz: int = NOMINAL_HZ) -> dict:
    """The fields of moderato-sim's `talk`."""
    seconds = max(TIMEOUT, SLOWEST * transfer.seconds)
    wanted = {
        "direction": transfer.direction,
        "connections": transfer.connections,
        "octets": transfer.octets,
        "window": transfer.window,
        "seed": SEED,
        "check": transfer.program != "nuttcp",
        "link_mbps": transfer.link_mbps,
        "quiet_cycles": quiet(sys_clk_hz),
        "max_cycles": round(seconds * max(sys_clk_hz, NOMINAL_HZ)),
    }
    faults = [
        {
            "port": port,
            "way": way,
            "segments": "all",
            "kind": kind,
            "frame": FAULT_EVERY * (1 + number) // (1 + len(transfer.faults)),
            "every": FAULT_EVERY,
        }
        for number, kind in enumerate(transfer.faults)
        for way in ("in", "out")
        for port in ((0, 1) if transfer.direction == THROUGH else (0,))
    ]
    wrong = PEERS[transfer.peer](sys_clk_hz) if transfer.peer else {}
    return wanted | ({"faults": faults} if faults else {}) | wrong
