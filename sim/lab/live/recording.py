# SPDX-License-Identifier: BSD-2-Clause
"""A recording's header and index. moderato-sim writes and replays it (sim/harness/README.md)."""

import json
import os
import struct
from dataclasses import dataclass
from pathlib import Path

from ..show.errors import LabError

MAGIC, FORMAT = b"ModeLive", 1
HEADER, RECORD = struct.Struct("<8sII"), struct.Struct("<QHHI")
# Kinds of records: LEFT is a frame that left; INPUTS are frames, keys and loads.
INPUTS, LEFT, END, MOST = (0, 1, 5), 3, 4, 5
LONGEST = 1 << 20  # octets of a record
PORTS = 2  # of a box


@dataclass(frozen=True)
class Recording:
    path: Path
    about: dict  # live.py's description of the session
    start: int  # the first cycle of the session
    end: int  # cycle of the last whole record; before the first cycle if there is none
    inputs: int  # frames, keys, loads
    report: dict | None  # of the session; None if the recording is incomplete


def is_recording(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise LabError(f"{path} can't be read: {error.strerror}; name a recording") from error


def read(path: Path) -> Recording:
    """Raises LabError if the file is no recording, or damaged."""
    try:
        with path.open("rb") as file:
            return _read(path, file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise LabError(f"{path} can't be read: {error.strerror}; name a recording") from error


def _read(path: Path, file, size: int) -> Recording:
    head = file.read(HEADER.size)
    magic, version, length = HEADER.unpack(head.ljust(HEADER.size, b"\0"))
    if magic != MAGIC:
        raise LabError(f"{path} is no recording of a live session; make one with live --record")
    if version != FORMAT:
        raise LabError(
            f"{path} is a recording of format {version}, and this commit plays {FORMAT}; "
            "play it with the commit that made it"
        )
    about, start = file.read(length), file.read(8)
    if len(start) < 8:
        raise LabError(f"{path} was cut short inside its header; there is nothing to play")
    about = _described(path, about, "header")
    if not isinstance(about.get("conditions", {}), dict):
        raise LabError(
            f"{path} is damaged: its header does not say what it was recorded on; record it again"
        )
    (start,) = struct.unpack("<Q", start)
    end, reached, inputs, report, at = start, start, 0, None, file.tell()
    while report is None:
        head = file.read(RECORD.size)
        if len(head) < RECORD.size:
            break
        cycle, kind, port, length = RECORD.unpack(head)
        at += RECORD.size + length
        if kind > MOST or length > LONGEST:
            raise LabError(
                f"{path} is damaged: it has a record of kind {kind} with {length} octets "
                f"after cycle {end}; record it again"
            )
        if port >= PORTS:  # to the simulator, a port above 255 ends the recording
            raise LabError(
                f"{path} is damaged: it has a record of port {port} after cycle {end}; record it again"
            )
        if at > size:
            break
        inputs += kind in INPUTS
        end = max(end, cycle)
        if kind != LEFT:  # its cycle is that of its last bit, perhaps after the end
            reached = max(reached, cycle)
        if kind == END:
            report = _described(path, file.read(length), "report")
            # Otherwise the replay would never reach this cycle.
            if report.get("end_cycle", cycle) != cycle or cycle + 1 < reached:
                raise LabError(
                    f"{path} is damaged: its report is of cycle {cycle}, and something else "
                    "in it of another end; record it again"
                )
            end = cycle
        else:
            file.seek(at)
    return Recording(path, about, start, end, inputs, report)


def _described(path: Path, octets: bytes, what: str) -> dict:
    try:
        found = json.loads(octets)
    except (ValueError, RecursionError):
        raise LabError(f"{path} is damaged: its {what} is no JSON; record it again") from None
    if not isinstance(found, dict):
        raise LabError(f"{path} is damaged: its {what} is no object; record it again")
    return found
