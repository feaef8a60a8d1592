# SPDX-License-Identifier: BSD-2-Clause
"""Marks of TCP segments that continue the frame before, against scapy's view of such frames."""

import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from bench.models.frames import padded, plain
from bench.models.merge_model import Merging, Stream

DUT = "merge"
FCS = 4
OPTIONS = ([], [("NOP", None), ("NOP", None), ("Timestamp", (7, 8))], [("MSS", 1460)],
           [("NOP", None)] * 40)


class Bench:
    @classmethod
    async def start(cls, dut, pause=0.0):
        bench = cls()
        bench.dut, bench.pause, bench.model, bench.seen = dut, pause, Merging(), Counter()
        Clock(dut.sys_clk, 10, unit="ns").start()
        dut.sys_rst.value = 1
        dut.take.value = dut.decided.value = dut.octets.value = dut.queue.value = 0
        await ClockCycles(dut.sys_clk, 2)
        dut.sys_rst.value = 0
        return bench

    async def show(self, frame, kept=True, queue=0):
        """Shows a frame to the device, and compares its mark with the model's; returns the mark."""
        dut, wire = self.dut, frame + random.randbytes(FCS)
        for at in range(0, len(wire), 4):
            while random.random() < self.pause:
                dut.take.value, dut.first.value = 0, random.getrandbits(1)
                dut.data.value = random.getrandbits(32)
                await ClockCycles(dut.sys_clk, 1)
            dut.take.value, dut.first.value = 1, at == 0
            dut.data.value = int.from_bytes(wire[at:at + 4].ljust(4, b"\xee"), "little")
            dut.octets.value = at  # octets before this word
            await ClockCycles(dut.sys_clk, 1)
        dut.take.value, dut.octets.value = 0, len(wire)
        await ClockCycles(dut.sys_clk, 1 + random.randrange(3))
        dut.decided.value, dut.kept.value, dut.queue.value = 1, kept, queue
        await ClockCycles(dut.sys_clk, 1)
        said = bool(dut.continues.value)
        dut.decided.value, dut.kept.value = 0, random.getrandbits(1)
        assert said == self.model.decide(frame, kept, queue), frame.hex()
        self.seen[said] += 1
        return said


@cocotb.test()
@cocotb.parametrize(v6=[False, True], pause=[0.0, 0.6])
async def streams_continue(dut, v6, pause):
    """Any header, numbers that wrap, any payload; the last segment is shorter, or has PSH."""
    bench = await Bench.start(dut, pause)
    for options in OPTIONS:
        for size in (1, 2, 3, 200, 1448):
            stream = Stream(v6, options, 2**32 - 3*size, 0xFFFE, size)
            shown = [await bench.show(padded(stream.segment())) for _ in range(5)]
            whole = v6 or len(stream.peek()) >= 60
            assert shown == [False] + 4*[whole] if whole else not any(shown)
            end = stream.segment(size - 1 or None, flags="PA")
            await bench.show(padded(end))
            await bench.show(padded(stream.segment()))  # nothing continues that segment
    assert bench.seen[True] > 50


@cocotb.test()
@cocotb.parametrize(v6=[False, True])
async def each_bit_of_the_headers_matters(dut, v6):
    """Two segments differ from the stream in the same bit of their headers. The first one continues
    only if the bit is in a checksum, or is PSH. The next ones are compared with the frame before
    them."""
    bench = await Bench.start(dut)
    stream = Stream(v6, OPTIONS[1], size=24)
    length = len(stream.peek()) - 24
    for bit in range(8 * length):
        await bench.show(stream.segment())
        for _ in range(2):
            octets = bytearray(stream.segment())
            octets[bit // 8] ^= 1 << bit % 8
            await bench.show(bytes(octets))
        await bench.show(stream.segment())
    assert bench.seen[True] >= 200


@cocotb.test()
@cocotb.parametrize(v6=[False, True])
async def equal_start_of_header_is_not_enough(dut, v6):
    """A smaller data offset would turn options into payload."""
    bench = await Bench.start(dut)
    stream = Stream(v6, OPTIONS[1], size=60)
    await bench.show(stream.segment())
    octets = bytearray(stream.segment(24))
    offset = len(octets) - 24 - 20  # position of the data offset: 12 octets of the header are options
    assert octets[offset] == 8 << 4
    octets[offset] = 5 << 4
    assert not await bench.show(bytes(octets))


@cocotb.test()
async def sizes(dut):
    """Payloads of any lengths in a row: none is longer than the first, and a shorter one ends the
    run."""
    bench = await Bench.start(dut)
    stream = Stream(options=OPTIONS[1])
    for _ in range(400):
        await bench.show(stream.segment(random.choice((100, 100, 100, 99, 101, 1, 1448))))
    assert min(bench.seen.values()) > 50


@cocotb.test()
async def no_merge_across_other_frames(dut):
    """Frames of other kinds, other flows and queues, lost frames, segments without payload, gaps,
    repetitions, and frames that end within their headers."""
    bench = await Bench.start(dut, 0.1)
    streams = [Stream(v6, options) for v6 in (False, True) for options in OPTIONS]
    streams.append(Stream())
    streams[-1].packet = Ether() / Dot1Q(vlan=5) / streams[-1].packet[IP]
    stream = streams[0]
    for _ in range(1500):
        choice = random.random()
        if choice < 0.1:
            stream = random.choice(streams)
        frame = stream.segment()
        if choice > 0.9:
            frame = other(stream, frame)
        await bench.show(frame, kept=random.random() < 0.9, queue=random.random() < 0.05)
    assert bench.seen[True] > 300


def other(stream, frame):
    """Any other frame, sometimes almost a continuation."""
    head, size = stream.packet.copy(), random.randrange(2, 60)
    odd = random.randrange(11)
    if odd == 0:
        return plain(random.randrange(60, 200))
    if odd == 1:
        return frame[:random.randrange(60, len(frame))]      # truncated
    if odd == 2:
        return frame + random.randbytes(random.randrange(1, 20))  # with a trailer
    if odd == 3:
        return padded(stream.peek(0))
    if odd == 4:
        stream.skip(-stream.size)                            # repeated
        return frame
    if odd == 5:
        stream.skip(1)
        return stream.peek()
    if odd == 6:
        network = IP(options=[IPOption_NOP()] * 4)
        return padded(bytes(Ether() / network / TCP(flags="A") / Raw(bytes(size))))
    if odd == 7:
        return padded(bytes(Ether() / IP() / UDP() / Raw(bytes(size))))
    if odd == 8:
        return padded(bytes(Ether() / IP(flags="MF", proto=6) / TCP(flags="A") / Raw(bytes(size))))
    if odd == 9:
        network = IPv6() / IPv6ExtHdrDestOpt()
        return padded(bytes(Ether() / network / TCP(flags="A") / Raw(bytes(size))))
    for flag in random.sample("FSRUEC", 1):
        head[TCP].flags = "A" + flag
    return padded(bytes(head / Raw(bytes(size))))
