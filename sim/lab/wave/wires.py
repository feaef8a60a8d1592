# SPDX-License-Identifier: BSD-2-Clause
"""The frames on the wires of a run: what each one is called, and which ones leave damaged.

`0:5`: the tester's frame number 5 into port 0. `0#5`: the frame number 5 of a capture or a host that
entered port 0. A frame keeps its name when it leaves.
"""

import dataclasses
import struct
from collections import defaultdict, deque
from collections.abc import Iterable

from ..captures import router
from ..explain.timeline import OTHER, Frame, frame

Captured = dict[str, list[tuple[int, bytes]]]  # by wire ("port0-in"): ns of the first bit after the SFD
UDP_PORT = 34  # octet where the source port begins


def frames(captured: Captured, octet: int) -> dict[str, list[Frame]]:
    """By wire, in ns. octet: its time in ns."""
    found = {
        wire: [frame(begin, octets, octet) for begin, octets in rows] for wire, rows in captured.items()
    }
    waiting = defaultdict(deque)  # names of frames that entered, by the packet as a router leaves it
    for wire, rows in captured.items():
        if not wire.endswith("-in"):
            continue
        for number, (_, octets) in enumerate(rows):
            if found[wire][number].name == OTHER:
                name = f"{wire.removeprefix('port').removesuffix('-in')}#{number}"
                found[wire][number] = dataclasses.replace(found[wire][number], name=name)
                if packet := router.packet(octets, hops=1):
                    waiting[packet].append(name)
    for wire, rows in captured.items():
        for number, (_, octets) in enumerate(rows):
            if found[wire][number].name == OTHER and (packet := router.packet(octets, hops=0)):
                if waiting[packet]:
                    name = waiting[packet].popleft()
                    found[wire][number] = dataclasses.replace(found[wire][number], name=name)
    return found


def bad(captured: Captured, named: dict[str, list[Frame]], in_order: bool) -> Iterable[tuple[int, str]]:
    """(ns, port) of the beginning of each of the tester's frames that leaves again, changed, or after a
    later one of its stream; `in_order`: the latter is damage."""
    entered = {
        each.name: router.packet(octets, hops=1)
        for wire, rows in captured.items()
        if wire.endswith("-in")
        for each, (_, octets) in zip(named[wire], rows)
    }
    for wire, rows in captured.items():
        if wire.endswith("-in"):
            continue
        seen, latest = set(), {}
        for each, (_, octets) in zip(named[wire], rows):
            if ":" not in each.name:
                continue
            stream = struct.unpack_from("!H", octets, UDP_PORT)
            number = int(each.name.partition(":")[2])
            late = in_order and number < latest.get(stream, 0)
            latest[stream] = max(number, latest.get(stream, 0))
            if late or each.name in seen or router.packet(octets, hops=0) != entered.get(each.name):
                yield each.begin, wire.removeprefix("port").removesuffix("-out")
            seen.add(each.name)
