# SPDX-License-Identifier: BSD-2-Clause
"""A transfer over TCP: its direction, its size, and the settings of both ends."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

KIND = "tcp"  # of records
IN, OUT, THROUGH = DIRECTIONS = ("in", "out", "through")
PROGRAMS = ("stream", "nuttcp")  # programs for the guest's end
FAULTS = ("drop", "damage", "duplicate", "swap")
FAULT_EVERY = 200  # segments: one in this many has a fault
# Features of the NIC, by their names in ethtool -K.
FEATURES = ("rx", "tx", "sg", "tso", "rx-gro-hw")
OF_HARDWARE = ("rx", "rx-gro-hw")  # features that the driver gets only from the hardware
TYPICAL = 75  # Mb/s, for estimates: half of docs/tcp.md's goodput, or more,
EACH_OCTET = 0.1  # and for each octet of a small user's buffer: calls are expensive
PEERS = {  # faults of the tester's end: fields of moderato-sim's `talk`, as functions of the clock
    "stalls": lambda sys_clk_hz: {"stall": {"after": 500_000, "cycles": sys_clk_hz}},
    "vanishes": lambda _: {"vanish": {"after": 500_000}},
}


def usual_gro(direction: str) -> bool:
    """Hosts have GRO. Routers often do not, because they have to segment merged packets again."""
    return direction != THROUGH


def gro_said(direction: str, gro: bool) -> str:
    """`GRO` or `no GRO`; empty if it is as usual."""
    return "" if gro == usual_gro(direction) else "GRO" if gro else "no GRO"


@dataclass(frozen=True)
class Transfer:
    """Direction, amount, and the settings of both ends. Sizes in octets."""

    direction: str
    variant: str
    link_mbps: int = 100
    octets: int = 4_000_000  # of each connection
    connections: int = 1
    user_buffer: int = 65_536  # of a recv(MSG_WAITALL) or send() in the guest
    socket: int = 0  # SO_RCVBUF, SO_SNDBUF in the guest; 0: the kernel's choice
    window: int = 1 << 18  # the tester's receive window: 181 segments, which fit a ring of 256
    check: bool = False  # the guest checks the received octets; the tester always does
    program: str = PROGRAMS[0]
    gro: bool = False
    off: tuple[str, ...] = ()  # some of FEATURES, which are switched off in the guest
    zerocopy: bool = False  # the guest sends the program's memory without a copy: MSG_ZEROCOPY
    kernel: str = "normal"  # name of the machine's kernel
    harts: int = 1
    spread: str = "common"  # of the machine, too
    faults: tuple[str, ...] = ()  # faults of one in FAULT_EVERY segments in each direction
    peer: str | None = None  # one of PEERS: a fault of the tester's end
    profile: bool = False
    symbols: str = field(default="", repr=False)  # for the profile, in the simulator's format
    pcap: Path | None = None  # folder
    before: tuple[int, ...] = field(default=(), repr=False)  # interrupts of each hart

    @property
    def name(self) -> str:
        words = [self.variant, self.direction, f"{self.link_mbps} Mb/s"]
        words += [f"buffer {self.user_buffer}"] * (self.user_buffer != Transfer.user_buffer)
        words += [f"{self.connections} connections"] * (self.connections > 1)
        words += filter(None, [gro_said(self.direction, self.gro)])
        words += [f"{feature} off" for feature in self.off] + ["zerocopy"] * self.zerocopy
        words += [f"kernel {self.kernel}"] * (self.kernel != "normal")
        words += [f"{self.harts} harts {self.spread}"] * (self.harts > 1)
        return " ".join([*words, *self.faults, *filter(None, [self.peer])])

    @property
    def seconds(self) -> float:
        """Simulated seconds, roughly."""
        rate = min(self.link_mbps, TYPICAL)
        if self.direction != THROUGH:
            rate = min(rate, EACH_OCTET * self.user_buffer)
        return self.octets * self.connections * 8 / (rate * 1e6)

    @property
    def captures(self) -> Path | None:
        """The folder of this transfer's captures."""
        return self.pcap and self.pcap / self.name.replace("Mb/s", "mbps").replace(" ", "-")

    def key(self, ready) -> str:
        """A hash of all that the record depends on: the checkpoint's content, and this."""
        content = json.dumps([ready.folder.name, self.record()], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    def record(self) -> dict:
        """The settings that change the figures."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ("symbols", "pcap", "before")
        }
