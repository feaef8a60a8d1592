# SPDX-License-Identifier: BSD-2-Clause
"""A trial's settings and what it measured, and the objects that --json writes."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from moderato.boards import SIMULATED

from .traffic import Traffic

RING = 256  # descriptors of each ring, the driver's default
MIN_FRAMES = 5 * RING  # more than rings and FIFOs hold
OVERHEAD = 20  # octets of preamble, SFD and gap (IEEE 802.3)
LATENCY = ("min", "median", "p99", "max")
REASONS = ("not_ipv4", "expired", "bad_checksum", "no_route", "other")  # reasons not to forward


@dataclass(frozen=True)
class Trial:
    """The load offered to each port. RFC 1242's terms; frame_bytes counts the FCS."""

    variant: str
    frame_bytes: int | None  # None: mixed sizes, as in a replay
    load_percent: float | None
    frames: int
    link_mbps: int
    pcap: Path | None = None  # folder
    burst: int = 0  # number of frames at the minimum gap before each pause; 0: evenly spaced
    probe_every: int = 0  # one frame in this many is marked as urgent; 0: none
    traffic: Traffic = Traffic()

    @property
    def name(self) -> str:
        return " ".join(
            filter(
                None,
                (f"{self.variant} {self.frame_bytes} bytes {self.load_percent:g} %", self.traffic.words),
            )
        )

    @property
    def captures(self) -> Path | None:
        """The folder of this trial's captures; its name has all that distinguishes trials."""
        name = (
            f"{self.variant}-{self.frame_bytes}-{self.load_percent:g}percent-"
            f"{self.link_mbps}mbps {self.traffic.words}"
        )
        return self.pcap and self.pcap / name.strip().replace(" ", "-")

    @property
    def seconds(self) -> float:
        """Simulated time during which frames are offered."""
        assert self.frame_bytes is not None and self.load_percent is not None
        return self.frames / frame_rate(self.frame_bytes, self.load_percent, self.link_mbps)


def frame_rate(frame_bytes: float, load_percent: float, link_mbps: int) -> float:
    """Offered frames per second at one port."""
    return link_mbps * 1e6 / ((frame_bytes + OVERHEAD) * 8) * load_percent / 100


def frames_for(seconds: float, frame_bytes: int, load_percent: float, link_mbps: int) -> int:
    """Frames to offer to a port in `seconds`; at least enough for a steady state of the rings."""
    return max(MIN_FRAMES, math.ceil(frame_rate(frame_bytes, load_percent, link_mbps) * seconds))


@dataclass(frozen=True)
class Port:
    """The frames that entered at this port; interrupts are those of this port's MAC."""

    offered: int
    answers: int  # of the tester: to ARP and pings, in addition to the offered frames
    received: int  # passed to the kernel
    forwarded: int  # received intact by the tester where they left, including answers
    dropped_at_ring: int  # no descriptor was free
    dropped_at_fifo: int  # the bus was too slow
    dropped_damaged: int  # by the MAC: wrong FCS, too short, too long
    dropped_filtered: int  # by the MAC: addressed to other stations
    corrupted: int  # left the other port with wrong content
    reordered: int | None  # forwarded frames that left after a later one of their stream
    rx_interrupts: int
    tx_interrupts: int
    rx_withdrawn: int  # Rx interrupts that ended before a hart claimed them
    tx_withdrawn: int
    fps: float  # forwarded, in the window
    mbps: float  # the same in Mb/s of frames, without preamble and gap
    answers_forwarded: int = 0  # answers among the forwarded frames

    @property
    def lost(self) -> int:
        return self.offered - (self.forwarded - self.answers_forwarded)


@dataclass(frozen=True)
class Result:
    """One trial. Times in clocks of the SoC, except wall_seconds."""

    trial: Trial
    sys_clk_hz: int
    cycles: int
    ports: list[Port]
    latency: dict[str, int | None]  # min, median, p99, max over the forwarded frames of all ports
    cpu_idle_percent: float
    backlog_dropped: int  # by netif_rx()
    tx_dropped: int  # by the driver's transmit function
    wall_seconds: float
    problems: list[str]  # why this trial is unsound; else empty
    window: tuple[int, int] | None = None  # first and last cycle; None: the whole replay
    interrupts_per_second: float | None = None  # of all ports and directions, in the window
    frames_per_interrupt: float | None = None  # received, in the window; None: no Rx interrupt
    probe_latency: dict[str, int | None] = field(  # of the marked frames
        default_factory=lambda: dict.fromkeys(LATENCY)
    )
    idle_per_hart: list[float] = field(default_factory=list)  # in percent, of the window
    interrupts_per_hart: list[int] = field(default_factory=list)  # of all ports, by the kernel
    by_hardware: int = 0  # forwarded without the CPU, so not among `received`
    delivered: int | None = None  # to the guest itself (IPv4); None: not counted
    reasons: dict[str, int | None] = field(  # parts of dropped_elsewhere; None: not counted
        default_factory=lambda: dict.fromkeys(REASONS)
    )
    conditions: dict = field(default_factory=dict)  # commit, machine, kernel, CPU, checkpoint
    hardware: dict | None = None  # of a trial at a desk: board, host, intended and offered rate

    @property
    def offered_fps(self) -> float | None:
        """Frames per second offered to all ports; None for a replay, which has no rate."""
        trial = self.trial
        return (
            None
            if trial.frame_bytes is None or trial.load_percent is None
            else trial.traffic.ports * frame_rate(trial.frame_bytes, trial.load_percent, trial.link_mbps)
        )

    def total(self, name: str) -> int | float:
        """The sum of a figure over the ports."""
        return sum(getattr(port, name) for port in self.ports)

    @property
    def dropped_elsewhere(self) -> int:
        """Received, but neither forwarded nor in a counter: dropped by queues, or wrong frames."""
        return (
            sum(port.received - port.forwarded for port in self.ports)
            + self.by_hardware
            - (self.delivered or 0)
            - self.backlog_dropped
            - self.tx_dropped
        )

    def as_json(self) -> dict:
        """The object that --json writes. Simulated, all but `simulation` is the same in every run."""
        counts = (
            "offered",
            "answers",
            "received",
            "forwarded",
            "answers_forwarded",
            "lost",
            "dropped_at_ring",
            "dropped_at_fifo",
            "dropped_damaged",
            "dropped_filtered",
            "corrupted",
            "reordered",
            "rx_interrupts",
            "tx_interrupts",
            "rx_withdrawn",
            "tx_withdrawn",
        )
        rates = ("fps", "mbps")
        return {
            "variant": self.trial.variant,
            "frame_bytes": self.trial.frame_bytes,
            "load_percent": self.trial.load_percent,
            "link_mbps": self.trial.link_mbps,
            "flows": self.trial.traffic.streams,
            "one_way": self.trial.traffic.one_way,
            "sys_clk_hz": self.sys_clk_hz,
            "cycles": self.cycles,
            "window": self.window and dict(zip(("start_cycle", "end_cycle"), self.window)),
            "offered_fps": _rounded(self.offered_fps),
            "ports": [
                {name: getattr(port, name) for name in counts}
                | {name: round(getattr(port, name), 3) for name in rates}
                for port in self.ports
            ],
            "by_hardware": self.by_hardware,
            "delivered": self.delivered,
            "dropped": {
                "backlog": self.backlog_dropped,
                "driver_tx": self.tx_dropped,
                "elsewhere": self.dropped_elsewhere,
            },
            "reasons": self.reasons,
            "interrupts_per_second": _rounded(self.interrupts_per_second),
            "frames_per_interrupt": _rounded(self.frames_per_interrupt),
            "throughput": {name: round(self.total(name), 3) for name in rates},
            "latency_ns": self._nanoseconds(self.latency),
            "probe_latency_ns": self._nanoseconds(self.probe_latency),
            "cpu_idle_percent": round(self.cpu_idle_percent, 3),
            "harts": len(self.idle_per_hart),
            "spread": self.conditions.get("spread"),
            "ethtool": self.conditions.get("ethtool", []),
            "cpu_idle_percent_per_hart": [round(idle, 3) for idle in self.idle_per_hart],
            "interrupts_per_hart": self.interrupts_per_hart,
            "conditions": self.conditions,
            **self._place(),
        }

    @property
    def on(self) -> str:
        """What forwarded: a simulated board has neither its own time nor that of this machine."""
        if self.hardware is None:
            return "simulation"
        return "rehearsal" if self.conditions.get("board") == SIMULATED else "hardware"

    def _place(self) -> dict:
        """Where the trial ran."""
        if self.hardware is not None:
            return {"on": self.on, "hardware": self.hardware}
        return {
            "simulation": {
                "wall_seconds": round(self.wall_seconds, 3),
                "cycles_per_second": round(self.cycles / self.wall_seconds),
            }
        }

    def _nanoseconds(self, latency: dict[str, int | None]) -> dict[str, int | None]:
        return {name: self.nanoseconds(cycles) for name, cycles in latency.items()}

    def nanoseconds(self, cycles: int | None) -> int | None:
        return None if cycles is None else round(cycles * 1_000_000_000 / self.sys_clk_hz)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
