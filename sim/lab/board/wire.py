# SPDX-License-Identifier: BSD-2-Clause
"""The host's interface at one port of the board: frames in and out through AF_PACKET.

Nothing of the interface is changed: no address, no offload. It is promiscuous while the socket is open,
and the kernel ends that with the socket, also after SIGKILL.
"""

import contextlib
import errno
import fcntl
import os
import select
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from ..show.errors import LabError
from . import frames

SOL_PACKET = 263  # linux/socket.h; then linux/if_packet.h
PACKET_ADD_MEMBERSHIP, PACKET_STATISTICS, PACKET_QDISC_BYPASS = 1, 6, 20
PACKET_MR_PROMISC = 1
SO_TIMESTAMPNS = 35  # asm-generic/socket.h
SIOCGIFADDR, SIOCETHTOOL = 0x8915, 0x8946  # linux/sockios.h
ETHTOOL_GDRVINFO = 3  # linux/ethtool.h
ETH_P_ALL = 3
BUFFER = 32 << 20  # octets, of each direction
LARGEST = 1 << 16
NET = Path("/sys/class/net")


@dataclass(frozen=True)
class Received:
    """outgoing: the host itself sent it. ns: the kernel's time of arrival."""

    frame: bytes
    outgoing: bool
    ns: int


class Wire:
    """Open while the `with` block runs. `sent`: frames, also of other programs, as far as they were
    received."""

    def __init__(self, name: str):
        require(name)
        self.name = name
        self.sent = 0
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        except PermissionError:
            raise LabError(
                f"{name} can't be used: raw frames need root (or CAP_NET_RAW); run it with sudo"
            ) from None
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            self._socket.setsockopt(socket.SOL_SOCKET, option + 25, BUFFER)  # SO_…BUFFORCE
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        self._socket.bind((name, ETH_P_ALL))
        member = struct.pack("iHH8s", socket.if_nametoindex(name), PACKET_MR_PROMISC, 0, bytes(8))
        self._socket.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, member)
        self._socket.setblocking(False)
        self.mac = (NET / name / "address").read_text().strip()

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_):
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, frame: bytes) -> bool:
        """False if the interface's queue is full."""
        try:
            self._socket.send(frame)
            self.sent += 1
            return True
        except OSError as error:
            if error.errno in (errno.ENOBUFS, errno.EAGAIN):
                return False
            if error.errno == errno.ENETDOWN:
                raise LabError(f"{self.name} went down; set it up again, and repeat") from None
            raise

    def receive(self) -> Received | None:
        """A frame that has arrived, or that the host has sent; None: no more."""
        try:
            frame, details, _, address = self._socket.recvmsg(LARGEST, 64)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno == errno.ENETDOWN:
                raise LabError(f"{self.name} went down; set it up again, and repeat") from None
            raise
        seconds = next(
            (
                struct.unpack("qq", data[:16])
                for level, kind, data in details
                if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS)
            ),
            (0, 0),
        )
        outgoing = address[2] == socket.PACKET_OUTGOING
        self.sent += outgoing
        return Received(frame, outgoing, seconds[0] * 1_000_000_000 + seconds[1])

    def wait(self, seconds: float) -> bool:
        """Whether a frame arrives."""
        return bool(select.select([self._socket], [], [], max(0.0, seconds))[0])

    def frames(self, seconds: float):
        """The frames that arrive in this time, without the host's own."""
        end = time.monotonic() + seconds
        while self.wait(end - time.monotonic()):
            while found := self.receive():
                if not found.outgoing:
                    yield found
            if time.monotonic() > end:
                return

    def lost(self) -> int:
        """Frames that this socket had no room for, since the last call."""
        _, drops = struct.unpack("II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        return drops

    def ask(self, target: str, source_mac: str, source: str, seconds: float) -> list[str]:
        """ARP for `target`: the MAC addresses that answer. source 0.0.0.0: a probe (RFC 5227)."""
        found = []
        self.send(frames.arp(frames.REQUEST, source_mac, source, frames.BROADCAST, target))
        for each in self.frames(seconds):
            answer = frames.parse(each.frame)
            if isinstance(answer, frames.Arp) and answer.source == target:
                found.append(answer.source_mac)
                if source != ANY:
                    break
        return found

    def require_unused(self, address: str, seconds: float = 1.0):
        """Raises LabError if a station on this wire has the address."""
        if found := self.ask(address, self.mac, ANY, seconds):
            raise LabError(
                f"{address} is in use at {self.name}, by another station ({found[0]}); connect the "
                "board to this interface alone, without a switch"
            )


ANY = "0.0.0.0"


def require(name: str):
    """Raises LabError if the interface is not there, is down, has no carrier or is the host's own."""
    place = NET / name
    if not name or "/" in name or not place.exists():
        there = ", ".join(sorted(each.name for each in NET.iterdir()))
        raise LabError(f"there is no interface {name}; there are: {there}")
    if name in default_routes():
        raise LabError(
            f"this host's default route uses {name}; name the interface that the board is connected to"
        )
    if not int((place / "flags").read_text(), 16) & 1:
        raise LabError(f"{name} is down; set it up: ip link set {name} up")
    if not has_carrier(name):
        raise LabError(
            f"{name} has no carrier; connect the cable, and look at the link's LEDs at both ends"
        )


def has_carrier(name: str) -> bool:
    try:
        return (NET / name / "carrier").read_text().strip() == "1"
    except OSError:  # the interface is down
        return False


def default_routes() -> set[str]:
    """The interfaces of IPv4's default routes."""
    with contextlib.suppress(OSError):
        rows = [line.split() for line in Path("/proc/net/route").read_text().splitlines()[1:]]
        return {row[0] for row in rows if row[1] == "00000000"}
    return set()


def own_address(name: str) -> str | None:
    """The interface's IPv4 address, if it has one."""
    if answer := _ask_kernel(SIOCGIFADDR, name):
        return socket.inet_ntoa(answer[20:24])
    return None


def speed(name: str) -> int | None:
    """Mb/s; None: the driver does not know it."""
    try:
        found = int((NET / name / "speed").read_text())
    except (OSError, ValueError):
        return None
    return found if found > 0 else None


def driver(name: str) -> str:
    """The driver's name, as `ethtool -i` shows it."""
    import ctypes

    info = ctypes.create_string_buffer(struct.pack("I", ETHTOOL_GDRVINFO), 196)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_:
        request = struct.pack("16sP", name.encode(), ctypes.addressof(info)).ljust(40, b"\0")
        try:
            fcntl.ioctl(any_, SIOCETHTOOL, request)
        except OSError:
            return "unknown"
    return info.raw[4:36].split(b"\0")[0].decode(errors="replace") or "unknown"


def _ask_kernel(request: int, name: str) -> bytes | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_:
        try:
            return fcntl.ioctl(any_, request, name.encode().ljust(40, b"\0"))
        except OSError:
            return None


def cpu_model() -> str:
    """The host's processor, for conditions."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return os.uname().machine
