# SPDX-License-Identifier: BSD-2-Clause
"""Captures of Ethernet frames: reads all that libpcap writes, and writes one format.

All checks of captures are here: moderato-sim plays the files of `write` without further checks.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..show.errors import LabError

FILE_HEADER, RECORD_HEADER = 24, 16  # octets
ETHERNET = 1  # link type
ETHERNET_HEADER, MIN_FRAME, FCS = 14, 60, 4  # octets; the shortest frame without its FCS
NANOSECONDS, SECOND = 0xA1B23C4D, 1_000_000_000
UNITS = {0xA1B2C3D4: 1000, NANOSECONDS: 1}  # nanoseconds in a unit of the fraction, by magic number
LAST = SECOND << 32  # nanoseconds since 1970: the end of pcap's range of times
PCAPNG = b"\n\r\r\n"
# The first octets of files that users mistake for captures, and what to do.
GZIP, ZSTD = "is compressed: gunzip < {name} > NEW", "is compressed: unzstd < {name} > NEW"
KUZNETZOV = "is Kuznetzov's variant of pcap: editcap -F nsecpcap {name} NEW"
OTHERS = {
    b"\x1f\x8b": GZIP,
    b"\x28\xb5\x2f\xfd": ZSTD,
    b"\x34\xcd\xb2\xa1": KUZNETZOV,
    b"\xa1\xb2\xcd\x34": KUZNETZOV,
}


class Frame(NamedTuple):
    """A frame, and its FCS if that was captured, too."""

    nanoseconds: int
    octets: bytes  # destination address to payload, perhaps padded
    fcs: bytes = b""

    def on_wire(self) -> bytes:
        """The octets on the wire, with padding and FCS. Captures of a host's own frames lack both."""
        if self.fcs:
            return self.octets + self.fcs
        padded = self.octets.ljust(MIN_FRAME, b"\0")
        return padded + struct.pack("<I", zlib.crc32(padded))


class Record(NamedTuple):
    """A frame as the file has it; lengths in octets."""

    nanoseconds: int
    octets: bytes
    length: int  # on the wire
    link_type: int
    fcs: int  # length of the FCS at the end of the octets


def read(path: Path) -> list[tuple[int, bytes]]:
    """(time in nanoseconds, octets without FCS) of each frame, as `frames` has them."""
    return [(frame.nanoseconds, frame.octets) for frame in frames(path)]


def frames(path: Path) -> list[Frame]:
    """The frames of a capture: pcap of either byte order and resolution, or pcapng.

    Raises LabError for any other file, and for a frame that can't be played, with its number.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LabError(f"{path} can't be read: {error.strerror}; name a capture") from error
    for start, says in OTHERS.items():
        if content.startswith(start):
            raise LabError(f"{path} {says.format(name=path.name)}")
    if content.startswith(PCAPNG):
        from .pcapng import records
    else:
        records = _records
    found = []
    try:
        for record in records(content):
            found.append(_frame(record))
    except Unusable as error:
        raise LabError(f"{path}: record {len(found) + 1} {error}") from None
    except NoCapture as error:
        raise LabError(f"{path} {error}") from None
    return found


class NoCapture(Exception):
    """The file is not a capture. The message: the reason, and what to do."""


class Unusable(Exception):
    """A record cannot be read; those before it can. The message: the reason, and what to do."""


def truncated(size: int) -> Unusable:
    return Unusable(f"is truncated: the file ends inside it, at octet {size}; capture it again")


def _records(content: bytes) -> Iterator[Record]:
    """The frames of a pcap file, by libpcap's savefile format."""
    for order in "<>":
        (magic,) = struct.unpack_from(f"{order}I", content.ljust(4, b"\0"))
        if magic in UNITS:
            break
    else:
        raise NoCapture(
            "is not a capture; make one with tcpdump -w, or convert it with editcap -F nsecpcap"
        )
    if len(content) < FILE_HEADER:
        raise NoCapture(
            f"is truncated: it ends inside its header, at octet {len(content)}; capture it again"
        )
    (link,) = struct.unpack_from(f"{order}I", content, 20)
    # Bits 31:28 are the FCS's length in units of 16 bits, if bit 26 is set.
    link_type, fcs = link & 0x03FF_FFFF, (link >> 28) * 2 if link & 1 << 26 else 0
    at = FILE_HEADER
    while at < len(content):
        begin = at + RECORD_HEADER
        if begin > len(content):
            raise truncated(len(content))
        seconds, fraction, kept, length = struct.unpack_from(f"{order}4I", content, at)
        at = begin + kept
        if at > len(content):
            raise truncated(len(content))
        nanoseconds = fraction * UNITS[magic]
        if nanoseconds >= SECOND:
            raise Unusable(
                f"has a time of {seconds} s and {nanoseconds} ns, which is no fraction of "
                "a second; the file is damaged, or its magic number names another unit"
            )
        yield Record(seconds * SECOND + nanoseconds, content[begin:at], length, link_type, fcs)


def _frame(record: Record) -> Frame:
    """Raises Unusable."""
    kept, least = len(record.octets), ETHERNET_HEADER + record.fcs
    if record.link_type != ETHERNET:
        raise Unusable(
            f"is of link type {record.link_type}, not Ethernet (1); capture at an Ethernet interface"
        )
    if record.fcs not in (0, FCS):
        raise Unusable(
            f"has an FCS of {record.fcs} octets, Ethernet's has {FCS}; capture at an Ethernet interface"
        )
    if kept < record.length:
        raise Unusable(
            f"holds only the first {kept} of {record.length} octets of a frame; capture "
            "whole frames (tcpdump -s 0)"
        )
    if kept > record.length:
        raise Unusable(f"holds {kept} octets of a frame that had {record.length}; the file is damaged")
    if kept < least:
        raise Unusable(
            f"has {kept} octets, and an Ethernet header{' with FCS' * bool(record.fcs)} has "
            f"{least}; take it out: editcap FILE NEW N"
        )
    if not 0 <= record.nanoseconds < LAST:
        raise Unusable(
            f"has a time of {record.nanoseconds} ns, and captures have those from 1970 to "
            "2106; the file is damaged"
        )
    end = kept - record.fcs
    return Frame(record.nanoseconds, record.octets[:end], record.octets[end:])


def write(path: Path, played: Iterable[Frame]):
    """The frames as they are on the wire, with FCS, in little-endian pcap of nanoseconds."""
    link = ETHERNET | 1 << 26 | FCS // 2 << 28
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", NANOSECONDS, 2, 4, 0, 0, 1 << 18, link))
        for frame in played:
            octets = frame.on_wire()
            file.write(
                struct.pack("<4I", *divmod(frame.nanoseconds, SECOND), len(octets), len(octets)) + octets
            )
