# SPDX-License-Identifier: BSD-2-Clause
"""Receive-side scaling against Microsoft's verification suite, and a model that parses frames."""

import ipaddress
import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from bench.models.frames import padded, plain
from bench.models.rss_model import ALL, KEY, VECTORS, hashed, toeplitz
from moderato.gateware.registers.table import RSS_TYPES
from moderato.sim.lab.run.system import SYMMETRIC_KEY

DUT  = "rss"
SLOW = "one_hash|pause=0.6"


class Bench:
    @classmethod
    async def start(cls, dut, types=ALL, table=0, on=0b11, key=KEY):
        bench = cls()
        bench.dut, bench.key = dut, key
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.sys_rst.value = 1
        dut.take.value = dut.key_write.value = 0
        dut.types.value, dut.indirection.value, dut.on.value = types, table, on
        await ClockCycles(dut.sys_clk, 2)
        dut.sys_rst.value = 0
        await bench.set_key(key)
        return bench

    async def set_key(self, key):
        self.key = key
        for word in range(len(key) // 4):
            self.dut.key_word.value = word
            self.dut.key_data.value = int.from_bytes(key[4*word:][:4], "little")
            self.dut.key_write.value = 1
            await ClockCycles(self.dut.sys_clk, 1)
        self.dut.key_write.value = 0

    async def ask(self, frame, pause=0.0):
        """The hash of a frame, two clocks after its last word."""
        dut = self.dut
        for at in range(0, len(frame), 4):
            while random.random() < pause:
                dut.take.value = 0
                dut.data.value = random.getrandbits(32)
                dut.first.value = random.getrandbits(1)
                await ClockCycles(dut.sys_clk, 1)
            dut.take.value, dut.first.value = 1, at == 0
            dut.data.value = int.from_bytes(frame[at:at + 4].ljust(4, b"\xee"), "little")
            await ClockCycles(dut.sys_clk, 1)
        dut.take.value = 0
        await ClockCycles(dut.sys_clk, 2)
        return int(dut.hash.value)


def packet(address, port, transport):
    """The hashed fields of a vector as a packet."""
    destination, source, dport, sport, *_ = address
    ip = IP if "." in source else IPv6
    return bytes(Ether(dst="02:4d:6f:64:00:00") / ip(src=source, dst=destination) /
                 transport(sport=sport, dport=dport)) if port else \
        bytes(Ether(dst="02:4d:6f:64:00:00") / ip(src=source, dst=destination) / Raw(bytes(30)))


@cocotb.test()
async def verification_suite(dut):
    """Each vector, hashed by its addresses, and with its ports."""
    bench = await Bench.start(dut)
    for vector in VECTORS:
        *_, by_addresses, with_ports = vector
        for transport in (TCP, UDP):
            assert await bench.ask(padded(packet(vector, True, transport)), 0.2) == with_ports
        assert await bench.ask(padded(packet(vector, False, None))) == by_addresses


@cocotb.test()
async def the_model_is_right(dut):
    for destination, source, dport, sport, by_addresses, with_ports in VECTORS:
        row = b"".join(ipaddress.ip_address(address).packed for address in (source, destination))
        assert toeplitz(KEY, row) == by_addresses
        assert toeplitz(KEY, row + struct.pack(">HH", sport, dport)) == with_ports


def some_packet():
    """A packet of any distinguished kind, or nearly one."""
    head = Ether(dst="02:4d:6f:64:00:00", src="02:54:73:74:00:00")
    for _ in range(random.choice((0, 0, 0, 1, 2))):
        head /= random.choice((Dot1Q, Dot1AD))(vlan=random.randrange(4096))
    if random.random() < 0.5:
        source, destination = (str(ipaddress.IPv4Address(random.randbytes(4))) for _ in range(2))
        network = IP(src=source, dst=destination, tos=random.getrandbits(8), id=random.getrandbits(16),
                     options=[IPOption_NOP()] * 4*random.choice((0, 0, 1, 7)),
                     flags=random.choice((0, 2, 2, 1, 4)),
                     frag=random.choice((0, 0, 0, 1, 0x100, 0x1f00)))
    else:
        source, destination = (str(ipaddress.IPv6Address(random.randbytes(16))) for _ in range(2))
        network = IPv6(src=source, dst=destination, tc=random.getrandbits(8), fl=random.getrandbits(20))
        if random.random() < 0.2:
            network /= IPv6ExtHdrFragment(offset=random.choice((0, 5)), m=1)
    ports = {"sport": random.getrandbits(16), "dport": random.getrandbits(16)}
    transport = random.choice((TCP(**ports), UDP(**ports), Raw(random.randbytes(30))))
    return padded(bytes(head / network / transport / Raw(random.randbytes(random.randrange(60)))))


def foreign():
    """Frames that only resemble IP: with another EtherType, version, or a too short header."""
    frame = bytearray(some_packet())
    while frame[12:14] not in (b"\x08\x00", b"\x86\xdd"):
        frame[12:16] = b""
    version = 6 if frame[12] == 0x86 else 4
    choice = random.randrange(3 if version == 4 else 2)
    if choice == 0:
        frame[12:14] = random.choice((b"\x00\x08", b"\xdd\x86", b"\x08\x06", b"\x88\xa9", b"\x81\x01"))
    elif choice == 1:
        frame[14] = frame[14] & 15 | random.choice([n for n in range(16) if n != version]) << 4
    else:
        frame[14] = frame[14] & 0xF0 | random.randrange(5)
    return bytes(frame)


def expected(frame, key, types):
    row = hashed(frame, types)
    return toeplitz(key, row) if row else 0


@cocotb.test()
@cocotb.parametrize(pause=[0.0, 0.6])
async def packets_of_all_kinds(dut, pause):
    """After any other frames, with any key, and any set of types."""
    bench = await Bench.start(dut)
    for round in range(40):
        types = ALL if round % 4 == 0 else random.getrandbits(len(RSS_TYPES))
        dut.types.value = types
        await bench.set_key(random.randbytes(40))
        for _ in range(25):
            frame = some_packet()
            assert await bench.ask(frame + random.randbytes(4), pause) == \
                expected(frame, bench.key, types), frame.hex()


@cocotb.test()
async def each_type_alone(dut):
    bench = await Bench.start(dut)
    kinds = set()
    for _ in range(400):
        frame = some_packet()
        for bit, name in enumerate(RSS_TYPES):
            dut.types.value = 1 << bit
            want = expected(frame, KEY, 1 << bit)
            assert await bench.ask(frame) == want, (name, frame.hex())
            kinds |= {name} if want else set()
    assert kinds == set(RSS_TYPES)


@cocotb.test()
async def only_ip_has_hash(dut):
    bench = await Bench.start(dut)
    for _ in range(500):
        frame = foreign() if random.random() < 0.9 else plain(random.randrange(14, 80))[:12] + bytes(50)
        assert await bench.ask(frame) == 0, frame.hex()


@cocotb.test()
async def cut_frame_leaves_no_hash_state(dut):
    """A frame ends after any word; the next one has its own hash, even without a gap."""
    bench = await Bench.start(dut)
    for _ in range(300):
        cut = some_packet()
        cut = cut[:4*random.randrange(1, len(cut) // 4)]
        for at in range(0, len(cut), 4):
            dut.take.value, dut.first.value = 1, at == 0
            dut.data.value = int.from_bytes(cut[at:at + 4], "little")
            await ClockCycles(dut.sys_clk, 1)
        frame = some_packet()
        assert await bench.ask(frame) == expected(frame, KEY, ALL)


@cocotb.test()
async def table_and_enabled_queues(dut):
    table = random.getrandbits(128)
    bench = await Bench.start(dut, table=table)
    seen = set()
    for _ in range(600):
        frame = some_packet()
        entry = await bench.ask(frame) & 127
        seen.add(entry)
        assert int(dut.queue.value) == table >> entry & 1
        for on in range(4):
            dut.on.value = on
            await ClockCycles(dut.sys_clk, 1)
            assert int(dut.taken.value) == on >> int(dut.queue.value) & 1
        dut.indirection.value = table = table ^ 1 << random.randrange(128)
    assert len(seen) > 100


@cocotb.test()
async def one_hash_for_both_directions(dut):
    """With the key of `--spread queues`, both directions of a flow have the same hash, and
    different flows still differ. With another key, the directions differ."""
    bench = await Bench.start(dut)
    for key, alike in ((bytes.fromhex(SYMMETRIC_KEY.replace(":", "")), True), (KEY, False)):
        await bench.set_key(key)
        hashes = set()
        for ip, address in ((IP, ipaddress.IPv4Address), (IPv6, ipaddress.IPv6Address)):
            for transport in (TCP, UDP):
                near, far = (str(address(random.randbytes(4 if ip is IP else 16))) for _ in range(2))
                sport, dport = random.sample(range(1, 2**16), 2)
                there = ip(src=near, dst=far) / transport(sport=sport, dport=dport)
                back = ip(src=far, dst=near) / transport(sport=dport, dport=sport)
                first, answer = [await bench.ask(padded(bytes(Ether() / frame)))
                                 for frame in (there, back)]
                assert (first == answer) == alike
                hashes.add(first)
        assert len(hashes) == 4
