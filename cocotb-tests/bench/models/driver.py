# SPDX-License-Identifier: BSD-2-Clause
"""A model of the driver: rings, buffers, doorbells and phases, all from the register table.

Like the driver, it reads completions only from memory. It first fills every Rx buffer with a known
pattern, to find octets that the MAC writes outside a frame. It checks the sum of each received
frame.
"""

import random
import struct
from collections import deque
from dataclasses import dataclass

from cocotb.triggers import RisingEdge
from scapy.utils import checksum

from bench.models.wishbone import Registers, field
from moderato.gateware.registers import table as registers
from moderato.gateware.registers.table import DESCRIPTOR_BYTES, RX_OFFSET, STAMP_OCTETS

MODULO = 1 << registers.INDEX_BITS
WORDS = {word.name: word for word in registers.DESCRIPTOR}
FIELDS = {(word.name, f.name): f for word in registers.DESCRIPTOR for f in word.fields}
CANARY = 0xA5
GUARD = 64        # bytes around each buffer that must not change
STATION = bytes.fromhex("024d6f640000")

RX_RING, TX_RING, BUFFERS, END = 0x0_1000, 0x1_1000, 0x2_1000, 0x100_0000


def put(word, **values):
    """A descriptor word from its fields."""
    total = 0
    for name, value in values.items():
        f = FIELDS[word, name]
        assert value >> f.width == 0, f"{name} = {value} does not fit"
        total |= value << f.lsb
    return total


def get(word, name, value):
    f = FIELDS[word, name]
    return (value & f.mask) >> f.lsb


def summed(octets):
    """The one's complement sum of pairs of octets, each with its first octet in bits 7:0."""
    return int.from_bytes((checksum(octets) ^ 0xFFFF).to_bytes(2, "big"), "little")


@dataclass
class Frame:
    """Contents of a completed Rx descriptor."""
    data:      bytes
    multicast: bool = False
    broadcast: bool = False
    urgent:    bool = False
    error:     bool = False
    tci:       int | None = None  # of the removed tag
    stamp:     int | None = None  # ns
    continues: bool = False


class Ring:
    """Producer and consumer of one direction."""

    def __init__(self, driver, prefix, base, order):
        self.driver, self.prefix, self.base, self.order = driver, prefix, base, order
        self.word = f"{prefix[:2]}_CHECKSUM"
        self.size = 1 << order
        self.reset()

    def reset(self):
        """Resets to the state after enabling: indices are 0, and no descriptor is completed."""
        self.producer = self.consumer = 0
        self.posted = deque()  # the item of each descriptor from consumer to producer
        self.driver.ram.write(self.base, bytes(self.size * DESCRIPTOR_BYTES))

    @property
    def room(self):
        return self.size - len(self.posted)

    def address(self, index, word):
        return self.base + index % self.size * DESCRIPTOR_BYTES + WORDS[word].offset

    def post(self, address, item, checksum, tag=None, **control):
        """Writes the next descriptor. STATUS keeps the phase of the pass before. With `tag`, word 3
        requests that tag, and the rest of its old contents is lost."""
        assert self.room, f"{self.prefix} ring is full"
        words = [("ADDRESS", address), ("CONTROL", put("CONTROL", **control)), (self.word, checksum)]
        if tag is not None:
            words.append(("STATUS", tag | put("STATUS", PHASE=self.producer >> self.order & 1)))
        for word, value in words:
            self.driver.ram.write(self.address(self.producer, word), struct.pack("<I", value))
        self.posted.append(item)
        self.producer = (self.producer + 1) % MODULO

    async def doorbell(self):
        await self.driver.regs.write(f"{self.prefix}_DOORBELL", self.producer)

    def done(self):
        """Takes the next completed descriptor off the ring: (status, item), or None. `checksum`
        then is the word written back with the status."""
        if not self.posted:
            return None
        raw = self.driver.ram.read(self.address(self.consumer, self.word), 8)
        self.checksum, status = struct.unpack("<II", raw)
        if get("STATUS", "PHASE", status) != (self.consumer >> self.order & 1) ^ 1:
            return None
        self.consumer = (self.consumer + 1) % MODULO
        return status, self.posted.popleft()

    async def rearm(self):
        await self.driver.regs.write(f"{self.prefix}_REARM", self.consumer)

    async def disarm(self):
        await self.driver.regs.write(f"{self.prefix}_DISARM", 0)


class Driver:
    """The MAC's driver. `memory` is a bench.memory.memory.Memory of at least END bytes.

    first: the driver of queue 0, if this is that of queue 1; they share the memory.
    """

    def __init__(self, dut, memory, rx_order=4, tx_order=4, buffer=2048, first=None):
        self.dut, self.memory, self.ram = dut, memory, memory.ram
        self.number, start = ("1", END // 2) if first else ("", 0)
        self.regs = first.regs if first else Registers(dut)
        self.ctrl = first.ctrl if first else {}
        self.rx = Ring(self, f"RX{self.number}", start + RX_RING, rx_order)
        self.tx = Ring(self, f"TX{self.number}", start + TX_RING, tx_order)
        self.buffer = buffer
        self.asks = deque()  # whether frames on the Tx ring request a stamp
        self.stamps = []     # of those that came off it: ns, or None
        self.end = END
        self.buffers = self._next = start + BUFFERS
        if first:
            first.end = start

    def allocate(self, size, offset=0):
        """An address at `offset` after a multiple of 64, with guards on both sides."""
        start = self._next + GUARD + offset
        self._next += (size + offset + 2*GUARD + 63) & ~63
        if self._next >= self.end:
            self._next = self.buffers
            return self.allocate(size, offset)
        return start

    # Starting and stopping ------------------------------------------------------------------------

    async def start(self, rx=True, tx=True, post=True, **settings):
        """Programs and enables both directions; `settings` are further registers by name."""
        low, high = struct.unpack("<IH", STATION)
        setup = {"MAC_LOW": low, "MAC_HIGH": high, **settings}
        for ring in (self.rx, self.tx):
            ring.reset()
            self.asks.clear()
            setup[f"{ring.prefix}_RING_BASE"] = ring.base
            setup[f"{ring.prefix}_RING_ORDER"] = ring.order
        for name, value in setup.items():
            await self.regs.write(name, value)
        await self.enable(rx, tx)
        self.sums, self.inserts = [await self.regs.read("FEATURES", f"{prefix}_CHECKSUM")
                                   for prefix in ("RX", "TX")]
        self.tags = await self.regs.read("VLAN", "INSERT")
        self.stamping = await self.regs.read("FEATURES", "TIMESTAMP")
        if rx and post:
            await self.post_buffers()
        if rx:
            await self.rx.rearm()
        if tx:
            await self.tx.rearm()

    async def enable(self, rx=True, tx=True, **flags):
        self.ctrl[self.number] = {f"RX{self.number}_ENABLE": rx, f"TX{self.number}_ENABLE": tx, **flags}
        value = 0
        for bits in self.ctrl.values():
            for name, bit in bits.items():
                value |= int(bit) << field("CTRL", name).lsb
        await self.regs.write("CTRL", value)

    async def stop(self, clocks=5000):
        """Disables both directions and waits until both are idle."""
        await self.enable(False, False)
        names = [f"{ring.prefix}_IDLE" for ring in (self.rx, self.tx)]
        for _ in range(clocks):
            if all([await self.regs.read("STATUS", name) for name in names]):
                return
        raise AssertionError("not idle after disabling")

    # Receive --------------------------------------------------------------------------------------

    async def post_buffers(self, count=None, size=None, ring_doorbell=True, **flags):
        """Posts `count` Rx buffers (default: as many as fit the ring), then rings the doorbell
        once."""
        size = self.buffer if size is None else size
        for _ in range(self.rx.room if count is None else count):
            address = self.allocate(size)
            self.ram.write(address - GUARD, bytes([CANARY]) * (size + 2*GUARD))
            self.rx.post(address, (address, size), random.getrandbits(32), LENGTH=size, **flags)
        if ring_doorbell:
            await self.rx.doorbell()

    def receive(self):
        """The next received frame, or None. Checks its sum, and that nothing else was written."""
        done = self.rx.done()
        if done is None:
            return None
        status, (address, size) = done
        length = get("STATUS", "LENGTH", status)
        error, stamped = (bool(get("STATUS", name, status)) for name in ("ERROR", "STAMPED"))
        assert not error or (length == 0 and not stamped)
        start = RX_OFFSET + STAMP_OCTETS * stamped
        end = (start + length + 7) & ~7 if not error else 0
        assert end <= size, f"frame of {length} octets in a buffer of {size} bytes"
        around = self.ram.read(address - GUARD, size + 2*GUARD)
        around = around[:GUARD] + around[GUARD + end:]
        assert set(around) <= {CANARY}, "the DMA wrote outside the frame's words"
        flags = [bool(get("STATUS", name, status)) for name in ("MULTICAST", "BROADCAST", "URGENT")]
        continues = bool(get("STATUS", "CONTINUES", status))
        data = self.ram.read(address + start, length)
        tagged = get("STATUS", "TAGGED", status)
        tci = get("RX_CHECKSUM", "TCI", self.rx.checksum)
        assert tagged or tci == 0
        assert get("RX_CHECKSUM", "SUM", self.rx.checksum) == (summed(data[14:]) if self.sums else 0), \
            f"the sum of {length} octets is {self.rx.checksum:#x}"
        stamp = int.from_bytes(self.ram.read(address, STAMP_OCTETS), "little") if stamped else None
        return Frame(data, *flags, error, tci if tagged else None, stamp, continues)

    async def poll(self, count, clocks=200_000, repost=True):
        """Receives `count` frames and posts their descriptors again."""
        frames = []
        for _ in range(clocks):
            frame = self.receive()
            if frame is not None:
                frames.append(frame)
                if len(frames) == count:
                    if repost:
                        await self.post_buffers()
                    return frames
                if repost and self.rx.room > self.rx.size // 2:
                    await self.post_buffers()
            else:
                await RisingEdge(self.dut.sys_clk)
        raise AssertionError(f"{len(frames)} frames arrived, not {count}")

    # Transmit -------------------------------------------------------------------------------------

    def queue(self, data, offset=0, checksum=None, tci=None, segments=None, launch=None, **flags):
        """Posts a frame that starts `offset` bytes after a multiple of 64; rings no doorbell.

        checksum: (START, PLACE) of a checksum to be inserted. tci: of a tag to be inserted.
        segments: the frame has headers with these (START, PAYLOAD, MSS). launch: the frame's time.
        """
        address = self.allocate(len(data), offset)
        self.ram.write(address - GUARD, bytes([CANARY]) * (len(data) + 2*GUARD))
        self.ram.write(address, data)
        start, place = checksum or (random.getrandbits(14), random.getrandbits(14))
        word = put("TX_CHECKSUM", START=start, PLACE=place, INSERT=checksum is not None)
        last = self._tag(tci)
        if segments:
            start, octets, mss = segments
            word = put("TX_SEGMENT", START=start, PAYLOAD=octets)
            last = (last or 0) | put("TX_MSS", MSS=mss)
        if launch is not None:
            word, flags = launch % 2**32, flags | {"LAUNCH": 1}
        self.tx.post(address, address, word, last, LENGTH=len(data), **flags)
        self.asks.append(bool(flags.get("TIMESTAMP") and not flags.get("MORE")))

    def queue_pieces(self, pieces, checksum=None, tci=None, more=False, **flags):
        """Posts a frame in pieces, each as (octets, offset) of `queue`; rings no doorbell.

        more: the next posted pieces belong to it, too.
        """
        for n, (data, offset) in enumerate(pieces):
            self.queue(data, offset, *((checksum, tci) if n == 0 else ()),
                       MORE=more or n + 1 < len(pieces), **flags)

    def _tag(self, tci):
        if not self.tags:
            return None
        if tci is None:
            return put("TX_TAG", TAG=random.getrandbits(16))
        return put("TX_TAG", TAG=tci, TAGGED=1)

    async def send(self, data, offset=0, checksum=None, tci=None, **flags):
        """Posts a frame, waiting for room, and rings the doorbell."""
        while not self.tx.room:
            self.reclaim()
            await RisingEdge(self.dut.sys_clk)
        self.queue(data, offset, checksum, tci, **flags)
        await self.tx.doorbell()

    def reclaim(self):
        """Takes completed frames off the Tx ring; returns their ERROR flags."""
        errors = []
        while (done := self.tx.done()) is not None:
            error, stamped = (bool(get("STATUS", name, done[0])) for name in ("ERROR", "STAMPED"))
            errors.append(error)
            if self.asks.popleft() and not error:
                self.stamps.append(self.tx.checksum if stamped else None)
            else:
                assert not stamped
            assert stamped or self.tx.checksum == 0
        return errors

    async def reclaim_all(self, clocks=200_000):
        errors = []
        for _ in range(clocks):
            errors += self.reclaim()
            if not self.tx.posted:
                return errors
            await RisingEdge(self.dut.sys_clk)
        raise AssertionError(f"{len(self.tx.posted)} frames never completed")
