# SPDX-License-Identifier: BSD-2-Clause
"""AF_XDP in the simulated SoC: a socket of xsk.c gets each frame and sends it back, octet by octet."""

from pathlib import Path

import pytest
from guests import complaints, replay
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from test_xdp import KERNEL, bring

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.soc.linux import userspace

HERE = Path(__file__).parent
LENGTHS = (60, 61, 62, 63, 64, 65, 127, 128, 300, 1000, 1513, 1514)


def put(guest, mailbox: int):
    """xsk.c in the guest."""
    program = userspace.compiled("xsk", HERE / "xsk.c", userspace.toolchain())
    guest.call("mailbox", file=str(program), address=mailbox)
    guest.check("mailbox > /tmp/xsk; chmod +x /tmp/xsk")


@pytest.fixture
def guest():
    m = machine(system=System(kernel=KERNEL))
    with state.loaded(m, True).open() as session:
        session.mailbox = m.mailbox
        put(session, m.mailbox)
        yield session


def begin(guest, words: str):
    """xsk with these words, behind the shell; it has its socket when this returns."""
    guest.check(f"(/tmp/xsk {words} > /tmp/said 2>&1 & echo $! > /tmp/pid); sleep 0.05")


def end(guest) -> dict[str, str]:
    """What it says when it is told to end."""
    guest.check("kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do sleep 0.01; done")
    words = guest.check("cat /tmp/said").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def frames(count: int) -> list[Ether]:
    """Of all lengths and contents, to whomever: programs see what no stack would take."""
    return [Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00", type=0x88B5)
            / Raw(bytes((7 * n + octet) % 256 for octet in range(LENGTHS[n % len(LENGTHS)] - 14)))
            for n in range(count)]


def generated(count: int) -> list[bytes]:
    """What `xsk … FRAMES` sends, as it is on the wire."""
    return [bytes((n + octet) % 256 for octet in range(14 + n % 1501)).ljust(60, b"\0")
            for n in range(count)]


def test_what_sends_and_receives_compiles():
    """Without a warning: the socket's owner for the guest, the program for its kernel."""
    owner = userspace.compiled("xsk", HERE / "xsk.c", userspace.toolchain())
    assert owner.read_bytes()[:4] == b"\x7fELF"
    assert b"sockets" in userspace.xdp_program(HERE / "sockets.bpf.c").read_bytes()


@pytest.mark.slow
def test_with_copies(guest, tmp_path):
    """As any driver has them that has XDP: no word of it is in ours."""
    guest.check(f"xdp {bring(guest, 'sockets')} eth0")
    begin(guest, "copy eth0")
    offered = frames(300)
    here, there = replay(guest, tmp_path, offered)
    assert [frame for frame in here if frame[12:14] == b"\x88\xb5"] == list(map(bytes, offered))
    assert there == []
    said = end(guest)
    assert said["copies"] == "yes" and said["dropped"] == "0"
    assert int(said["received"]) >= 300 and said["sent"] == said["received"]
    guest.check("xdp off eth0")

    guest.check("(sleep 0.02; /tmp/xsk copy eth0 512 1600 > /tmp/said) & true")
    here, _ = replay(guest, tmp_path, frames(1))
    assert [frame for frame in here if frame in set(generated(1600))] == generated(1600)
    assert guest.check("cat /tmp/said").startswith("received 0 sent 1600 copies yes")
    assert complaints(guest) == []
