# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the whole MAC on buses other than its own."""

import random

import cocotb

from bench.models.driver import RX_OFFSET
from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases import basics, faults
from cases.basics import MAX, MIN, keep_the_line_rate, receive_with_one_refused, transmit

CASES = [basics.rejects_invalid_lengths, basics.memory_may_be_reused_at_completion,
         basics.receives_lengths, basics.rings_wrap, basics.transmits_every_alignment,
         faults.one_read_error_of_sent_frame]


def width(dut):
    """Bytes of the bus."""
    return len(dut.wb_dat_w if hasattr(dut, "wb_dat_w") else dut.dma_wdata) // 8


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def random_frames_both_ways(dut, slow):
    mac = await Mac.start(dut, link=100, slow=slow, driver={"rx_order": 5, "tx_order": 5})
    count = 16 if slow else 40
    inward, outward = ([plain(random.randint(MIN, MAX)) for _ in range(count)] for _ in range(2))
    for frame in inward:
        mac.wire.send(add_fcs(frame))
    sending = cocotb.start_soon(transmit(mac, [(frame, random.randrange(8)) for frame in outward]))
    await mac.expect(inward)
    await sending
    assert await mac.regs.read("DMA_ERRORS") == 0


@cocotb.test()
async def each_write_error_of_received_frame(dut):
    """Every access of a burst fails in turn, and both halves of a beat: the frame has ERROR, its
    neighbours are good."""
    mac = await Mac.start(dut, driver={"rx_order": 4})
    length, errors = 70, 0
    for at in range(0, RX_OFFSET + length, width(dut)):
        await receive_with_one_refused(mac, length, at)
        errors += 1
        assert await mac.regs.read("DMA_ERRORS") == errors


@cocotb.test()
async def each_read_error_of_sent_frame(dut):
    mac = await Mac.start(dut)
    for at in range(0, 128, width(dut)):
        frames = [plain(128) for _ in range(3)]
        for frame in frames:
            mac.driver.queue(frame, 0)
        refused = mac.driver.tx.posted[1] + at
        mac.memory.refuse(reads=lambda address, refused=refused: address == refused)
        await mac.driver.tx.doorbell()
        assert await mac.driver.reclaim_all() == [False, True, False], f"byte {at}"
        mac.memory.refuse()
        for frame in (frames[0], frames[2]):
            assert await mac.wire.receive() == frame


@cocotb.test()
@cocotb.parametrize(at=[0, 4, 8, 12])
async def descriptor_bus_error_halts_ring(dut, at):
    """The ring halts and reports it. If the first 8 bytes of a descriptor arrived, their request
    may be carried out; the other 8 could not request a checksum."""
    mac = await Mac.start(dut)
    byte, size = mac.driver.tx.address(0, "ADDRESS") + at, width(dut)
    mac.memory.refuse(reads=lambda address: address <= byte < address + size)
    mac.driver.queue(plain(100))
    await mac.driver.tx.doorbell()
    await mac.clocks(1000)
    assert await mac.regs.read("STATUS", "TX_HALTED") == 1
    assert await mac.regs.read("DMA_ERRORS") == 1
    assert bool(mac.wire.waiting()) == (at >= 8 and not mac.driver.inserts)


@cocotb.test()
async def keeps_gigabit_of_long_frames(dut):
    """Both directions at once, no frame is dropped."""
    mac = await Mac.start(dut, driver={"rx_order": 6, "tx_order": 6})
    await keep_the_line_rate(mac, [MAX]*20)
    assert await mac.regs.read("RX_DROP_FIFO") == 0
