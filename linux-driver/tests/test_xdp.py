# SPDX-License-Identifier: BSD-2-Clause
"""XDP in the simulated SoC. The driver executes and counts a program's verdict on each frame, without
other effects. It rejects unsuitable settings with a reason. Programs are attached and detached under
load.
"""

import re
from pathlib import Path

import modified
import pytest
from guests import collect, complaints, offer, replay, statistics
from scapy.layers.inet import ICMP, IP, UDP, IPerror
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from test_failing_dma import CTRL, ENABLES

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux import kernel, userspace

HERE = Path(__file__).parent
PORTS = "eth0 eth1"
GUEST, TESTER = "02:4d:6f:64:00:00", "02:54:73:74:00:00"
ABORTED, DROP, PASS, TX, REDIRECT, SEND_LONGER, UNKNOWN = 0, 1, 2, 3, 4, 10, 77
LONGER = 216  # octets, as in verdicts.bpf.c
NO_COUNT = {
    "rx_xdp_pass": 0,
    "rx_xdp_drop": 0,
    "rx_xdp_tx": 0,
    "rx_xdp_tx_errors": 0,
    "rx_xdp_redirect": 0,
    "rx_xdp_errors": 0,
    "tx_xdp_xmit": 0,
    "tx_xdp_xmit_errors": 0,
}


KERNEL = kernel.Choice(kernel.XDP)
# From then on, the driver never sees the direction idle.
STUCK_WITH_ALLMULTI = (
    "moderato_hw.c",
    "(status & idle) == idle",
    "(status & idle) == idle && !(priv->ndev->flags & IFF_ALLMULTI)",
)


@pytest.fixture
def guest():
    m = machine(system=System(kernel=KERNEL))
    with state.loaded(m, True).open() as session:
        session.mailbox = m.mailbox
        yield session


def bring(guest, name: str) -> str:
    """Copy a program of this folder into the guest; return its path."""
    program = userspace.xdp_program(HERE / f"{name}.bpf.c")
    guest.call("mailbox", file=str(program), address=guest.mailbox)
    guest.check(f"mailbox > /tmp/{program.name}")
    return f"/tmp/{program.name}"


def counts(guest, interface: str) -> dict[str, int]:
    return {name: value for name, value in statistics(guest, interface).items() if "_xdp_" in name}


def echo(serial: int, verdict: int, port: int, octets: int) -> Ether:
    """A request to the guest with a verdict in its content."""
    content = bytes([verdict, port]) + bytes((serial + n) % 251 for n in range(octets))
    return (
        Ether(dst=GUEST, src=TESTER)
        / IP(src="198.18.0.2", dst="198.18.0.1")
        / ICMP(type=8, id=1, seq=serial)
        / Raw(content)
    )


def padded(frame: bytes) -> bytes:
    return frame.ljust(60, b"\0")


def test_each_verdict(guest, tmp_path):
    """Frames of many lengths with all verdicts, mixed. Checks each octet of the leaving frames, and each
    counter."""
    check_each_verdict(guest, tmp_path)


def check_each_verdict(guest, tmp_path):
    guest.check(f"xdp {bring(guest, 'verdicts')} {PORTS}")
    other = int(guest.check("cat /sys/class/net/eth1/ifindex"))
    kinds = [
        (DROP, 0),
        (TX, 0),
        (PASS, 0),
        (REDIRECT, other),
        (SEND_LONGER, 0),
        (ABORTED, 0),
        (UNKNOWN, 0),
        (REDIRECT, 60),
    ]  # the last one: to a port that does not exist
    rounds = [(octets, kind) for octets in (0, 1, 15, 16, 17, 255, 700, 1222) for kind in kinds]
    frames = [echo(serial, *kind, octets) for serial, (octets, kind) in enumerate(rounds)]
    before, sent = counts(guest, "eth0"), counts(guest, "eth1")
    assert before == sent == NO_COUNT

    here, there = replay(guest, tmp_path, frames)
    of = {
        kind: [padded(bytes(frame)) for frame, (_, chosen) in zip(frames, rounds) if chosen == kind]
        for kind in kinds
    }
    assert there == of[REDIRECT, other]
    turned = [bytes.fromhex((TESTER + GUEST).replace(":", "")) + frame[12:] for frame in of[TX, 0]]
    assert [frame for frame in here if frame[:12] == turned[0][:12] and frame in turned] == turned
    # The original frame follows the inserted octets, without 0 to 3 octets of padding.
    longer = [frame for frame in here if frame[12:14] == b"\x88\xb5"]
    assert [padded(frame[LONGER:]) for frame in longer] == [
        padded(bytes.fromhex((TESTER + GUEST).replace(":", "")) + frame[12:])
        for frame in of[SEND_LONGER, 0]
    ]
    answers = [Ether(frame) for frame in here if frame not in turned and frame not in longer]
    answers = [frame for frame in answers if ICMP in frame]
    passed = [Ether(frame) for frame in of[PASS, 0]]
    assert [frame[ICMP].seq for frame in answers] == [frame[ICMP].seq for frame in passed]
    for answer, asked in zip(answers, passed, strict=True):
        assert answer[ICMP].type == 0
        assert padded(bytes(answer[ICMP].payload)) == padded(bytes(asked[ICMP].payload))

    each = len(frames) // len(kinds)
    assert counts(guest, "eth0") == NO_COUNT | {
        "rx_xdp_drop": each,
        "rx_xdp_tx": 2 * each,
        "rx_xdp_pass": each,
        "rx_xdp_redirect": each,
        "rx_xdp_errors": 3 * each,
    }
    assert counts(guest, "eth1") == NO_COUNT | {"tx_xdp_xmit": each}
    received = int(guest.check("cat /sys/class/net/eth0/statistics/rx_packets"))
    assert received >= len(frames)
    assert "Illegal XDP return value 77" in guest.check("dmesg")
    assert complaints(guest) == []


@pytest.mark.parametrize("program", ["forward", "fib"])
def test_forwards_routed_frames(guest, tmp_path, program):
    """The program forwards frames to the other network without the stack. The stack gets all special
    frames, and handles them as without a program."""

    def packet(**fields):
        content = fields.pop("content", b"octets")
        fields = {"src": "198.18.0.2", "dst": "198.19.0.2", "ttl": 9} | fields
        return Ether(dst=GUEST, src=TESTER) / IP(**fields) / UDP(sport=7, dport=9) / Raw(content)

    plain = [packet(content=bytes(size)) for size in (0, 18, 19, 100, 1472)]
    strange = [
        packet(ttl=1),
        packet(ttl=0),
        packet(options=[b"\x01\x01\x01\x00"]),
        packet(chksum=1),
        packet(len=1000),
        packet(len=10),
        packet(dst="198.18.0.1"),
        packet(dst="203.0.113.1"),
        Ether(dst="ff:ff:ff:ff:ff:ff", src=TESTER) / packet().payload,
        Ether(dst=GUEST, src=TESTER, type=0x88B5) / Raw(bytes(46)),
    ]
    frames = [*plain, *strange]
    guest.check("echo 0 > /proc/sys/net/ipv4/icmp_ratelimit")
    without = replay(guest, tmp_path, frames)
    guest.check(f"ip neigh | xdp {program} {PORTS}")
    withal = replay(guest, tmp_path, frames)
    # The guest counts the IP packets that it sends itself.
    assert [frame for frame in withal[1] if frame[30:34] == bytes([198, 19, 0, 2])] == [
        frame for frame in without[1] if frame[30:34] == bytes([198, 19, 0, 2])
    ]
    kinds = [
        [(Ether(frame).type, Ether(frame)[ICMP].type) for frame in left[0] if ICMP in Ether(frame)]
        for left in (without, withal)
    ]
    assert kinds[0] == kinds[1] and kinds[0]
    seen = counts(guest, "eth0")
    assert seen["rx_xdp_redirect"] == len(plain)
    assert seen["rx_xdp_pass"] >= len(strange)
    assert counts(guest, "eth1")["tx_xdp_xmit"] == len(plain)
    assert complaints(guest) == []


FORWARDING = "/proc/sys/net/ipv4/conf/eth0/forwarding"
SWITCHES = {  # settings of Linux, and the commands that undo them
    "ip link set eth1 mtu 1000": "ip link set eth1 mtu 1500",
    "echo 0 > /proc/sys/net/ipv4/ip_forward": "echo 1 > /proc/sys/net/ipv4/ip_forward",
    f"echo 0 > {FORWARDING}": f"echo 1 > {FORWARDING}",
}


@pytest.mark.parametrize("program", ["forward", pytest.param("fib", marks=pytest.mark.slow)])
def test_programs_follow_switches_of_routing(guest, tmp_path, program):
    """With a smaller MTU of the other port, or without routing, the same frames leave as without a
    program. The guest answers the same frames with ICMP errors."""

    def packet(size: int, **fields) -> Ether:
        return (
            Ether(dst=GUEST, src=TESTER)
            / IP(src="198.18.0.2", dst="198.19.0.2", ttl=9, id=size, **fields)
            / UDP(sport=7, dport=9)
            / Raw(bytes(size))
        )

    def left(command: str) -> list:
        guest.check(command)
        at = replay(guest, tmp_path, frames)
        forwarded = [frame for frame in at[1] if frame[30:34] == bytes([198, 19, 0, 2])]
        answers = [
            (answer[ICMP].type, answer[ICMP].code, answer[IPerror].id)
            for answer in map(Ether, at[0])
            if ICMP in answer
        ]
        # The program's frames may overtake those of the stack.
        return [sorted(forwarded), sorted(answers)]

    frames = [packet(size, flags=flags) for size in (100, 972, 973, 1472) for flags in (0, "DF")]
    guest.check("echo 0 > /proc/sys/net/ipv4/icmp_ratelimit")
    without = []
    for switch, undo in SWITCHES.items():
        without.append(left(switch))
        guest.check(undo)
    assert [[len(part) for part in each] for each in without] == [[4 + 2 * 2, 2], [0, 0], [0, 0]]
    guest.check(f"ip neigh | xdp {program} {PORTS}")
    for (switch, undo), expected in zip(SWITCHES.items(), without, strict=True):
        before = counts(guest, "eth0")["rx_xdp_redirect"]
        assert left(switch) == expected, switch
        redirected = counts(guest, "eth0")["rx_xdp_redirect"] - before
        assert redirected == (4 if "mtu" in switch else 0), switch
        assert [len(part) for part in left(undo)] == [len(frames), 0], undo
    assert complaints(guest) == []


def rejected(guest, command: str) -> str:
    status, said = guest.type(f"{command} 2>&1")
    assert status != 0, command
    return said


@pytest.mark.slow
def test_rejects_unsuitable_settings(guest):
    """The driver rejects a program with a reason that names the setting. While a program is attached, it
    rejects unsuitable settings."""
    flags = "ethtool --set-priv-flags eth1"
    for unsuited, suited, why in (
        (f"{flags} rx-napi off", f"{flags} rx-napi on", "rx-napi on"),
        (f"{flags} tx-napi off", f"{flags} tx-napi on", "tx-napi on"),
        ("ethtool -N eth1 flow-type ip4 tos 184", "ethtool -N eth1 delete 0", "ethtool -N delete"),
    ):
        guest.check(unsuited)
        said = rejected(guest, f"xdp drop {PORTS}")
        assert re.search(rf"^xdp: eth1: moderato: XDP .*{re.escape(why)}", said, re.MULTILINE), said
        guest.check(suited)
        assert "xdp" not in guest.check("ip link show")  # neither has one
    guest.check(f"xdp drop {PORTS}")
    assert guest.check("ip link show").count("prog/xdp") == 2
    for unsuited in (f"{flags} rx-napi off", f"{flags} tx-napi off"):
        rejected(guest, unsuited)
    assert "Cannot insert" in guest.type("ethtool -N eth1 flow-type ip4 tos 184 2>&1")[1]
    said = guest.check("dmesg")
    assert "rx-napi on, or detach the program" in said and "detach the program" in said
    guest.check(f"{flags} tx-reclaim-on-xmit on; {flags} rx-timer on; {flags} rx-timer off")
    guest.check(f"xdp off {PORTS}; {flags} tx-napi off tx-reclaim-on-xmit off; {flags} rx-napi off")


def test_rejects_program_without_jit(guest):
    said = rejected(guest, f"xdp {bring(guest, 'divides')} {PORTS}")
    assert "the kernel's compiler for this CPU cannot take it" in said
    said = rejected(guest, f"xdp /bin/busybox {PORTS}")
    assert "is no program that clang made for BPF" in said
    for ports in ("eth7", "eth0 eth7"):
        assert "there is no such interface" in rejected(guest, f"xdp drop {ports}")
    assert "No such file" in rejected(guest, f"xdp nothing {PORTS}")
    assert "prog/xdp" not in guest.check("ip link show")


@pytest.mark.slow
def test_programs_come_and_go_under_load(guest):
    """Each swap of rings loses a few frames, a swap of programs none. No memory leaks, and each slot
    keeps a buffer: in the end, all frames pass again."""
    attach = f"ip neigh | xdp forward {PORTS}"
    for command in (attach, f"xdp off {PORTS}"):  # what is allocated once
        guest.check(command)
    free = memory(guest)
    offer(guest, 300)
    swaps = 0
    for command in 3 * (
        attach,
        f"xdp fib {PORTS}",
        "ethtool -G eth0 rx 64 tx 64",
        f"xdp off {PORTS}",
        "ethtool -G eth0 rx 256 tx 256",
    ):
        guest.check(command)
        swaps += "fib" not in command
    # While only one port has its program, its frames cannot leave by the other port.
    for port, name in zip(collect(guest), PORTS.split(), strict=True):
        assert port["lost"] <= 2 * swaps + counts(guest, name)["rx_xdp_errors"], name
    assert abs(memory(guest) - free) < 128  # KiB; each ring has 512 and more
    guest.check(attach)
    for _ in range(2):
        offer(guest, 300, load=5)
        guest.check(f"xdp fib {PORTS}")
        assert [port["lost"] for port in collect(guest)] == [0, 0]
    guest.check("ip link set eth0 down; ip link set eth1 down; rmmod moderato")
    assert complaints(guest) == []


def memory(guest) -> int:
    """Free KiB, after returned memory has arrived there."""
    guest.check("sleep 0.1")
    return int(re.search(r"MemFree:\s+(\d+)", guest.check("cat /proc/meminfo"))[1])


@pytest.mark.slow
def test_drops_redirects_to_port_that_is_down(guest):
    """Frames for a port that is down are dropped and counted. When the port is up again, they leave."""
    guest.check(f"ip neigh | xdp forward {PORTS}")
    offer(guest, 60)
    guest.check("ip link set eth1 down")
    collect(guest)
    guest.check("ip link set eth1 up; /etc/moderato/up static")
    offer(guest, 40)
    assert [port["lost"] for port in collect(guest)] == [0, 0]
    assert complaints(guest) == []


@pytest.mark.slow
def test_stack_sends_while_programs_overload_port(guest, tmp_path):
    """The program returns frames that are longer than the received ones, at the line rate. The guest
    answers pings meanwhile, not only after the load."""
    guest.check(f"xdp {bring(guest, 'verdicts')} eth0")
    frames = [echo(serial, SEND_LONGER if serial % 50 else PASS, 0, 1200) for serial in range(4000)]
    for frame in frames:
        frame.time = 0  # in succession
    left = replay(guest, tmp_path, frames)[0]
    answers = [at for at, frame in enumerate(left) if ICMP in Ether(frame)]
    assert counts(guest, "eth0")["rx_xdp_tx_errors"] > 100  # it was overloaded
    assert len(answers) == 80
    assert answers[40] < 0.75 * len(left)
    assert complaints(guest) == []


@pytest.mark.slow
def test_programs_on_hardware_that_does_not_stop(tmp_path):
    """Programs are attached and detached, but no ring starts again."""
    with modified.guest(tmp_path, STUCK_WITH_ALLMULTI, system=System(kernel=KERNEL)) as guest:
        guest.check("dmesg -n 1; xdp drop eth0; ip link set eth0 allmulticast on")
        for program in ("off", "drop", "fib", "off", "drop"):
            guest.check(f"xdp {program} eth0")
            assert int(guest.check(f"devmem {CTRL:#x}"), 16) & ENABLES == 0
        assert guest.check("dmesg").count("out of order") == 1
        guest.check("ip link set eth0 down; xdp off eth0; ip link set eth1 down; rmmod moderato")
        assert complaints(guest) == []


@pytest.mark.slow
def test_hardware_with_options():
    """The driver rejects programs while merging or long frames are on, and rejects both while a program
    is attached. Frames are forwarded on hardware whose descriptors have more options."""
    with state.loaded(machine(system=System(nic=OFFLOAD, kernel=KERNEL)), True).open() as guest:
        features = "ethtool -k eth1 | grep rx-gro-hw"
        for unsuited, suited, why in (
            ("ethtool -K eth1 gro on rx-gro-hw on", "ethtool -K eth1 gro off", "rx-gro-hw off"),
            ("ip link set eth1 mtu 4000", "ip link set eth1 mtu 1500", "mtu"),
        ):
            guest.check(unsuited)
            assert why in rejected(guest, f"xdp drop {PORTS}")
            guest.check(suited)
        guest.check(f"ip neigh | xdp forward {PORTS}")
        guest.type("ethtool -K eth1 gro on rx-gro-hw on")
        assert "rx-gro-hw: off" in guest.check(features)
        rejected(guest, "ip link set eth1 mtu 4000")
        guest.check("ethtool -K eth1 gro off; ip link set eth1 mtu 3500; ip link set eth1 mtu 1500")
        offer(guest, 100)
        assert [port["lost"] for port in collect(guest)] == [0, 0]
        assert counts(guest, "eth0")["rx_xdp_redirect"] == 100
        assert complaints(guest) == []
