# SPDX-License-Identifier: BSD-2-Clause
"""Lateness of frames: the time of the wire, by the NIC's clock, minus the launch time.

The tester's capture has the first bit after the SFD, in nanoseconds since reset. The NIC stamps the same
instant of two marks by its own clock, so the two relate both clocks, without an unknown constant.
"""

import math
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..show.errors import LabError
from .ways import Gates

PAYLOAD = 42  # octets of the Ethernet, IPv4 and UDP headers
LATE = 1000  # ns: a frame is late if it leaves later than that
BINS = 8
EDGE = 10  # ns: resolution of the stamps that relate the clocks


@dataclass(frozen=True)
class Said:
    """The program's output (soc/linux/ontime/ontime.c)."""

    offsets: list[int]  # of the NIC's clock against CLOCK_TAI, at the start and the end
    errors: list[int]  # largest errors of those
    stamps: list[int]  # of both marks
    rejected: int
    invalid: int
    missed: int


def said(output: str) -> Said:
    """Raises LabError with the program's own message."""
    clocks = re.findall(r"^clock (-?\d+) (\d+)$", output, re.MULTILINE)
    marks = re.findall(r"^mark (\d) (\d+)$", output, re.MULTILINE)
    dropped = re.search(r"^rejected (\d+)\ninvalid (\d+) missed (\d+)$", output, re.MULTILINE)
    if len(clocks) != 2 or [number for number, _ in marks] != ["0", "1"] or not dropped:
        raise LabError(f"the guest's ontime says {output.strip()!r}")
    return Said(
        [int(offset) for offset, _ in clocks],
        [int(error) for _, error in clocks],
        [int(stamp) for _, stamp in marks],
        *map(int, dropped.groups()),
    )


@dataclass(frozen=True)
class Departure:
    """A frame on the wire: nanoseconds since reset, and its launch time."""

    wire: int
    number: int
    launch: int


def departures(frames: Iterable[tuple[int, bytes]]) -> tuple[list[Departure], list[Departure]]:
    """The program's frames and its marks in a capture of the port where they leave."""
    found = {b"time": [], b"mark": []}
    for wire, octets in frames:
        payload = octets[PAYLOAD : PAYLOAD + 16]
        if len(payload) == 16 and payload[:4] in found:
            found[payload[:4]].append(Departure(wire, *struct.unpack(">IQ", payload[4:])))
    return found[b"time"], found[b"mark"]


def nic_clock(marks: Sequence[Departure], stamps: Sequence[int]) -> Callable[[int], int]:
    """The NIC's clock at a time of the wire. stamps: of both marks, by the NIC's clock."""
    if [mark.number for mark in marks] != [0, 1]:
        raise LabError(
            f"the capture has {len(marks)} marks, and both are needed to know the NIC's clock; "
            "the load may have delayed one, so give a lower --load"
        )
    first, last = marks
    ours, wires = stamps[1] - stamps[0], last.wire - first.wire
    return lambda wire: stamps[0] + round((wire - first.wire) * ours / wires)


def lateness(frames: Sequence[Departure], clock: Callable[[int], int]) -> list[int]:
    """Nanoseconds for each frame; below 0: it left early."""
    return [clock(frame.wire) - frame.launch for frame in frames]


def violations(
    frames: Iterable[tuple[int, int, int]], clock: Callable[[int], int], gates: Gates, octet: int
) -> int:
    """Frames on the wire while the gate of their queue is closed, by EDGE or more. frames: time of the
    wire, queue, and octets with the FCS; octet: nanoseconds."""
    found = 0
    for wire, queue, octets in frames:
        begin = clock(wire) % gates.cycle
        end = begin + octets * octet
        found += not any(
            open_ - EDGE < begin and end < close + EDGE for open_, close in gates.opens(queue)
        )
    return found


def most_frames(gates: Gates, queue: int, octets: int, octet: int) -> int:
    """How many frames with `octets` on the wire, gap included, have time in a cycle."""
    return sum((close - begin) // (octets * octet) for begin, close in gates.opens(queue))


def summary(values: Sequence[int]) -> dict[str, int | None]:
    """Minimum, median, 99th percentile (nearest rank), maximum."""
    ordered = sorted(values)

    def rank(percent: int) -> int | None:
        return ordered[max(1, math.ceil(len(ordered) * percent / 100)) - 1] if ordered else None

    return {"min": rank(0), "median": rank(50), "p99": rank(99), "max": rank(100)}


def histogram(values: Sequence[int], bins: int = BINS) -> list[dict[str, int]]:
    """Frames by lateness, in bins of equal width: from `from` on, below `below`."""
    if not values:
        return []
    least, most = min(values), max(values)
    width = max(1, math.ceil((most - least + 1) / bins))
    counts = [0] * math.ceil((most - least + 1) / width)
    for value in values:
        counts[(value - least) // width] += 1
    return [
        {"from": least + number * width, "below": least + (number + 1) * width, "frames": count}
        for number, count in enumerate(counts)
    ]


def account(asked: int, on_wire: int, of_hardware: int, output: Said) -> dict[str, int]:
    """Where the frames are that the program was asked to send. `missing` is 0 if the account closes."""
    of_qdisc = output.invalid + output.missed
    return {
        "frames": asked,
        "on_wire": on_wire,
        "dropped_by_hardware": of_hardware,
        "dropped_by_qdisc": of_qdisc,
        "rejected": output.rejected,
        "missing": asked - on_wire - of_hardware - of_qdisc - output.rejected,
    }
