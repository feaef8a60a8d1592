# SPDX-License-Identifier: BSD-2-Clause
"""AF_XDP in the simulated SoC, with copies and zero-copy. Sockets of xsk.c receive and send frames,
correct in each octet. With zero-copy, no chunk is lost while rings and sockets change.
"""

from pathlib import Path

import modified
import pytest
from guests import collect, complaints, offer, replay
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from test_xdp import KERNEL, STUCK_WITH_ALLMULTI, bring, check_each_verdict, memory

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
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
    """Start xsk with these words in the background, and wait until it has its socket."""
    guest.check(f"(/tmp/xsk {words} > /tmp/said 2>&1 & echo $! > /tmp/pid); sleep 0.05")


def said_of(guest) -> dict[str, str]:
    words = guest.check("cat /tmp/said").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def end(guest) -> dict[str, str]:
    """End xsk; return its output."""
    guest.check("kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do sleep 0.01; done")
    return said_of(guest)


def ours(left: list[bytes]) -> list[bytes]:
    """The frames that left a port, of those below."""
    return [frame for frame in left if frame[12:14] == b"\x88\xb5"]


def frames(count: int) -> list[Ether]:
    """Frames of all lengths and contents, to any address: programs also get frames that no stack
    accepts."""
    return [
        Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00", type=0x88B5)
        / Raw(bytes((7 * n + octet) % 256 for octet in range(LENGTHS[n % len(LENGTHS)] - 14)))
        for n in range(count)
    ]


def generated(count: int) -> list[bytes]:
    """The frames of `xsk … FRAMES`, as on the wire."""
    return [
        bytes((n + octet) % 256 for octet in range(14 + n % 1501)).ljust(60, b"\0") for n in range(count)
    ]


def test_socket_programs_compile():
    """Both compile without a warning: the application for the guest, and the program for its kernel."""
    owner = userspace.compiled("xsk", HERE / "xsk.c", userspace.toolchain())
    assert owner.read_bytes()[:4] == b"\x7fELF"
    assert b"sockets" in userspace.xdp_program(HERE / "sockets.bpf.c").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["copy", "zero"])
def test_echo_and_generator(guest, tmp_path, mode):
    """Each octet of each frame, in both directions."""
    copies = "yes" if mode == "copy" else "no"
    guest.check(f"xdp {bring(guest, 'sockets')} eth0")
    begin(guest, f"{mode} echo eth0")
    offered = frames(300)
    here, there = replay(guest, tmp_path, offered)
    assert ours(here) == list(map(bytes, offered))
    assert there == []
    said = end(guest)
    assert said["copies"] == copies and said["dropped"] == "0"
    assert int(said["received"]) >= 300 and said["sent"] == said["received"]

    # A ring has room for fewer frames than are requested at once: the driver continues by itself.
    guest.check(f"(sleep 0.02; /tmp/xsk {mode} send eth0 512 1600 > /tmp/said) & true")
    here, _ = replay(guest, tmp_path, frames(1))
    expected = generated(1600)
    among = set(expected)
    assert [frame for frame in here if frame in among] == expected
    assert said_of(guest)["sent"] == "1600" and said_of(guest)["copies"] == copies
    guest.check("xdp off eth0; ip link set eth0 down; ip link set eth1 down; rmmod moderato")
    assert complaints(guest) == []


def assert_has_all(guest, tmp_path, chunks: int):
    """The application returns frames, and has this many chunks. While it is stopped, frames fill all
    chunks, and further frames are lost. Afterwards all chunks are in use again."""
    guest.check("kill -USR1 $(cat /tmp/pid); sleep 0.01")
    more = frames(chunks + 30)
    here, _ = replay(guest, tmp_path, more)
    assert ours(here) == []
    guest.check("(sleep 0.03; kill -USR1 $(cat /tmp/pid)) & true")
    here, _ = replay(guest, tmp_path, frames(1))
    assert ours(here) == list(map(bytes, more[:chunks]))
    here, _ = replay(guest, tmp_path, frames(chunks))
    assert ours(here) == [bytes(frame) for frame in frames(chunks)]


@pytest.mark.slow
def test_drops_frames_without_chunks(guest, tmp_path):
    """The application supplies no chunks for a while, and frames without a buffer are lost. When it
    supplies chunks again, the kernel asks for a wakeup, and frames pass. With fewer chunks than the ring
    has slots, and with more. Also with an application without wakeups, for which the driver keeps
    polling."""
    for mode, chunks in (("zero", 1), ("zero", 16), ("zero", 300), ("deaf", 16)):
        guest.check(f"xdp {bring(guest, 'sockets')} eth0")
        begin(guest, f"{mode} echo eth0 {chunks}")
        if chunks > 1:
            for _ in range(2):
                assert_has_all(guest, tmp_path, chunks)
        else:
            here, _ = replay(guest, tmp_path, frames(1))
            assert ours(here) == [bytes(frame) for frame in frames(1)]
        end(guest)
        guest.check("xdp off eth0")
    assert complaints(guest) == []


@pytest.mark.slow
def test_each_verdict_next_to_a_socket(guest, tmp_path):
    """All verdicts work on frames in a socket's memory."""
    begin(guest, "zero drop eth0 100")
    check_each_verdict(guest, tmp_path)
    said = end(guest)
    assert said["received"] == "0" and said["copies"] == "no"
    guest.check("xdp off eth0 eth1; ip link set eth0 down; ip link set eth1 down; rmmod moderato")


@pytest.mark.slow
def test_sockets_and_rings_come_and_go(guest, tmp_path):
    """Under load, sockets are opened and closed, with their program and without. Rings are swapped, and
    the interface goes down and up. In the end, the last socket has all its chunks."""
    program = f"xdp {bring(guest, 'sockets')} eth0"
    rings = (
        "ethtool -G eth0 rx 64 tx 64",
        "ip link set eth0 down",
        "ip link set eth0 up",
        "ip link set eth0 mtu 1400",
        "ethtool -G eth0 rx 256 tx 256",
        "ip link set eth0 mtu 1500",
    )

    def one(*steps):
        begin(guest, "zero drop eth0 200")
        for step in steps:
            guest.check(step)
        assert end(guest)["copies"] == "no"

    guest.check(program)
    offer(guest, 150)
    one(program, "xdp off eth0", program)
    one(*rings)
    one("xdp off eth0")
    guest.check(program)
    begin(guest, "zero echo eth0 200")
    for step in rings:
        guest.check(step)
    collect(guest)
    assert_has_all(guest, tmp_path, 200)
    said = end(guest)
    assert said["posted"] == said["sent"] == said["received"]
    guest.check("xdp off eth0; ip link set eth0 down; ip link set eth1 down; rmmod moderato")
    assert complaints(guest) == []


@pytest.mark.slow
def test_sockets_leak_no_memory(guest):
    """Opening and closing sockets while rings change leaks no memory."""
    guest.check(f"xdp {bring(guest, 'sockets')} eth0")
    turn = (
        "/tmp/xsk zero drop eth0 200 > /tmp/said & sleep 0.02; ethtool -G eth0 rx 64; "
        "ethtool -G eth0 rx 256; kill $!; wait $!"
    )
    guest.check(turn)
    free = memory(guest)
    guest.check(f"for turn in 1 2 3 4 5 6 7 8 9 10; do {turn}; done")
    assert said_of(guest)["copies"] == "no"
    # KiB; a ring has 1024, a socket 400, which may be freed late
    assert free - memory(guest) < 64
    assert complaints(guest) == []


@pytest.mark.slow
def test_completes_all_posted_frames(guest, tmp_path):
    """Also frames that a ring has not sent when it goes down or is swapped. Frames requested before the
    next ring is up leave by that ring, without another request."""
    guest.check(f"xdp {bring(guest, 'sockets')} eth0")
    begin(guest, "zero send eth0 1024 6000")
    for change in (
        "ip link set eth0 down; ip link set eth0 up",
        "ethtool -G eth0 rx 64 tx 64",
        "ip link set eth0 down; sleep 0.1; ip link set eth0 up",
        "ethtool -G eth0 rx 256 tx 256",
    ):
        guest.check(f"sleep 0.01; {change}; kill -0 $(cat /tmp/pid)")
    guest.check("while kill -0 $(cat /tmp/pid) 2>/dev/null; do sleep 0.01; done")
    said = said_of(guest)
    assert said["posted"] == said["sent"] == "6000"

    # The application ends while the ring is full of its frames, and the next one starts.
    begin(guest, "zero send eth0 1024 6000")
    guest.check("sleep 0.02; kill -9 $(cat /tmp/pid)")
    begin(guest, "zero echo eth0 64")
    assert_has_all(guest, tmp_path, 64)
    end(guest)
    assert complaints(guest) == []


@pytest.mark.slow
def test_rejects_unsuitable_settings(guest):
    """The log has the reason, and a socket with copies still works. While a zero-copy socket is bound,
    the driver rejects unsuitable settings."""
    sockets, flags = bring(guest, "sockets"), "ethtool --set-priv-flags eth0"
    for unsuited, suited, why in (
        (f"{flags} tx-reclaim-on-xmit on", f"{flags} tx-reclaim-on-xmit off", "on-xmit off"),
        (f"{flags} rx-napi off", f"{flags} rx-napi on", "rx-napi on"),
        (f"{flags} tx-napi off", f"{flags} tx-napi on", "tx-napi on"),
        # With a larger MTU, Linux itself rejects the socket.
        ("ip link set eth0 mtu 1764", "ip link set eth0 mtu 1500", "ip link set mtu 1500"),
    ):
        guest.check(f"{unsuited}; dmesg -c > /dev/null")
        status, said = guest.type("/tmp/xsk zero drop eth0 2>&1")
        assert status != 0 and "Not supported" in said
        assert why in guest.check("dmesg")
        guest.check(suited)
    for mode, why in ("unaligned", "aligned chunks"), ("odd", "a headroom of words of 8 octets"):
        status, said = guest.type(f"/tmp/xsk {mode} drop eth0 2>&1")
        assert status != 0 and "Not supported" in said
        assert f"zero copy needs {why}" in guest.check("dmesg -c")
    guest.check(f"xdp {sockets} eth0")
    status, said = guest.type("/tmp/xsk zero drop eth0:1 2>&1")
    assert status != 0 and "Invalid argument" in said
    begin(guest, "zero drop eth0")
    for unsuited, why in (
        (f"{flags} tx-reclaim-on-xmit on", "tx-reclaim-on-xmit off"),
        (f"{flags} rx-napi off", "rx-napi on"),
        ("ip link set eth0 mtu 1761", "ip link set mtu 1500"),
    ):
        assert guest.type(unsuited)[0] != 0, unsuited
        assert f"{why}, or detach the program" in guest.check("dmesg -c")
    guest.check("ip link set eth0 mtu 1760; ip link set eth0 mtu 1500")
    # Polls with a timer are supported.
    guest.check(f"{flags} rx-timer on; {flags} rx-timer off")
    assert end(guest)["copies"] == "no"
    guest.check(f"{flags} tx-reclaim-on-xmit on; {flags} tx-reclaim-on-xmit off")
    assert complaints(guest) == []


@pytest.mark.slow
def test_socket_on_second_queue(tmp_path):
    """A socket on the second queue, on hardware with more options for sent frames. Linux gets the frames
    of the first queue. While the socket is bound, the driver rejects a smaller number of queues."""
    m = machine(system=System(nic=OFFLOAD, kernel=KERNEL))
    with state.loaded(m, True).open() as guest:
        guest.mailbox = m.mailbox
        put(guest, m.mailbox)
        guest.check("ethtool -L eth0 combined 2; ethtool -X eth0 weight 0 1")
        guest.check(f"xdp {bring(guest, 'sockets')} eth0")
        begin(guest, "zero echo eth0:1 100")
        offered = [
            bytes(
                Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00")
                / IP(src="198.18.0.2", dst="198.18.0.1")
                / UDP(sport=n, dport=9)
                / Raw(bytes(n))
            )
            for n in range(1, 91)
        ]
        here, _ = replay(guest, tmp_path, list(map(Ether, offered)))
        among = {frame.ljust(60, b"\0") for frame in offered}
        assert [frame for frame in here if frame in among] == [
            frame.ljust(60, b"\0") for frame in offered
        ]
        assert "Invalid argument" in guest.type("ethtool -L eth0 combined 1 2>&1")[1]
        guest.check("ethtool -G eth0 rx 64 tx 64; ethtool -X eth0 weight 1 0")
        assert end(guest)["copies"] == "no"
        guest.check("sleep 0.1; ethtool -L eth0 combined 1")
        guest.check("xdp off eth0; ip link set eth0 down; ip link set eth1 down; rmmod moderato")
        assert complaints(guest) == []


@pytest.mark.slow
def test_dma_that_does_not_stop(tmp_path):
    """A socket can still be closed, and the driver removed."""
    system = System(kernel=KERNEL)
    with modified.guest(tmp_path, STUCK_WITH_ALLMULTI, system=system) as guest:
        guest.mailbox = machine(system=system).mailbox
        put(guest, guest.mailbox)
        guest.check(f"xdp {bring(guest, 'sockets')} eth0")
        begin(guest, "zero drop eth0")
        guest.check("dmesg -n 1")  # not on the console, between the application's output
        guest.check("ip link set eth0 allmulticast on")
        end(guest)
        # A work detaches the socket's memory; the driver waits 150 ms for each direction.
        log = guest.check("sleep 0.4; dmesg")
        assert log.count("DMA does not stop") == 2 and log.count("out of order") == 1
        guest.check("ip link set eth0 down; ip link set eth1 down; rmmod moderato")
        assert complaints(guest) == []


@pytest.mark.slow
def test_zero_copy_is_faster_than_copy(guest, tmp_path):
    """The smallest frames at the line rate, one every 672 cycles: more than the application can take
    with copies. docs/fast-path.md has the received frames, and the cycles from one to the next."""
    guest.check(f"xdp {bring(guest, 'sockets')} eth0")
    cycles = {}
    for mode in ("copy", "zero"):
        begin(guest, f"{mode} drop eth0")
        replay(guest, tmp_path, 3000 * frames(1), quiet_cycles=1_000_000)
        said = end(guest)
        cycles[mode] = round(100 * int(said["usecs"]) / int(said["timed"]))
        print(mode, said["received"], cycles[mode])
    assert cycles["zero"] < cycles["copy"]
