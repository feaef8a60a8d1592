# SPDX-License-Identifier: BSD-2-Clause
"""The whole MAC with errors of single beats, invalid descriptors, and a stalled bus."""

import random

import cocotb
from cocotbext.axi import AxiResp

from bench.models.driver import RX_OFFSET
from bench.models.frames import plain
from bench.mac import Mac
from bench.memory.memory import BEAT
from bench.wires.wire import add_fcs
from cases.basics import MAX, MIN, padded, receive_with_one_refused

ANSWERS = [AxiResp.SLVERR, AxiResp.DECERR]
LONGEST = 4096 - 8  # octets that the Tx FIFO holds


# Single beats -------------------------------------------------------------------------------------

def beats_of(start, octets):
    """Addresses of the beats with octets from byte `start` on: the first, some, the last."""
    addresses = range(start & -BEAT, start + octets, BEAT)
    return sorted({addresses[0], addresses[-1], addresses[len(addresses) // 2],
                   *(address for address in addresses if address % 64 in (0, 56))})


@cocotb.test()
@cocotb.parametrize(answer=ANSWERS, slow=[0.0, 0.3])
async def one_write_error_of_received_frame(dut, answer, slow):
    """Any of its words is not written: the frame has ERROR and no length, its neighbours are good."""
    mac = await Mac.start(dut, slow=slow, driver={"rx_order": 4})
    length, errors = 200, 0
    start = mac.driver.rx.posted[1][0]
    for beat in [address - start for address in beats_of(start, RX_OFFSET + length)]:
        await receive_with_one_refused(mac, length, beat, answer=answer)
        errors += 1
        assert await mac.regs.read("DMA_ERRORS") == errors
    assert await mac.regs.read("STATUS", "RX_HALTED") == 0


@cocotb.test()
@cocotb.parametrize(answer=ANSWERS, slow=[0.0, 0.3])
async def one_read_error_of_sent_frame(dut, answer, slow):
    """Any of its words cannot be read: the frame has ERROR and is not sent, its neighbours are."""
    mac = await Mac.start(dut, slow=slow)
    errors = sent = 0
    for length, offset in ((200, 3), (14, 2), (4, 0)):
        mac.driver.queue(plain(max(length, 14))[:length], offset)
        start = mac.driver.tx.posted[-1]
        await mac.driver.tx.doorbell()
        await mac.driver.reclaim_all()
        await mac.wire.receive()
        sent += 1
        for beat in [address - (start & -BEAT) for address in beats_of(start, length)]:
            frames = [plain(max(length, 14))[:length] for _ in range(3)]
            for frame in frames:
                mac.driver.queue(frame, offset)
            refused = (mac.driver.tx.posted[1] & -BEAT) + beat
            mac.memory.refuse(reads=lambda address: address == refused, answer=answer)
            await mac.driver.tx.doorbell()
            assert await mac.driver.reclaim_all() == [False, True, False], f"byte {beat}"
            for frame in (frames[0], frames[2]):
                assert await mac.wire.receive() == padded(frame)
            mac.memory.refuse()
            errors, sent = errors + 1, sent + 2
            await mac.settle(200)
            assert await mac.regs.read("DMA_ERRORS") == errors
            assert await mac.regs.read("TX_GOOD_FRAMES") == sent
            assert not mac.wire.waiting(), "the damaged frame was sent"
    assert await mac.regs.read("STATUS", "TX_HALTED") == 0


# Illegal descriptors ------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.3, 0.6])
async def illegal_descriptors_among_the_shortest_frames(dut, slow):
    """Lengths of 0 or beyond the FIFO among frames of 1 to 16 octets and some longer ones: each
    completes in order, only the invalid ones with ERROR, and every other one is sent."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5})
    for _ in range(12):
        batch = []
        for _ in range(random.randint(1, 32)):
            length = random.choice((0, 0, LONGEST + 1, 0xFFFF, *range(1, 17), random.randrange(17, 400)))
            batch.append(plain(max(length, 14))[:length])
            mac.driver.queue(batch[-1], random.randrange(8))
            if random.random() < 0.3:
                await mac.driver.tx.doorbell()
        await mac.driver.tx.doorbell()
        legal = [0 < len(frame) <= LONGEST for frame in batch]
        assert await mac.driver.reclaim_all(clocks=50_000) == [not good for good in legal]
        for frame, good in zip(batch, legal):
            if good:
                assert await mac.wire.receive() == padded(frame)
    await mac.settle()
    assert not mac.wire.waiting()


# Starvation ---------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(lengths=[(MIN,), (MIN, 200, 700, MAX)])
async def every_offered_frame_has_one_fate(dut, lengths):
    """The bus stalls at times. Frames that were delivered, dropped at the FIFO, and dropped at the
    ring are together all that were sent, each counted once."""
    mac = await Mac.start(dut, driver={"rx_order": 4}, post=False)
    await mac.driver.post_buffers(12)
    offered, starved = (400, 6000) if lengths == (MIN,) else (200, 15_000)
    arrived = 0
    frames = [plain(random.choice(lengths)) for _ in range(offered)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    waiting = cocotb.start_soon(mac.wire.sent())
    while not waiting.done():
        mac.memory.starve(True)
        await mac.clocks(random.randrange(starved // 2, 2*starved))
        mac.memory.starve(False)
        await mac.clocks(random.randrange(100, 2000))
        while mac.driver.receive() is not None:
            arrived += 1
        if random.random() < 0.5:
            await mac.driver.post_buffers(min(mac.driver.rx.room, 8))
    await mac.settle(MAX)
    while mac.driver.receive() is not None:
        arrived += 1
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] + counters["RX_DROP_FIFO"] == offered
    assert arrived + counters["RX_DROP_RING"] == counters["RX_GOOD_FRAMES"]
    assert counters["RX_DROP_FIFO"] > 5 and counters["RX_DROP_RING"] > 5, counters
    assert (mac.events["rx_drop_fifo"], mac.events["rx_completed"]) == (
        counters["RX_DROP_FIFO"], arrived)


# The FIFOs' room ----------------------------------------------------------------------------------

@cocotb.test()
async def shortest_frames_fill_frame_records(dut):
    """The wire takes no frames. The MAC reads as many as the Tx FIFO has records for, and loses
    none when the wire continues."""
    mac = await Mac.start(dut, driver={"tx_order": 8})
    dut.pads_link_mbps.value = 0
    frames = [plain(14)[:random.randint(1, 14)] for _ in range(200)]
    for frame in frames:
        mac.driver.queue(frame, random.randrange(8))
    await mac.driver.tx.doorbell()
    await mac.clocks(5000)
    completed = len(mac.driver.reclaim())
    assert 60 <= completed < 70, completed  # two more than it holds are in flight
    dut.pads_link_mbps.value = 1000
    for frame in frames:
        assert await mac.wire.receive() == padded(frame)
    assert not any(await mac.driver.reclaim_all())


@cocotb.test()
async def drops_nothing_during_fetch(dut):
    """Frames wait for descriptors that were handed over, however late memory delivers them."""
    mac = await Mac.start(dut, post=False, driver={"rx_order": 4})
    answers = mac.memory.ram.read_if.r_channel
    for _ in range(10):
        answers.pause = True
        await mac.driver.post_buffers(3)
        frames = [plain(random.randrange(MIN, 200)) for _ in range(3)]
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await mac.settle(200)
        answers.pause = False
        for frame in frames:
            got, = await mac.driver.poll(1, repost=False)
            assert got.data == frame
    assert await mac.regs.read("RX_DROP_RING") == 0


@cocotb.test()
async def drops_frame_with_phy_error_in_any_word(dut):
    """One word of a frame is marked: the first, one in the middle, the last with 1 to 4 octets."""
    mac = await Mac.start(dut)
    bad = 0
    for length in (96, 97, 98, 99):
        octets = add_fcs(plain(length))
        words = -(-(8 + len(octets)) // 4)
        for marked in (2, words // 2, words - 1):
            mac.wire.send(octets, error=marked)
            await mac.settle(100)
            assert mac.driver.receive() is None, f"word {marked} of {words}"
            assert await mac.regs.read("RX_FCS_ERRORS") == bad + 1
            bad += 1
    frame = plain(100)
    mac.wire.send(add_fcs(frame))
    await mac.expect([frame])
