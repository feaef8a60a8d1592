# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's own tools/testing/selftests, of net and drivers/net, at eth0 in the simulated SoC.

A program's sender runs in the guest. This test is the reflecting peer: the sent frames enter again with
exchanged addresses, and the same program's receiver checks them. Python scripts run here
(selftests_here.py).
"""

import re
import struct
from pathlib import Path

import pytest
import selftests_here
from guests import complaints
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap, wrpcap

from moderato.sim.lab.captures import pcap
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import QUEUES, System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux import kernel, userspace
from moderato.toolchain import debian
from moderato.toolchain.cache import artifact, run

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PROGRAMS = {"csum": "net/lib/csum.c"}
GUEST, TESTER = "198.18.0.1", "198.18.0.2"
GUEST_MAC, TESTER_MAC = "02:4d:6f:64:00:00", "02:54:73:74:00:00"
COUNT = 20
FOREIGN = bytes.fromhex("0200000000ff02000000000088b5") + bytes(46)  # to nobody
READY_US = 200_000  # until a started receiver has its sockets


def programs() -> Path:
    """A folder with the selftests of Debian's kernel source, compiled."""
    tools, shim = userspace.toolchain(), HERE / "selftests"

    def build(folder: Path):
        root = f"{kernel.PACKAGE}/tools/testing/selftests"
        run(
            [
                "tar",
                "-x",
                "-f",
                kernel.TARBALLS / f"{kernel.PACKAGE}.tar.xz",
                "-C",
                folder,
                "--strip-components=4",
                f"{root}/kselftest.h",
                *(f"{root}/{source}" for source in PROGRAMS.values()),
            ]
        )
        for name, source in PROGRAMS.items():
            # musl's header has to come before the kernel's, which then defines nothing again.
            run(
                [
                    tools.cc,
                    "-O2",
                    "-s",
                    "-w",
                    "-D_GNU_SOURCE",
                    "-include",
                    "netinet/if_ether.h",
                    "-I",
                    shim,
                    "-I",
                    folder,
                    "-o",
                    folder / name,
                    folder / source,
                ]
            )

    return artifact(
        "selftests",
        [debian.version(kernel.PACKAGE), tools.root.name, shim, *PROGRAMS.values()],
        build,
        "half a minute",
    )


@pytest.fixture(scope="module")
def guest():
    m = machine()
    with state.loaded(m, True).open() as session:
        for name in PROGRAMS:
            session.call("mailbox", file=str(programs() / name), address=m.mailbox)
            session.check(f"mailbox > /tmp/{name}; chmod +x /tmp/{name}")
        session.check(f"ip neigh replace {TESTER} lladdr {TESTER_MAC} dev eth0 nud permanent")
        yield session
        assert complaints(session) == []


def wrote(file: Path, frames: list[bytes]) -> Path:
    """A capture of one frame without a receiver, and, once a receiver is ready, of these frames, 200 us
    apart."""
    records = (
        struct.pack("<4I", 0, at, len(frame), len(frame)) + frame
        for at, frame in [(0, FOREIGN), *((READY_US + 200 * n, frame) for n, frame in enumerate(frames))]
    )
    file.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(records))
    return file


def during(guest, tmp_path: Path, command: str, inward: list[bytes] = ()) -> list[bytes]:
    """The IPv4 frames that left port 0 during a command, which must succeed. Meanwhile, `frames`
    entered."""
    into, out = wrote(tmp_path / "in.pcap", inward), tmp_path / "out.pcap"
    guest.check(
        f"rm -f /tmp/log /tmp/status; (sleep 0.05; /tmp/{command} > /tmp/log 2>&1; "
        "echo $? > /tmp/status) &"
    )
    guest.call(
        "replay",
        **{"in": [str(into), None]},
        out=[str(out), str(tmp_path / "1.pcap")],
        quiet_cycles=20_000_000,
        max_cycles=400_000_000,
    )
    status, said = guest.type(
        "while [ ! -s /tmp/status ]; do sleep 0.1; done; cat /tmp/log; (exit $(cat /tmp/status))"
    )
    assert status == 0, said
    return [frame for _, frame in pcap.read(out) if frame[12:14] == b"\x08\x00"]


def reflected(frame: bytes) -> bytes:
    """The frame as its receiver would return it. The sum of the addresses stays, so each checksum
    does."""
    return (
        bytes.fromhex(GUEST_MAC.replace(":", "") + TESTER_MAC.replace(":", ""))
        + frame[12:26]
        + frame[30:34]
        + frame[26:30]
        + frame[34:]
    )


@pytest.mark.parametrize(
    "options, receiver",
    [
        ("-U", ""),  # a UDP socket
        ("-U -r 7", ""),  # lengths, headers and payload at random
        ("-U -Z", "-Z -U"),  # 0xffff in the place of a checksum that is 0
    ],
)
def test_csum(guest, tmp_path, options, receiver):
    """Checksums of sent frames, and of received ones."""
    there = f"-4 -n {COUNT} -T -S {GUEST} -D {TESTER}"
    frames = during(guest, tmp_path, f"csum {there} {options}")
    assert len(frames) == COUNT
    back = f"-4 -n {COUNT} -R -L 1 -S {TESTER} -D {GUEST}"
    during(guest, tmp_path, f"csum {back} {receiver}", [reflected(frame) for frame in frames])


# Scripts ------------------------------------------------------------------------------------------

ENVIRONMENT = {
    "NETIF": "eth0",
    "LOCAL_V4": GUEST,
    "REMOTE_V4": TESTER,
    "REMOTE_TYPE": "tester",
    "REMOTE_ARGS": "none",
}


@pytest.fixture(scope="module")
def queues(tmp_path_factory):
    """A guest with all options and two harts: a queue for each."""
    m = machine(system=System(nic=OFFLOAD, harts=2, spread=QUEUES))
    with state.loaded(m, True).open() as session:
        yield selftests_here.Guest(session, m.mailbox, tmp_path_factory.mktemp("relay"))
        assert complaints(session) == []


def pings(guest, folder: Path, command: str) -> tuple[int, str]:
    """The tester's `ping` of the guest, its only command."""
    if command.split()[0] != "ping":
        return 127, f"{command}: not found"
    request = Ether(dst=GUEST_MAC, src=TESTER_MAC) / IP(src=TESTER, dst=GUEST) / ICMP() / bytes(56)
    files = [folder / f"{name}.pcap" for name in ("in", "0", "1")]
    wrpcap(str(files[0]), [request])
    guest.session.call(
        "replay",
        **{"in": [str(files[0]), None]},
        out=[str(file) for file in files[1:]],
        quiet_cycles=5_000_000,
        max_cycles=50_000_000,
    )
    came = any(frame.haslayer(ICMP) and frame[ICMP].type == 0 for frame in rdpcap(str(files[1])))
    return 0 if came else 1, ""


@pytest.mark.parametrize(
    "name, passes, else_",
    [
        (
            "stats.py",
            {"check_pause", "pkt_byte_sum", "qstat_by_ifindex", "check_down"},
            {"check_fec": "XFAIL FEC not supported by the device"},
        ),
        ("queues.py", {"get_queues", "addremove_queues"}, {}),
        (
            "ping.py",
            {"test_v4"},
            {
                "test_v6": "SKIP Test requires IPv6 connectivity",
                "test_tcp": "SKIP Test requires command: socat",
            },
        ),
    ],
)
def test_script(queues, tmp_path, name, passes, else_):
    """Each case passes, or reports that there is nothing to test."""
    peer = selftests_here.remote(lambda command: pings(queues, tmp_path, command))
    passed, report = selftests_here.run(queues, kernel.source(), name, ENVIRONMENT, peer)
    found = dict(re.findall(r"^(?:not )?ok \d+ \w+\.(\w+)(?: # (.*))?$", report, re.M))
    assert passed and found == dict.fromkeys(passes, "") | else_, report
