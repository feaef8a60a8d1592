# SPDX-License-Identifier: BSD-2-Clause
"""Reads pcap files of Ethernet frames: the classic format, of either byte order and resolution."""

import struct
from pathlib import Path

from ..show.errors import LabError

HEADER = 24  # octets of the file's
ETHERNET = 1
PCAPNG = 0x0A0D0D0A
NANOSECONDS = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}  # of a unit of the fraction, by magic number


def read(path: Path) -> list[tuple[int, bytes]]:
    """(time in nanoseconds, frame without FCS) of every frame; LabError for any other file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LabError(f"{path} can't be read: {error.strerror}; name a pcap file") from error
    order, unit = _format(path, content)
    kind = struct.unpack_from(f"{order}I", content, 20)[0] & 0xFFFF
    if kind != ETHERNET:
        raise LabError(f"{path} holds frames of link type {kind}, not Ethernet (1); "
                       "capture on an Ethernet interface")
    return list(_records(path, content, order, unit))


def _format(path: Path, content: bytes) -> tuple[str, int]:
    """Byte order, and nanoseconds in the unit of the fractions."""
    if content[:4] == struct.pack("<I", PCAPNG):
        raise LabError(f"{path} is pcapng; convert it: editcap -F pcap {path.name} NEW")
    if len(content) >= HEADER:
        for order in "<>":
            magic, = struct.unpack_from(f"{order}I", content)
            if magic in NANOSECONDS:
                return order, NANOSECONDS[magic]
    raise LabError(f"{path} is not a pcap file; capture with tcpdump -w, or convert with "
                   "editcap -F pcap")


def _records(path: Path, content: bytes, order: str, unit: int):
    offset = HEADER
    while offset < len(content):
        end = offset + 16
        if end <= len(content):
            seconds, fraction, kept, length = struct.unpack_from(f"{order}4I", content, offset)
            end += kept
        if end > len(content):
            raise LabError(f"{path} is truncated: it ends inside a frame, at byte {len(content)}; "
                           "capture it again")
        if kept < length:
            raise LabError(f"{path} holds only the first {kept} of {length} octets of a frame; "
                           "capture whole frames (tcpdump -s 0)")
        yield seconds * 1_000_000_000 + fraction * unit, content[end - kept:end]
        offset = end
