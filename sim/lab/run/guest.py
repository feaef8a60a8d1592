# SPDX-License-Identifier: BSD-2-Clause
"""The guest kernel's counters of its interfaces, read through its shell."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..show.errors import LabError
from .variants import INTERFACES

# A single `cat`: the guest takes longer to start a program than to read a file.
COMMAND = "cat /proc/interrupts /proc/net/softnet_stat /proc/net/dev"


IPV4 = "cat /proc/net/snmp /proc/net/netstat"
FORWARDED = " ; ".join(f"ethtool -S {name} | grep rx_flow_frames:" for name in INTERFACES)


@dataclass(frozen=True)
class Packets:
    """IPv4 packets from all interfaces since the kernel booted, by their fate (RFC 4293)."""

    received: int
    delivered: int  # to the guest itself; each fragment counts
    expired: int  # dropped: the TTL expired, or the header is malformed
    bad_checksum: int  # the header's checksum is wrong,
    no_route: int  # no route leads to its destination

    def since(self, before: "Packets") -> "Packets":
        """The difference to an earlier count."""
        return Packets(**{name: count - getattr(before, name) for name, count in vars(self).items()})


@dataclass(frozen=True)
class Counters:
    """The kernel's counters since it booted; lists have an entry per interface.

    A NIC has separate interrupt lines for the two directions, or a shared one. Lists of missing lines
    are empty.
    """

    rx_interrupts: list[int]
    tx_interrupts: list[int]
    rx_packets: list[int]
    rx_dropped: list[int]
    tx_packets: list[int]
    tx_dropped: list[int]
    backlog_dropped: int  # by netif_rx(): the CPU's backlog was full
    shared_interrupts: list[int] = field(default_factory=list)
    per_hart: list[int] = field(default_factory=list)  # interrupts of all interfaces, for each hart

    def since(self, before: "Counters") -> "Counters":
        """The difference to an earlier count."""

        def minus(new, old):
            return [n - o for n, o in zip(new, old)] if isinstance(new, list) else new - old

        counted: dict = {name: minus(value, getattr(before, name)) for name, value in vars(self).items()}
        return Counters(**counted)


def parse(text: str, interfaces: Sequence[str] = INTERFACES) -> Counters:
    """The counters in the output of COMMAND."""
    shared = re.search(rf"\b{interfaces[0]}\s*$", text, re.MULTILINE)
    lines = {
        line: [_interrupts(text, name + line) for name in interfaces]
        for line in ([""] if shared else ["-rx", "-tx"])
    }
    for line, each in lines.items():  # a second queue has lines, too
        if re.search(rf"\b{interfaces[0]}{line}1\s*$", text, re.MULTILINE):
            second = [_interrupts(text, f"{name}{line}1") for name in interfaces]
            lines[line] = [[a + b for a, b in zip(*both)] for both in zip(each, second)]
    interrupts = {line: [sum(harts) for harts in each] for line, each in lines.items()}
    devices = [_device(text, name) for name in interfaces]
    backlog = re.findall(r"^[0-9a-f]{8} ([0-9a-f]{8})(?: [0-9a-f]{8})+\s*$", text, re.MULTILINE)
    if not backlog:
        raise LabError(f"the guest's /proc/net/softnet_stat could not be read: {text[-200:]!r}")
    return Counters(
        rx_interrupts=interrupts.get("-rx", []),
        tx_interrupts=interrupts.get("-tx", []),
        rx_packets=[words[1] for words in devices],
        rx_dropped=[words[3] for words in devices],
        tx_packets=[words[9] for words in devices],
        tx_dropped=[words[11] for words in devices],
        backlog_dropped=sum(int(drops, 16) for drops in backlog),
        shared_interrupts=interrupts.get("", []),
        per_hart=[sum(counts) for counts in zip(*itertools.chain(*lines.values()))],
    )


def taken(text: str) -> dict[int, list[int]]:
    """The interfaces' interrupts in the output of COMMAND: for each source of the PLIC, a list by hart.

    Raises LabError if the output has no such line: a comparison with nothing would always succeed.
    """
    lines = re.findall(
        rf"^ *\d+:((?: +\d+)+) +SiFive PLIC +(\d+) .*\b(?:{'|'.join(INTERFACES)})"
        r"(?:-[rt]x1?)?\s*$",
        text,
        re.MULTILINE,
    )
    if not lines:
        raise LabError(
            f"the guest's /proc/interrupts shows no source of the PLIC for {' or '.join(INTERFACES)}"
        )
    return {int(source): list(map(int, counts.split())) for counts, source in lines}


def forwarded(session) -> int:
    """Number of frames that the MACs have forwarded by their flow tables since reset."""
    return sum(map(int, re.findall(r"rx_flow_frames: (\d+)", session.check(FORWARDED))))


def packets(text: str) -> Packets:
    """The counters in the output of IPV4."""
    count = {}
    for table in "Ip", "IpExt":
        names, values = re.findall(rf"^{table}: (.*?)\s*$", text, re.MULTILINE)
        count |= zip(names.split(), map(int, values.split()))
    return Packets(
        received=count["InReceives"],
        delivered=count["InDelivers"] - count["ReasmOKs"] + count["ReasmReqds"],
        expired=count["InHdrErrors"] - count["InCsumErrors"],
        bad_checksum=count["InCsumErrors"],
        no_route=count["InNoRoutes"],
    )


def _interrupts(text: str, name: str) -> list[int]:
    """Interrupts of one line, by hart; `  7:  123  SiFive PLIC  3 Level  eth0-rx`."""
    line = re.search(rf"^ *\d+:((?: +\d+)+) +\D.*\b{name}\s*$", text, re.MULTILINE)
    if not line:
        raise LabError(f"the guest's /proc/interrupts shows no {name}: is the driver up?")
    return list(map(int, line[1].split()))


def _device(text: str, interface: str) -> list[int]:
    """The sixteen counters of /proc/net/dev."""
    line = re.search(rf"^ *{interface}:((?: *\d+){{16}})\s*$", text, re.MULTILINE)
    if not line:
        raise LabError(f"the guest's /proc/net/dev shows no {interface}: is the driver loaded?")
    return list(map(int, line[1].split()))
