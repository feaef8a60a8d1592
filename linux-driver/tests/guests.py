# SPDX-License-Identifier: BSD-2-Clause
"""Helpers of the driver tests that run in the simulated SoC."""

from scapy.utils import wrpcap
from splats import HARMLESS

from moderato.sim.lab.captures import pcap

# Words of the kernel's error reports, and the driver's functions in a call trace.
WORDS = ("WARNING", "BUG", "Oops", "moderato_", "timed out", "DMA-API", "page allocation failure")


def offer(
    guest,
    frames: int,
    frame_bytes: int = 512,
    load: float = 2,
    probe_every: int = 0,
    flows: int = 1,
    quiet: int = 1_000_000,
):
    """Start to offer frames at both ports, at `load` percent of the line rate, in `flows` streams.

    At 2 % the guest forwards all frames of 512 octets, and also runs commands. One frame in
    `probe_every` has DSCP 46; 0: none has. They are lost if none leaves for `quiet` cycles.
    """
    port = {
        "frame_bytes": frame_bytes,
        "load_percent": load,
        "frames": frames,
        "probe_every": probe_every,
        "streams": flows,
    }
    guest.call("offer", ports=[port, {**port, "phase": 1000}], quiet_cycles=quiet)


def collect(guest) -> list[dict]:
    """The report of all ports. Checks that no frame was corrupted."""
    ports = guest.call("collect")["ports"]
    for port in ports:
        assert (port["corrupted"], port["reordered"], port["duplicated"]) == (0, 0, 0)
        left = port["left"]
        assert left["bad_fcs"] == left["unrecognised"] == 0
    return ports


def replay(guest, tmp_path, frames, port: int = 0, quiet_cycles: int = 8_000_000) -> list[list[bytes]]:
    """The frames that leave each port after these arrive at one, until none leaves for `quiet`
    cycles."""
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
    """The kernel log's reports of bugs."""
    return [
        line
        for line in guest.check("dmesg").splitlines()
        if any(word in line for word in WORDS) and not HARMLESS.search(line)
    ]


def interrupts(guest, name: str) -> int:
    line = next(line for line in guest.check("cat /proc/interrupts").splitlines() if name in line)
    return int(line.split()[1])


def statistics(guest, interface: str) -> dict[str, int]:
    """The counters of `ethtool -S`."""
    lines = guest.check(f"ethtool -S {interface}").splitlines()[1:]
    return {name.strip(): int(value) for name, value in (line.split(":") for line in lines)}


def poll_a_ring_of_8(guest):
    """eth1 sends what eth0 receives, on a Tx ring of 8 descriptors. Only reading the statistics frees
    sent frames, because that polls as netpoll does. All frames leave. Ends with rmmod."""
    guest.check("ip neigh flush dev eth0")  # only the tester's frames
    guest.check("/etc/moderato/up static")
    offer(guest, 30)
    guest.call("run", cycles=8_000_000)
    assert guest.call("status")["ports"][0]["forwarded"] <= 9
    guest.check("for i in 1 2 3 4 5 6 7 8; do ip -s link >/dev/null; done")
    assert collect(guest)[0]["lost"] == 0
    guest.check("ip link set eth1 down; ip link set eth0 down; rmmod moderato")
    assert complaints(guest) == []
