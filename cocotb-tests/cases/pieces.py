# SPDX-License-Identifier: BSD-2-Clause
"""Frames in pieces: any pieces at any addresses, and errors in some of them."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from bench.models.frames import inserted, padded, plain, transport
from bench.mac import Mac
from cases.basics import MAX, MIN
from moderato.gateware.registers.table import DESCRIPTOR_BYTES

LIMIT = 4088  # octets of a frame that the FIFO holds


def cut(octets, most):
    """Cuts `octets` into up to this many pieces of at least one octet, each at some offset."""
    count = min(random.randint(1, most), len(octets))
    edges = [0, *sorted(random.sample(range(1, len(octets)), count - 1)), len(octets)]
    return [(octets[a:b], random.randrange(64)) for a, b in zip(edges, edges[1:])]


async def post(mac, pieces, *rest, **flags):
    """Posts the pieces when all of them fit the ring."""
    if mac.driver.tx.room < len(pieces):
        await mac.driver.tx.doorbell()
    while mac.driver.tx.room < len(pieces):
        mac.driver.reclaim()
        await RisingEdge(mac.dut.sys_clk)
    mac.driver.queue_pieces(pieces, *rest, **flags)


# Valid frames -------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5], most=[3, 18])
async def sends_frames_of_any_pieces(dut, slow, most):
    """Scapy's packets, with the checksum that the first piece requests, and doorbells anywhere."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5})
    packets = [transport() for _ in range(120)]

    async def feed():
        for packet in packets:
            asked = (packet.start, packet.place) if random.random() < 0.8 else None
            sent.append(padded(packet.right if asked else packet.partial))
            await post(mac, cut(packet.partial, most), asked)
            if random.random() < 0.7:
                await mac.driver.tx.doorbell()
        await mac.driver.tx.doorbell()

    sent = []
    feeding = cocotb.start_soon(feed())
    for _ in packets:
        got = await mac.wire.receive()
        assert got == sent.pop(0)
    await feeding
    assert not any(await mac.driver.reclaim_all())
    assert await mac.regs.read("FEATURES", "GATHER") == 1


@cocotb.test()
async def packs_every_offset_at_every_fill(dut):
    """Two pieces: the second one starts at each octet of a word, after each number of octets."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    cases = [(first, offset, second) for first in range(1, 18) for offset in range(8)
             for second in (1, 7, 8, 9, 16, 43)]
    random.shuffle(cases)
    frames = [plain(14 + first + second)[14:] for first, _, second in cases]

    async def feed():
        for frame, (first, offset, _) in zip(frames, cases, strict=True):
            await post(mac, [(frame[:first], random.randrange(8)), (frame[first:], offset)], (0, 0))
            await mac.driver.tx.doorbell()

    cocotb.start_soon(feed())
    for frame, case in zip(frames, cases, strict=True):
        assert await mac.wire.receive() == padded(inserted(frame, 0, 0)), case


@cocotb.test()
async def pieces_of_one_octet(dut):
    """More descriptors than the ring has: they complete, and make room for the rest of the frame."""
    mac = await Mac.start(dut, slow=0.2)
    frame = plain(150)
    for octet in frame[:-1]:
        await post(mac, [(bytes([octet]), random.randrange(8))], more=True)
        await mac.driver.tx.doorbell()
    await mac.clocks(500)
    assert not mac.wire.waiting()
    await post(mac, [(frame[-1:], 0)])
    await mac.driver.tx.doorbell()
    assert await mac.wire.receive() == frame
    assert not any(await mac.driver.reclaim_all())


@cocotb.test()
async def waits_for_last_piece(dut):
    """MORE in the last descriptor of a doorbell: nothing is sent, and only those pieces complete."""
    mac = await Mac.start(dut)
    for _ in range(10):
        frame = plain(random.randrange(MIN, 300))
        first, *rest = cut(frame, 4)
        before = plain(MIN)
        mac.driver.queue(before)
        mac.driver.queue_pieces([first], more=bool(rest))
        await mac.driver.tx.doorbell()
        assert await mac.wire.receive() == before
        if rest:
            await mac.clocks(1000)
            assert not mac.wire.waiting()
            assert await mac.driver.reclaim_all() == [False, False]
            mac.driver.queue_pieces(rest)
            await mac.driver.tx.doorbell()
        assert await mac.wire.receive() == frame
        assert not any(await mac.driver.reclaim_all())


@cocotb.test()
@cocotb.parametrize(pieces=[1, 2, 5])
async def the_line_rate_in_pieces(dut, pieces):
    """1000 Mb/s: the wire does not wait for frames that are assembled."""
    mac = await Mac.start(dut, driver={"tx_order": 6})
    frames = [plain(MIN) for _ in range(60 if pieces < 5 else 0)] + [plain(MAX) for _ in range(20)]

    async def feed():
        for frame in frames:
            step = -(-len(frame) // pieces)
            await post(mac, [(frame[at:at + step], 2) for at in range(0, len(frame), step)])
            await mac.driver.tx.doorbell()

    feeding = cocotb.start_soon(feed())
    for frame in frames:
        assert await mac.wire.receive() == frame
    await feeding
    octets = sum(8 + len(frame) + 4 + 12 for frame in frames) - 12
    assert mac.wire.took <= octets * 1.01


# Errors -------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.4])
async def aborts_bad_frames(dut, slow):
    """An empty piece, one octet too many, or a failed read: ERROR from that piece on, and nothing
    is sent."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5})
    driver, refused = mac.driver, set()
    mac.memory.refuse(reads=lambda address: address in refused)
    dropped = 0
    for _ in range(60):
        sent, errors = [], []
        while driver.tx.room > 12:
            frame = plain(random.randrange(MIN, 400))
            pieces = cut(frame, 6)
            asked = random.choice((None, (14, 30)))
            wrong = random.choice((None, None, "empty", "long", "refused"))
            at = random.randrange(len(pieces))
            if wrong == "empty":
                pieces.insert(at, (b"", random.randrange(64)))
                dropped += 1
            elif wrong == "long":
                rest = LIMIT - sum(len(octets) for octets, _ in pieces[:at]) + 1
                pieces[at] = (random.randbytes(random.choice((rest, 0xFFFF))), random.randrange(64))
                dropped += 1
            start = len(driver.tx.posted)
            driver.queue_pieces(pieces, asked)
            if wrong == "refused":
                address = driver.tx.posted[start + at]
                refused.add((address + random.randrange(len(pieces[at][0]))) & ~7)
            elif wrong is None:
                sent.append(inserted(frame, *asked) if asked else frame)
            errors += [wrong is not None and n >= at for n in range(len(pieces))]
        await driver.tx.doorbell()
        assert await driver.reclaim_all() == errors
        for frame in sent:
            assert await mac.wire.receive() == frame
        refused.clear()
    await mac.settle()
    assert not mac.wire.waiting()
    assert await mac.regs.read("TX_DROP_LENGTH") == dropped


@cocotb.test()
async def the_longest_frame_in_pieces(dut):
    """The FIFO holds 4088 octets, and one more aborts the frame, however many words of memory they
    touch."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    for length in (LIMIT, LIMIT + 1, LIMIT, LIMIT + 1, LIMIT + 1, LIMIT):
        frame = plain(length)
        pieces = cut(frame, 30)
        mac.driver.queue_pieces(pieces, (0, 4086))
        mac.driver.queue(frame[:MIN])
        await mac.driver.tx.doorbell()
        errors = await mac.driver.reclaim_all()
        assert errors == [False]*(len(pieces) - 1) + [length > LIMIT, False]
        if length <= LIMIT:
            assert await mac.wire.receive() == inserted(frame, 0, 4086)
        assert await mac.wire.receive() == frame[:MIN]


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.3])
async def stops_within_frame(dut, slow):
    """Stops at any moment, with a partial frame, or with a full FIFO: the ring becomes idle, and
    completed frames are sent. No part of a frame enters the next one."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 6})
    driver = mac.driver
    for round in range(30):
        lengths = (MIN, 300) if round % 2 else (MAX, LIMIT)  # then the FIFO is full
        frames = [plain(random.randrange(*lengths)) for _ in range(6)]
        pieces = [cut(frame, 5) for frame in frames]
        for frame in pieces:
            driver.queue_pieces(frame, (14, 40), more=frame is pieces[-1] and random.random() < 0.8)
        await driver.tx.doorbell()
        await mac.clocks(random.randrange(100 if round % 3 else 3000))
        await driver.stop()
        errors = driver.reclaim()
        whole = 0
        for frame in pieces:
            ended, errors = errors[:len(frame)], errors[len(frame):]
            whole += len(ended) == len(frame) and not ended[-1]
        last = plain(100)
        await driver.start()
        await driver.send(last)
        # A frame handed over with MORE in its last piece looks complete here, and is not sent.
        for frame in [inserted(frame, 14, 40) for frame in frames[:min(whole, 5)]]:
            assert await mac.wire.receive() == frame
        got = await mac.wire.receive()
        if whole == 6 and got == inserted(frames[5], 14, 40):
            got = await mac.wire.receive()
        assert got == last
        assert not any(await driver.reclaim_all())


@cocotb.test()
async def fetch_fails_within_frame(dut):
    """The ring halts; after it was disabled, the first half of a frame is gone."""
    mac = await Mac.start(dut)
    driver = mac.driver
    frame = plain(200)
    driver.queue_pieces([(frame[:50], 3)], more=True)
    await driver.tx.doorbell()
    await mac.clocks(300)
    ring = range(driver.tx.base, driver.tx.base + driver.tx.size*DESCRIPTOR_BYTES)
    mac.memory.refuse(reads=lambda address: address in ring)
    driver.queue_pieces([(frame[50:], 3)])
    await driver.tx.doorbell()
    await mac.clocks(300)
    assert await mac.regs.read("STATUS", "TX_HALTED")
    mac.memory.refuse()
    await driver.stop()
    await driver.start()
    await driver.send(frame)
    assert await mac.wire.receive() == frame
