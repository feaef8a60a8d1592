# SPDX-License-Identifier: BSD-2-Clause
"""The reader of captures: the files that it accepts, and the errors for others, with the record."""

import itertools
import random
import re
import struct
import zlib

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import PcapNgWriter, PcapWriter, RawPcapReader

from moderato.sim.lab import cli
from moderato.sim.lab.captures import pcap
from moderato.sim.lab.show.errors import LabError

START = 1_500_000_000
MAGIC = {1000: 0xA1B2C3D4, 1: 0xA1B23C4D}  # by nanoseconds in a unit
FRAMES = [
    bytes(
        Ether(src="02:54:73:74:00:00", dst="02:4d:6f:64:00:00")
        / IP(dst="198.19.0.2")
        / UDP()
        / bytes(size)
    )
    for size in (1, 18, 200)
]


def header(order="<", unit=1000, link=1) -> bytes:
    return struct.pack(f"{order}IHHiIII", MAGIC[unit], 2, 4, 0, 0, 65535, link)


def record(octets: bytes, number=0, order="<", fraction=0, length=None) -> bytes:
    kept = len(octets)
    return (
        struct.pack(f"{order}4I", START + number, fraction, kept, kept if length is None else length)
        + octets
    )


def with_fcs(octets: bytes) -> bytes:
    return octets + struct.pack("<I", zlib.crc32(octets))


def read(tmp_path, content: bytes) -> list[pcap.Frame]:
    (tmp_path / "a.pcap").write_bytes(content)
    return pcap.frames(tmp_path / "a.pcap")


# Played -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order, unit, fcs", [*itertools.product("<>", MAGIC, (0, 4))])
def test_all_forms_of_pcap(tmp_path, order, unit, fcs):
    """All byte orders and units, and an FCS that the link type's word declares."""
    link = 1 | (1 << 26 | fcs // 2 << 28 if fcs else 0)
    found = read(
        tmp_path,
        header(order, unit, link)
        + b"".join(
            record(with_fcs(frame) if fcs else frame, number, order, number * 5)
            for number, frame in enumerate(FRAMES)
        ),
    )
    assert [(each.nanoseconds, each.octets) for each in found] == [
        ((START + number) * 10**9 + number * 5 * unit, frame) for number, frame in enumerate(FRAMES)
    ]
    assert all(len(each.fcs) == fcs for each in found)


@pytest.mark.parametrize("nano, endianness", [(False, "<"), (False, ">"), (True, "<"), (True, ">")])
def test_reads_what_scapy_writes(tmp_path, nano, endianness):
    file = tmp_path / "a.pcap"
    with PcapWriter(str(file), nano=nano, endianness=endianness, linktype=1) as writer:
        for number, frame in enumerate(FRAMES):
            packet = Ether(frame)
            packet.time = START + number + 0.5
            writer.write(packet)
    assert pcap.frames(file) == [
        pcap.Frame((START + number) * 10**9 + 500_000_000, frame) for number, frame in enumerate(FRAMES)
    ]


def test_declared_fcs_without_octets_is_none(tmp_path):
    assert read(tmp_path, header(link=1 | 1 << 26) + record(FRAMES[0])) == [
        pcap.Frame(START * 10**9, FRAMES[0])
    ]


def test_on_the_wire():
    """A host's own frame gets padding and FCS; a frame with FCS keeps both, valid or not."""
    short = FRAMES[0]
    assert len(short) < 60
    assert pcap.Frame(0, short).on_wire() == with_fcs(short.ljust(60, b"\0"))
    assert pcap.Frame(0, FRAMES[2]).on_wire() == with_fcs(FRAMES[2])
    assert pcap.Frame(0, short, b"bad!").on_wire() == short + b"bad!"


def test_written_as_on_the_wire(tmp_path):
    frames = [
        pcap.Frame(START * 10**9 + 7, FRAMES[0]),
        pcap.Frame(2**32 * 10**9 - 1, FRAMES[1], b"1234"),
    ]
    pcap.write(tmp_path / "a", frames)
    assert [each.on_wire() for each in pcap.frames(tmp_path / "a")] == [
        each.on_wire() for each in frames
    ]
    assert [each.nanoseconds for each in pcap.frames(tmp_path / "a")] == [
        each.nanoseconds for each in frames
    ]
    read_by_scapy = list(RawPcapReader(str(tmp_path / "a")))
    assert [data for data, _ in read_by_scapy] == [each.on_wire() for each in frames]
    assert (read_by_scapy[0][1].sec, read_by_scapy[0][1].usec) == (START, 7)


# Rejected -----------------------------------------------------------------------------------------

GOOD = record(FRAMES[0]) + record(FRAMES[1])


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "is not a capture"),
        (b"GET / HTTP/1.0", "is not a capture"),
        (header()[:23], "ends inside its header, at octet 23"),
        (header()[:4], "ends inside its header, at octet 4"),
        (b"\x1f\x8b" + header(), "is compressed: gunzip < a.pcap > NEW"),
        (struct.pack("<I", 0xA1B2CD34) + header()[4:], "Kuznetzov"),
        (header() + GOOD + b"\0" * 15, "record 3 is truncated: the file ends inside it, at octet "),
        (header() + GOOD + record(FRAMES[2])[:-1], "record 3 is truncated"),
        (header() + GOOD + record(b""), "record 3 has 0 octets, and an Ethernet header has 14"),
        (header() + GOOD + record(b"x" * 13), "record 3 has 13 octets, and an Ethernet header has 14"),
        (header(link=0x24000001) + record(b"x" * 17), "an Ethernet header with FCS has 18"),
        (
            header() + GOOD + record(FRAMES[2][:54], length=242),
            "record 3 holds only the first 54 of 242",
        ),
        (header() + GOOD + record(b"", length=60), "record 3 holds only the first 0 of 60 octets"),
        (
            header() + GOOD + record(FRAMES[1], length=20),
            "record 3 holds 60 octets of a frame that had 20",
        ),
        (header() + GOOD + record(FRAMES[1], fraction=10**6), "record 3 has a time of"),
        (header(unit=1) + GOOD + record(FRAMES[1], fraction=10**9), "record 3 has a time of"),
        (header(link=113) + GOOD, "record 1 is of link type 113, not Ethernet"),
        (header(link=1 | 1 << 16) + GOOD, "record 1 is of link type 65537, not Ethernet"),
        (header(link=0x14000001) + GOOD, "record 1 has an FCS of 2 octets, Ethernet's has 4"),
    ],
)
def test_unusable_captures_are_rejected(tmp_path, content, says):
    with pytest.raises(LabError) as error:
        read(tmp_path, content)
    assert says in str(error.value)
    assert str(tmp_path / "a.pcap") in str(error.value) and "\n" not in str(error.value)


def test_rejected_before_anything_is_built(tmp_path, capsys):
    (tmp_path / "a.pcap").write_bytes(header() + GOOD[:-1])
    before = sorted(tmp_path.iterdir())
    status = cli.main(
        [
            "replay",
            "--variant",
            "napi",
            "--in0",
            str(tmp_path / "a.pcap"),
            "--out0",
            str(tmp_path / "0"),
            "--out1",
            str(tmp_path / "1"),
        ]
    )
    error = capsys.readouterr().err
    assert status == 1 and "record 2 is truncated" in error and len(error.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


# pcapng -------------------------------------------------------------------------------------------


def block(kind: int, body: bytes, order: str) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", len(body) + 12)
    return struct.pack(f"{order}I", kind) + length + body + length


def option(code: int, value: bytes, order: str) -> bytes:
    return struct.pack(f"{order}2H", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str) -> bytes:
    return block(0x0A0D0D0A, struct.pack(f"{order}I2Hq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(order: str, *options: bytes, link=1) -> bytes:
    return block(1, struct.pack(f"{order}2HI", link, 0, 0) + b"".join(options), order)


def packet(order: str, octets: bytes, ticks: int, *options: bytes, interface=0, length=None) -> bytes:
    head = struct.pack(
        f"{order}5I",
        interface,
        ticks >> 32,
        ticks & 0xFFFFFFFF,
        len(octets),
        len(octets) if length is None else length,
    )
    return block(6, head + octets + bytes(-len(octets) % 4) + b"".join(options), order)


def test_reads_pcapng_that_scapy_writes(tmp_path):
    file = tmp_path / "a.pcapng"
    with PcapNgWriter(str(file)) as writer:
        for number, frame in enumerate(FRAMES):
            item = Ether(frame)
            item.time = START + number
            writer.write(item)
    assert pcap.frames(file) == [
        pcap.Frame((START + number) * 10**9, frame) for number, frame in enumerate(FRAMES)
    ]


@pytest.mark.parametrize("order", "<>")
def test_times_of_pcapng(tmp_path, order):
    """Each interface has its own unit, a power of ten or two, and its own offset."""
    interfaces = [
        interface(order),
        interface(order, option(9, b"\x09", order)),
        interface(order, option(9, b"\x8a", order)),  # 2^-10 s
        interface(order, option(14, struct.pack(f"{order}q", START), order)),
    ]
    ticks = START * 10**6 + 1, START * 10**9 + 1, START * 1024 + 1, 1
    found = read(
        tmp_path,
        section(order)
        + b"".join(interfaces)
        + b"".join(
            packet(order, FRAMES[1], each, interface=number) for number, each in enumerate(ticks)
        ),
    )
    assert [each.nanoseconds - START * 10**9 for each in found] == [1000, 1, 10**9 // 1024, 1000]


@pytest.mark.parametrize("order", "<>")
def test_fcs_of_pcapng(tmp_path, order):
    """The interface declares its length, and a packet's flags another one."""
    four = option(2, struct.pack(f"{order}I", 4 << 5), order)
    found = read(
        tmp_path,
        section(order)
        + interface(order, option(13, b"\4", order))
        + interface(order)
        + packet(order, with_fcs(FRAMES[1]), 0)
        + packet(order, FRAMES[1], 0, interface=1)
        + packet(order, with_fcs(FRAMES[1]), 0, four, interface=1),
    )
    assert [each.octets for each in found] == [FRAMES[1]] * 3
    assert [len(each.fcs) for each in found] == [4, 0, 4]


def test_sections_have_interfaces_of_their_own(tmp_path):
    """Sections also have their own byte order."""
    found = read(
        tmp_path,
        section("<")
        + interface("<", link=113)
        + section(">")
        + interface(">")
        + packet(">", FRAMES[0], 5),
    )
    assert found == [pcap.Frame(5000, FRAMES[0])]


def test_other_blocks_are_skipped(tmp_path):
    assert read(
        tmp_path,
        section("<")
        + block(0xBAD, b"custom", "<")
        + interface("<")
        + packet("<", FRAMES[0], 5)
        + block(5, struct.pack("<3I", 0, 0, 0), "<"),
    ) == [pcap.Frame(5000, FRAMES[0])]


@pytest.mark.parametrize("order", "<>")
def test_text_that_is_not_utf_8(tmp_path, order):
    """Damaged options that the reader does not use do not matter either: the frames are read."""
    latin = "Gerät, größer".encode("latin-1")
    texts = [option(code, latin, order) for code in (1, 2, 3, 11, 12, 1, 2, 2988, 2988, 4000, 4000)]
    wrong = [option(code, b"x", order) for code in (4, 5, 6, 7, 8)]  # addresses and speeds of one octet
    names = struct.pack(f"{order}2H4s", 1, 4 + len(latin), b"\xc6\x12\0\2") + latin
    names += bytes(-len(names) % 4) + bytes(4)
    ours = [option(9, b"\x09", order), option(13, b"\4", order)]
    found = read(
        tmp_path,
        block(0x0A0D0D0A, struct.pack(f"{order}I2Hq", 0x1A2B3C4D, 1, 0, -1) + b"".join(texts[:3]), order)
        + interface(order, *texts, *wrong, *ours)
        + block(4, names, order)
        + packet(order, with_fcs(FRAMES[1]), 7, option(1, latin, order), option(4, b"x", order))
        + block(5, struct.pack(f"{order}3I", 9, 0, 0) + texts[0], order)
        + packet(order, with_fcs(FRAMES[2]), 8),
    )
    assert found == [
        pcap.Frame(7 + number, FRAMES[1 + number], with_fcs(FRAMES[1 + number])[-4:])
        for number in range(2)
    ]


@pytest.mark.parametrize("order", "<>")
def test_old_packet_blocks(tmp_path, order):
    head = struct.pack(f"{order}2H4I", 0, 0, 0, 7, len(FRAMES[1]) + 4, len(FRAMES[1]) + 4)
    flags = option(2, struct.pack(f"{order}I", 4 << 5), order)
    found = read(
        tmp_path, section(order) + interface(order) + block(2, head + with_fcs(FRAMES[1]) + flags, order)
    )
    assert found == [pcap.Frame(7000, FRAMES[1], with_fcs(FRAMES[1])[-4:])]


@pytest.mark.parametrize(
    "blocks, says",
    [
        (packet("<", FRAMES[1], 0, interface=1), "record 2 is damaged, or what describes it is"),
        (packet("<", FRAMES[1], 0, length=100), "record 2 holds only the first 60 of 100"),
        (
            interface("<", link=113) + packet("<", FRAMES[1], 0, interface=1),
            "record 2 is of link type 113",
        ),
        (packet("<", b"short", 0), "record 2 has 5 octets"),
        (packet("<", FRAMES[1], 2**63), "record 2 has a time of"),
        (
            interface("<", option(14, struct.pack("<q", -1), "<"))
            + packet("<", FRAMES[1], 0, interface=1),
            "record 2 has a time of -1000000000 ns",
        ),
        (block(3, struct.pack("<I", 60) + FRAMES[1], "<"), "record 2 has no time"),
        (packet("<", FRAMES[1], 0)[:-1], "record 2 is truncated"),
        (packet("<", FRAMES[1], 0)[:-4] + b"\0\0\0\0", "record 2 is damaged"),
    ],
)
def test_unusable_pcapng_is_rejected(tmp_path, blocks, says):
    with pytest.raises(LabError) as error:
        read(tmp_path, section("<") + interface("<") + packet("<", FRAMES[0], 5) + blocks)
    assert says in str(error.value)


# Damage -------------------------------------------------------------------------------------------

FILES = {
    "pcap": header() + GOOD + record(FRAMES[2]),
    "pcapng": section("<")
    + interface("<", option(9, b"\x09", "<"))
    + b"".join(packet("<", frame, number) for number, frame in enumerate(FRAMES)),
}


@pytest.mark.parametrize("name", FILES)
def test_truncated_files_are_rejected(tmp_path, name):
    """The reader rejects a truncated file, unless the cut is between two records."""
    content = FILES[name]
    whole = 0
    for size in range(len(content) + 1):
        try:
            frames = read(tmp_path, content[:size])
        except LabError:
            continue
        whole += 1
        assert [each.octets for each in frames] == FRAMES[: len(frames)]
    assert whole == len(FRAMES) + (1 if name == "pcap" else 2)  # other blocks: one or two


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_rejected_or_read(tmp_path, name):
    """No exception of a library reaches the user."""
    chance = random.Random(1)
    for _ in range(400):
        content = bytearray(FILES[name])
        for _ in range(chance.choice((1, 2, 8))):
            content[chance.randrange(len(content))] = chance.choice(
                (0, 1, 0x7F, 0xFF, chance.randrange(256))
            )
        try:
            frames = read(tmp_path, bytes(content))
        except LabError as error:
            assert "\n" not in str(error) and not re.search(r"Error|Exception|\w\('", str(error))
        else:
            pcap.write(tmp_path / "played", frames)
            assert pcap.read(tmp_path / "played") == [
                (frame.nanoseconds, frame.on_wire()[:-4]) for frame in frames
            ]
