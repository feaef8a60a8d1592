# SPDX-License-Identifier: BSD-2-Clause
"""The board's counters, read through its shell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..run import guest
from .shell import Shell

RECEIVED = (
    "rx_packets",
    "rx_missed_errors",
    "rx_fifo_errors",
    "rx_crc_errors",
    "rx_length_errors",
    "rx_over_errors",
    "rx_dropped",
)
STATISTICS = (*RECEIVED, "tx_packets", "tx_dropped")
ARRIVED = (*RECEIVED, "rx_filtered")  # each frame that entered the port counts in one of them
FILTERED = re.compile(r"rx_filtered: (\d+)")
TICKS = 100  # in a second: USER_HZ
# With a negotiated link, the driver of the MDIO comes first.
DRIVER = (
    "[ -e /sys/class/net/eth0 ] || "
    "{ insmod /lib/modules/mdio_litex.ko 2>/dev/null; insmod /lib/modules/moderato.ko; }"
)
NETWORK = "/etc/moderato/up static"


@dataclass(frozen=True)
class Counters:
    """kernel: as in the lab; ports: a statistic by name, of each interface; busy: seconds of all
    harts."""

    kernel: guest.Counters
    ports: list[dict[str, int]]
    busy: float
    harts: int

    def since(self, before: "Counters") -> "Counters":
        ports = [
            {name: count - old[name] for name, count in new.items()}
            for new, old in zip(self.ports, before.ports)
        ]
        return Counters(self.kernel.since(before.kernel), ports, self.busy - before.busy, self.harts)


def read(shell: Shell, interfaces: Sequence[str]) -> Counters:
    text = shell.check(f"{guest.COMMAND}; grep cpu /proc/stat")
    each = [
        shell.check(
            f"cd /sys/class/net/{name}/statistics && cat {' '.join(STATISTICS)}; cd /; "
            f"ethtool -S {name} | grep rx_filtered:"
        )
        for name in interfaces
    ]
    return Counters(guest.parse(text, interfaces), [_port(said) for said in each], *_busy(text))


def _port(said: str) -> dict[str, int]:
    counts = dict(zip(STATISTICS, map(int, re.findall(r"^\d+$", said, re.MULTILINE))))
    return counts | {"rx_filtered": int(FILTERED.findall(said)[0])}


def _busy(text: str) -> tuple[float, int]:
    """All but idle and iowait of /proc/stat (proc(5)), and the number of harts."""
    harts = re.findall(r"^cpu\d+ (.*)$", text, re.MULTILINE)
    ticks = [list(map(int, row.split()[:8])) for row in harts]
    return sum(sum(row) - row[3] - row[4] for row in ticks) / TICKS, len(ticks)
