# SPDX-License-Identifier: BSD-2-Clause
"""A TFTP server at a wire, made of scapy's packets: RFC 1350 with the option blksize of RFC 2348."""

import cocotb
from cocotb.triggers import SimTimeoutError
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.layers.tftp import (TFTP, TFTP_ACK, TFTP_DATA, TFTP_OACK, TFTP_RRQ, TFTP_Option,
                               TFTP_Options)

from bench.wires.wire import add_fcs

SERVER, CLIENT = "192.168.1.100", "192.168.1.50"  # LiteX's
SERVER_MAC     = "02:54:73:74:00:00"
BROADCAST      = "ff:ff:ff:ff:ff:ff"
PORT           = 69
FIRST_PORT     = 50_000  # each transfer has its own port

RETRANSMIT_US = 2000
FOR_EVER_US   = 10_000_000


class TftpServer:
    """Serves `files`, contents by name, one after the other, on a LAN with other traffic.

    lose: blocks, (name, number), whose first transmission is lost.
    ignore: blocks whose first acknowledgment is lost.

    requested: names in order. resent: (name, number) of repeated blocks.
    client_mac: the address that ARP found.
    """
    def __init__(self, wire, files: dict[str, bytes], lose=(), ignore=()):
        self.wire, self.files = wire, files
        self.lose, self.ignore = set(lose), set(ignore)
        self.requested, self.resent = [], []
        self.client_mac = None
        self._task = cocotb.start_soon(self._serve())

    def stop(self):
        """Leaves the wire's frames to others."""
        self._task.cancel()

    async def _serve(self):
        while True:
            packet = await self._next(PORT)
            if TFTP_RRQ in packet:
                await self._send_file(packet[UDP].sport, packet[TFTP_RRQ])

    async def _send_file(self, client_port: int, request: TFTP_RRQ):
        name, mode = request.filename.decode(), request.mode
        self.requested.append(name)
        assert mode == b"octet", mode
        ports = {"sport": FIRST_PORT + len(self.requested), "dport": client_port}
        if self.client_mac is None:
            await self._resolve()
        if name not in self.files:
            raise AssertionError(f"the board asks for {name}")
        [blksize] = [int(option.value) for option in request[TFTP_Options].options
                     if option.oname == b"blksize"]
        agreed = TFTP_Options(options=[TFTP_Option(oname=b"blksize", value=b"%d" % blksize)])
        await self._until_acknowledged(ports, name, 0, TFTP() / TFTP_OACK() / agreed)
        content = self.files[name]
        for number in range(1, len(content) // blksize + 2):  # the last block is shorter, or empty
            block = content[(number - 1) * blksize:number * blksize]
            await self._until_acknowledged(
                ports, name, number, TFTP() / TFTP_DATA(block=number) / block)

    async def _until_acknowledged(self, ports: dict, name: str, number: int, message: TFTP):
        block, again = (name, number), False
        while True:
            self._gossip()
            if again:
                self.resent.append(block)
            if block in self.lose:
                self.lose.remove(block)
            else:
                self._send(Ether(dst=self.client_mac, src=SERVER_MAC) /
                           IP(src=SERVER, dst=CLIENT) / UDP(**ports) / message)
            again = True
            try:
                answer = TFTP(bytes((await self._next(ports["sport"], RETRANSMIT_US))[UDP].payload))
            except SimTimeoutError:
                continue
            assert answer[TFTP_ACK].block == number, answer
            if block not in self.ignore:
                return
            self.ignore.remove(block)

    async def _resolve(self):
        """Resolves the client's address by ARP, as a server does that does not learn from requests."""
        self._send(Ether(dst=BROADCAST, src=SERVER_MAC) /
                   ARP(hwsrc=SERVER_MAC, psrc=SERVER, pdst=CLIENT))
        reply = Ether(await self.wire.receive(RETRANSMIT_US))
        assert reply[ARP].op == 2 and reply[ARP].psrc == CLIENT and reply.dst == SERVER_MAC
        self.client_mac = reply[ARP].hwsrc

    def _gossip(self):
        """A frame for another station."""
        other = "02:00:00:00:00:42"
        self._send(Ether(dst=BROADCAST, src=other) / ARP(hwsrc=other, psrc="192.168.1.7",
                                                         pdst="192.168.1.9"))

    async def _next(self, port: int, us=FOR_EVER_US) -> Ether:
        """The next UDP packet for `port`, with correct checksums; meanwhile answers ARP."""
        while True:
            frame  = await self.wire.receive(us)
            packet = Ether(frame)
            if ARP in packet and packet[ARP].op == 1 and packet[ARP].pdst == SERVER:
                asker = packet[ARP]
                self._send(Ether(dst=asker.hwsrc, src=SERVER_MAC) / ARP(
                    op=2, hwsrc=SERVER_MAC, psrc=SERVER, hwdst=asker.hwsrc, pdst=asker.psrc))
            elif UDP in packet and packet[UDP].dport == port:
                computed = packet.copy()
                del computed[IP].chksum, computed[IP].len, computed[UDP].chksum, computed[UDP].len
                assert bytes(computed) == frame, f"a wrong checksum or length: {packet!r}"
                assert (packet[IP].src, packet[IP].dst) == (CLIENT, SERVER)
                return packet

    def _send(self, packet: Ether):
        self.wire.send(add_fcs(bytes(packet).ljust(60, b"\0")))
