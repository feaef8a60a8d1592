# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the driver in the simulated SoC ask of the guest."""

from scapy.utils import wrpcap
from splats import HARMLESS

from moderato.sim.lab.captures import pcap

# Words that the kernel uses when it complains, and functions of ours in a trace.
WORDS = ("WARNING", "BUG", "Oops", "moderato_", "timed out", "DMA-API", "page allocation failure")


def offer(
    guest, frames: int, frame_bytes: int = 512, load: float = 2, probe_every: int = 0, flows: int = 1
):
    """Start to offer frames at both ports, at `load` percent of the line rate; `flows` take turns.

    At 2 % the guest forwards all of 512 octets, and types commands beside. Each so-many-th frame has
    DSCP 46; 0: none has.
    """
    port = {
        "frame_bytes": frame_bytes,
        "load_percent": load,
        "frames": frames,
        "probe_every": probe_every,
        "streams": flows,
    }
    guest.call("offer", ports=[port, {**port, "phase": 1000}])


def collect(guest) -> list[dict]:
    """The report of all ports. Whatever happened, no frame was harmed."""
    ports = guest.call("collect")["ports"]
    for port in ports:
        assert (port["corrupted"], port["reordered"], port["duplicated"]) == (0, 0, 0)
        left = port["left"]
        assert left["bad_fcs"] == left["unrecognised"] == 0
    return ports


def replay(guest, tmp_path, frames, port: int = 0, quiet_cycles: int = 8_000_000) -> list[list[bytes]]:
    """What leaves each port when these arrive at one, until nothing does for so long."""
    into, outputs = [None, None], [tmp_path / "0.pcap", tmp_path / "1.pcap"]
    into[port] = str(tmp_path / "in.pcap")
    wrpcap(into[port], frames)
    guest.call(
        "replay",
        **{"in": into},
        out=[*map(str, outputs)],
        quiet_cycles=quiet_cycles,
        max_cycles=400_000_000,
    )
    return [[frame for _, frame in pcap.read(output)] for output in outputs]


def complaints(guest) -> list[str]:
    """What the kernel's log says of bugs."""
    return [
        line
        for line in guest.check("dmesg").splitlines()
        if any(word in line for word in WORDS) and not HARMLESS.search(line)
    ]


def interrupts(guest, name: str) -> int:
    line = next(line for line in guest.check("cat /proc/interrupts").splitlines() if name in line)
    return int(line.split()[1])


def statistics(guest, interface: str) -> dict[str, int]:
    """What `ethtool -S` shows."""
    lines = guest.check(f"ethtool -S {interface}").splitlines()[1:]
    return {name.strip(): int(value) for name, value in (line.split(":") for line in lines)}


def poll_a_ring_of_8(guest):
    """eth1, whose Tx ring has 8 places, sends what comes in at eth0. Nothing frees a sent frame but a
    look at the statistics, which polls as netpoll would: all frames leave. Ends with rmmod."""
    guest.check("ip neigh flush dev eth0")  # nothing but the tester's frames
    guest.check("/etc/moderato/up static")
    offer(guest, 30)
    guest.call("run", cycles=8_000_000)
    assert guest.call("status")["ports"][0]["forwarded"] <= 9
    guest.check("for i in 1 2 3 4 5 6 7 8; do ip -s link >/dev/null; done")
    assert collect(guest)[0]["lost"] == 0
    guest.check("ip link set eth1 down; ip link set eth0 down; rmmod moderato")
    assert complaints(guest) == []
