# SPDX-License-Identifier: BSD-2-Clause
"""Packets of pcapng files, read with python-pcapng."""

import io
import warnings
from collections.abc import Iterator
from pathlib import Path

from pcapng import FileScanner
from pcapng.blocks import (
    BasePacketBlock,
    Block,
    EnhancedPacket,
    InterfaceDescription,
    InterfaceStatistics,
    NameResolution,
    ObsoletePacket,
    SectionHeader,
    SimplePacket,
    UnknownBlock,
)
from pcapng.exceptions import TruncatedFile
from pcapng.structs import Options, OptionsField, read_block_data, read_options

from ..show.errors import reason
from .pcap import SECOND, Record, Unusable, truncated

USED = {"if_tsresol", "if_fcslen", "if_tsoffset", "epb_flags", "pack_flags"}  # options
UNUSED = {block.magic_number for block in (NameResolution, InterfaceStatistics)}


class UsedOptions(OptionsField):
    """Decodes only the options in USED. The library decodes all of them, and raises an exception for
    text that is not UTF-8."""

    def load(self, stream, endianness, seen=None):
        used = {option.code for option in self.options_schema if option.name in USED}
        return Options(
            schema=self.options_schema,
            endianness=endianness,
            data=[option for option in read_options(stream, endianness) if option[0] in used],
        )


for _kind in (SectionHeader, InterfaceDescription, EnhancedPacket, ObsoletePacket):
    _kind.schema = [
        (name, UsedOptions(field.options_schema) if isinstance(field, OptionsField) else field, default)
        for name, field, default in _kind.schema
    ]


class Scanner(FileScanner):
    """Skips all blocks that this module does not read, for the same reason."""

    def _read_block(self, block_type: int) -> Block:
        if block_type in UNUSED:
            return UnknownBlock(block_type, read_block_data(self.stream, self.endianness))
        return super()._read_block(block_type)


def records(content: bytes) -> Iterator[Record]:
    """The frames of all sections and interfaces. Raises Unusable."""
    stream = io.BytesIO(content)
    end = 0  # offset of the end of the last whole block
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library's warnings about files that it reads anyway
        try:
            for block in Scanner(stream):
                end = stream.tell()
                if isinstance(block, BasePacketBlock):
                    yield _record(block)
        except (Unusable, GeneratorExit):
            raise
        except TruncatedFile:
            pass
        except Exception as error:  # damaged files raise any exception in the library
            raise _damaged(reason(error)) from error
    if end < len(content):
        raise truncated(len(content)) if stream.tell() == len(content) else _damaged("too short")


def sides(file: Path) -> Iterator[tuple[int, bool, int, bytes]]:
    """Of each frame in a capture of our own: interface, whether the guest received it, nanoseconds,
    octets without FCS."""
    with file.open("rb") as stream:
        for block in Scanner(stream):
            if isinstance(block, EnhancedPacket):
                inbound = block.options["epb_flags"].inout == "inbound"
                octets = block.packet_data
                yield block.interface_id, inbound, _nanoseconds(block, block.interface), octets


def _damaged(why: str) -> Unusable:
    return Unusable(f"is damaged, or what describes it is ({why}); capture it again")


def _record(block: Block) -> Record:
    if isinstance(block, SimplePacket):
        raise Unusable(
            "has no time, as a Simple Packet Block; capture it with another program, such as tcpdump -w"
        )
    interface = block.interface
    flags = block.options.get("pack_flags" if isinstance(block, ObsoletePacket) else "epb_flags")
    return Record(
        _nanoseconds(block, interface),
        block.packet_data,
        block.packet_len,
        interface.link_type,
        flags and flags.fcslen or interface.options.get("if_fcslen", 0),
    )


def _nanoseconds(block: Block, interface: InterfaceDescription) -> int:
    """The block's time stamp since 1970, calculated exactly."""
    (resolution,) = interface.options.get("if_tsresol", b"\x06")
    units = (2 if resolution & 0x80 else 10) ** (resolution & 0x7F)  # units per second
    time = block.timestamp_high << 32 | block.timestamp_low
    return time * SECOND // units + interface.options.get("if_tsoffset", 0) * SECOND
