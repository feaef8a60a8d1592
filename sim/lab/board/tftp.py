# SPDX-License-Identifier: BSD-2-Clause
"""A TFTP server for LiteX's BIOS: RFC 1350, with the option blksize of RFC 2348.

The server makes its own frames. The host's network therefore needs no address for it, and no hole in a
firewall.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import frames

SERVER, CLIENT = "192.168.1.100", "192.168.1.50"  # LiteX's defaults
PORT, FIRST_PORT = 69, 50_000
RRQ, DATA, ACK, ERROR, OACK = 1, 3, 4, 5, 6
BLOCK = 512  # octets, without the option
AGAIN = 0.5  # seconds without an acknowledgment


@dataclass
class Transfer:
    """A file in blocks, for a client's address and port. block: sent last; 0: the options."""

    name: str
    content: bytes
    mac: str
    port: int
    own_port: int
    size: int
    block: int
    sent: float

    @property
    def done(self) -> int:
        return min(self.block * self.size, len(self.content))

    @property
    def is_last(self) -> bool:
        return self.block > len(self.content) // self.size

    def message(self) -> bytes:
        if self.block == 0:
            return struct.pack("!H", OACK) + b"blksize\0%d\0" % self.size
        piece = self.content[(self.block - 1) * self.size : self.block * self.size]
        return struct.pack("!HH", DATA, self.block & 0xFFFF) + piece


@dataclass
class Server:
    """files: contents by name. send: transmits a frame. requested: names in order; missing: those of
    them that the server does not have; resent: blocks sent again."""

    mac: str
    files: Mapping[str, bytes]
    send: Callable[[bytes], object]
    requested: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    resent: int = 0
    transfer: Transfer | None = None

    def take(self, frame: bytes, now: float):
        """A frame from the wire."""
        packet = frames.parse(frame)
        if isinstance(packet, frames.Arp):
            if packet.operation == frames.REQUEST and packet.target == SERVER:
                self.send(frames.arp(frames.REPLY, self.mac, SERVER, packet.source_mac, packet.source))
        elif packet and packet.target == SERVER and packet.protocol == frames.UDP:
            if len(packet.payload) < 10:
                return
            port, own_port = packet.ports
            if own_port == PORT:
                self._request(packet, port, now)
            elif self.transfer and (port, own_port) == (self.transfer.port, self.transfer.own_port):
                self._answered(packet.data, now)

    def tick(self, now: float):
        """Send again what was not acknowledged."""
        if self.transfer and now - self.transfer.sent > AGAIN:
            self.resent += 1
            self._send_block(now)

    def _request(self, packet: frames.Packet, port: int, now: float):
        kind, words = struct.unpack("!H", packet.data[:2])[0], packet.data[2:].split(b"\0")
        if kind != RRQ:
            return
        name = words[0].decode(errors="replace")
        if self.transfer and self.transfer.name == name and self.transfer.block <= 1:
            return  # the same request again, and not a board that was reset
        self.requested.append(name)
        own_port = FIRST_PORT + len(self.requested) % 1000
        if name not in self.files:
            self.missing.append(name)
            self._reply(
                packet.source_mac, port, own_port, struct.pack("!HH", ERROR, 1) + b"no such file\0"
            )
            return
        options = dict(zip((word.lower() for word in words[2::2]), words[3::2]))
        size, first = BLOCK, 1
        if options.get(b"blksize", b"").isdigit():
            size, first = min(max(int(options[b"blksize"]), 8), 1428), 0
        self.transfer = Transfer(
            name, self.files[name], packet.source_mac, port, own_port, size, first, now
        )
        self._send_block(now)

    def _answered(self, data: bytes, now: float):
        transfer = self.transfer
        assert transfer
        kind, block = struct.unpack("!HH", data[:4])
        if kind == ERROR:
            self.transfer = None
        elif kind == ACK and block == transfer.block & 0xFFFF:
            if transfer.block and transfer.is_last:
                self.transfer = None
                return
            transfer.block += 1
            self._send_block(now)

    def _send_block(self, now: float):
        transfer = self.transfer
        assert transfer
        transfer.sent = now
        self._reply(transfer.mac, transfer.port, transfer.own_port, transfer.message())

    def _reply(self, mac: str, port: int, own_port: int, message: bytes):
        self.send(frames.udp((mac, self.mac), (CLIENT, SERVER), (port, own_port), message))
