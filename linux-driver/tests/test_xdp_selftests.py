# SPDX-License-Identifier: BSD-2-Clause
"""XDP programs of the kernel's tools/testing/selftests/bpf, from Debian's source, at eth0 in the
simulated SoC. The kernel runs them at veth or without an interface. They change frames in the same way
here.
"""

from pathlib import Path

import pytest
from guests import complaints, replay
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from test_xdp import GUEST, KERNEL, TESTER, counts

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.show.errors import LabError
from moderato.soc.linux import kernel, userspace
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact, run

pytestmark = pytest.mark.slow

SHIM = Path(__file__).parent / "selftests"
FOLDER = f"{kernel.PACKAGE}/tools/testing/selftests/bpf/progs"
NAMES = (
    "xdp_dummy",
    "xdp_tx",
    "test_xdp_adjust_tail_grow",
    "test_xdp_adjust_tail_shrink",
    "test_xdp_vlan",
)
TESTVLAN = 4011  # as in test_xdp_vlan.c
LEAST = 60  # octets of a frame without FCS


def programs() -> Path:
    """A folder with the compiled programs."""

    def build(folder: Path):
        run(
            [
                "tar",
                "-x",
                "-f",
                kernel.TARBALLS / f"{kernel.PACKAGE}.tar.xz",
                "-C",
                folder,
                f"--strip-components={FOLDER.count('/') + 1}",
                *(f"{FOLDER}/{name}.c" for name in NAMES),
            ]
        )
        for name in NAMES:
            userspace.compile_bpf(folder / f"{name}.c", folder / f"{name}.o", SHIM)

    return artifact(
        "selftests-xdp",
        [
            debian.version(kernel.PACKAGE),
            *userspace.bpf_compiler(),
            *sorted((SHIM / "bpf").iterdir()),
            *NAMES,
        ],
        build,
        "half a minute",
    )


@pytest.fixture(scope="module")
def guest():
    with state.loaded(machine(system=System(kernel=KERNEL)), True).open() as session:
        yield session
        assert complaints(session) == []


def attach(guest, tmp_path: Path, name: str, section: str = "xdp"):
    """Load the program of a section of one of the files. The guest's loader takes the section `xdp`."""
    content, said = (programs() / f"{name}.o").read_bytes(), f"\0{section}\0".encode()
    assert content.count(said) == 1
    file = tmp_path / "program"
    file.write_bytes(content.replace(said, b"\0xdp\0".ljust(len(said), b"\0")))
    guest.call("mailbox", file=str(file), address=machine(system=System(kernel=KERNEL)).mailbox)
    guest.check("mailbox > /tmp/program; xdp /tmp/program eth0")


def ping(serial: int, octets: int, *tags: int) -> Ether:
    """An echo request of this length to the guest, with VLAN tags."""
    frame = Ether(dst=GUEST, src=TESTER)
    for tag in tags:
        frame /= Dot1Q(vlan=tag)
    frame /= IP(src="198.18.0.2", dst="198.18.0.1") / ICMP(type=8, id=1, seq=serial)
    return frame / Raw(bytes(n % 251 for n in range(octets - len(frame))))


def answered(frames: list[bytes]) -> list[int]:
    """The requests that the guest answers, of these frames."""
    replies = [Ether(frame) for frame in frames]
    return [frame[ICMP].seq for frame in replies if ICMP in frame and frame[ICMP].type == 0]


def news(guest, before: dict[str, int]) -> dict[str, int]:
    """The changes of eth0's counters since then."""
    return {
        name.removeprefix("rx_xdp_"): value - before[name]
        for name, value in counts(guest, "eth0").items()
        if value != before[name]
    }


def test_dummy(guest, tmp_path):
    attach(guest, tmp_path, "xdp_dummy")
    before = counts(guest, "eth0")
    here, _ = replay(guest, tmp_path, [ping(serial, 60 + serial) for serial in range(8)])
    assert answered(here) == [*range(8)]
    assert news(guest, before) == {"pass": 8}


def test_tx(guest, tmp_path):
    attach(guest, tmp_path, "xdp_tx")
    before, frames = counts(guest, "eth0"), [ping(0, octets) for octets in (60, 61, 128, 1514)]
    here, _ = replay(guest, tmp_path, frames)
    assert here == [bytes(frame) for frame in frames]
    assert news(guest, before) == {"tx": 4}


def test_adjust_tail(guest, tmp_path):
    """Appended octets are 0. The driver drops a frame with too many, and the test has no other
    lengths."""
    attach(guest, tmp_path, "test_xdp_adjust_tail_grow")
    before, frames = counts(guest, "eth0"), [ping(0, octets) for octets in (64, 74, 128, 99)]
    here, _ = replay(guest, tmp_path, frames)
    assert here == [bytes(frames[0]) + bytes(128), bytes(frames[1]) + bytes(40)]
    assert news(guest, before) == {"tx": 2, "drop": 1, "errors": 1}

    attach(guest, tmp_path, "test_xdp_adjust_tail_shrink")
    before, frames = counts(guest, "eth0"), [ping(0, octets) for octets in (60, 100, 1514)]
    here, _ = replay(guest, tmp_path, frames)
    assert [frame[: max(len(asked) - 20, 40)] for frame, asked in zip(here, frames, strict=True)] == [
        bytes(asked)[:-20] for asked in frames
    ]
    assert [len(frame) for frame in here] == [max(len(asked) - 20, LEAST) for asked in frames]
    assert news(guest, before) == {"tx": 3}


@pytest.mark.parametrize(
    "section, aborted, heard",
    [
        ("xdp_drop_vlan_4011", 2, [0]),
        ("xdp_vlan_change", 0, [0, 1]),  # to VLAN 0, which is none
        ("xdp_vlan_remove_outer", 0, [0, 1]),
    ],
)
def test_vlan(guest, tmp_path, section, aborted, heard):
    """Frames without a tag, with the program's tag, and with another tag after it."""
    attach(guest, tmp_path, "test_xdp_vlan", section)
    before = counts(guest, "eth0")
    frames = [ping(0, 64), ping(1, 68, TESTVLAN), ping(2, 72, TESTVLAN, 5)]
    here, _ = replay(guest, tmp_path, frames)
    assert answered(here) == heard
    counted = {"pass": len(frames) - aborted, "errors": aborted}
    assert news(guest, before) == {name: value for name, value in counted.items() if value}


def test_rejects_unaligned_words(guest, tmp_path):
    """The kernel rejects a program that moves unaligned words, which this CPU cannot. A frame begins 2
    octets after the start of a word, so that the IP header is aligned."""
    with pytest.raises(LabError, match="misaligned packet access"):
        attach(guest, tmp_path, "test_xdp_vlan", "xdp_vlan_remove_outer2")
