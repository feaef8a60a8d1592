# SPDX-License-Identifier: BSD-2-Clause
"""The host as the tester: frames at a rate into both ports, and the fate of each."""

import struct
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..run.stations import TESTER
from . import frames, wire

HEADERS = 42  # octets of Ethernet, IPv4 and UDP
MARK = b"Mdto"  # begins a test frame's data; then the port (1 octet) and the number (4)
NUMBER = HEADERS + len(MARK) + 1
FCS = 4
BATCH = 32  # frames sent before the sockets are read
SLOW = 1000  # frames per second
DRAIN = 1.0  # seconds without a frame, after which a trial is over


@dataclass
class Fates:
    """Of the frames that entered at a port. failed: the host could not send them; strangers: frames
    that arrived at the port and are no test frames; own: those that the host's kernel sent there.
    latency: ns. sent: the time of each frame."""

    offered: int = 0
    failed: int = 0
    forwarded: int = 0
    corrupted: int = 0
    duplicated: int = 0
    reordered: int = 0
    answers: int = 0
    strangers: int = 0
    own: int = 0
    lost_by_host: int = 0
    latency: list[int] = field(default_factory=list)
    sent: array = field(default_factory=lambda: array("q"))


class Tester:
    """macs: the board's, of both ports."""

    def __init__(self, wires: Sequence[wire.Wire], macs: Sequence[str], frame_bytes: int):
        self.wires = wires
        self.length = frame_bytes - FCS
        self.first = [self._frame(port, macs[port]) for port in range(2)]
        self.last = [self._forwarded(port, macs[1 - port]) for port in range(2)]
        self.fates = [Fates(), Fates()]
        self.seen: list[bytearray] = []
        self.newest = [-1, -1]
        self.last_arrival = 0.0

    def _frame(self, port: int, mac: str) -> bytes:
        """A test frame with the number 0. Its UDP checksum is 0: none (RFC 768)."""
        data = MARK + bytes([port]) + bytes(4)
        data += bytes(n % 256 for n in range(self.length - HEADERS - len(data)))
        ends = TESTER[1 - port].ipv4, TESTER[port].ipv4
        made = frames.udp((mac, TESTER[port].mac), ends, (9, 4096), data)
        return made[:40] + b"\0\0" + made[42:]

    def _forwarded(self, port: int, mac: str) -> bytes:
        """The same frame as it must leave the other port (RFC 1812): addresses, TTL, checksum."""
        made = bytearray(self.first[port])
        made[:12] = frames.octets(TESTER[1 - port].mac) + frames.octets(mac)
        made[22] -= 1
        made[24:26] = b"\0\0"
        made[24:26] = struct.pack("!H", frames.checksum(bytes(made[14:34])))
        return bytes(made)

    def offer(self, count: int, rate: float) -> float:
        """Offer `count` frames to each port at `rate` per second; the seconds that it took."""
        self.seen = [bytearray(count), bytearray(count)]
        start = self.last_arrival = time.monotonic()
        numbers = [0, 0]
        while min(numbers) < count:
            due = int((time.monotonic() - start) * rate) + 1
            for port in range(2):
                for _ in range(min(BATCH, due - numbers[port], count - numbers[port])):
                    self._send(port, numbers[port])
                    numbers[port] += 1
            if not self.receive() and rate < SLOW:
                time.sleep(1 / SLOW)  # leaves the processor to a simulated board
        return time.monotonic() - start

    def drain(self, slow: float):
        """Read what still arrives."""
        self.last_arrival = time.monotonic()
        while time.monotonic() - self.last_arrival < DRAIN * slow:
            self.receive()
            time.sleep(0.001)
        for port, each in enumerate(self.wires):
            self.fates[1 - port].lost_by_host = each.lost()

    def _send(self, port: int, number: int):
        first, fates = self.first[port], self.fates[port]
        frame = first[:NUMBER] + number.to_bytes(4, "big") + first[NUMBER + 4 :]
        fates.sent.append(time.time_ns())
        if self.wires[port].send(frame):
            fates.offered += 1
        else:
            fates.failed += 1

    def receive(self) -> int:
        """Take a part of the frames that have arrived, or were sent by the host itself: how many."""
        count = 0
        for port, each in enumerate(self.wires):
            for _ in range(4 * BATCH):
                found = each.receive()
                if not found:
                    break
                count += 1
                if found.outgoing:
                    self.fates[port].own += 1
                else:
                    self.last_arrival = time.monotonic()
                    self._arrived(port, found)
        return count

    def _arrived(self, port: int, found: wire.Received):
        """A frame at this port; a test frame entered at the other one."""
        frame = found.frame
        if frame[HEADERS : HEADERS + len(MARK)] != MARK:
            self._stranger(port, frame)
            return
        fates, expected = self.fates[1 - port], self.last[1 - port]
        number = int.from_bytes(frame[NUMBER : NUMBER + 4], "big")
        intact = frame[:NUMBER] == expected[:NUMBER] and frame[NUMBER + 4 :] == expected[NUMBER + 4 :]
        if not intact or number >= len(fates.sent):
            fates.corrupted += 1
        elif self.seen[1 - port][number]:
            fates.duplicated += 1
        else:
            self.seen[1 - port][number] = 1
            fates.forwarded += 1
            fates.reordered += number < self.newest[1 - port]
            self.newest[1 - port] = max(number, self.newest[1 - port])
            fates.latency.append(found.ns - fates.sent[number])

    def _stranger(self, port: int, frame: bytes):
        """Answer ARP for the tester's station."""
        self.fates[port].strangers += 1
        asked, station = frames.parse(frame), TESTER[port]
        if isinstance(asked, frames.Arp) and (asked.operation, asked.target) == (
            frames.REQUEST,
            station.ipv4,
        ):
            reply = frames.arp(frames.REPLY, station.mac, station.ipv4, asked.source_mac, asked.source)
            self.fates[port].answers += self.wires[port].send(reply)
