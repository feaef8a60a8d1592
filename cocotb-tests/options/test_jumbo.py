# SPDX-License-Identifier: BSD-2-Clause
"""Frames of up to 9018 octets on LiteEth's GMII, by cocotbext-eth: the line rate both ways."""

import random

import cocotb

from bench.models.frames import JUMBO as MAX
from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.basics import MIN, keep_the_line_rate, transmit

DUT  = "mac_jumbo"
SLOW = "keeps"
BUFFER = MAX + 18


async def start(dut, **options):
    return await Mac.start(dut, driver={"buffer": BUFFER, "rx_order": 4, "tx_order": 4},
                           MAX_FRAME=MAX + 4, **options)


@cocotb.test()
async def keeps_the_line_rate(dut):
    """Back to back, alone and among short ones: no frame is lost, and the wire never pauses."""
    mac = await start(dut)
    lengths = [MAX] * 8 + [MIN] * 20 + random.choices((MIN, 1514, 4000, MAX), k=20) + [MAX] * 2
    octets = await keep_the_line_rate(mac, lengths)
    took = mac.wire.took
    assert octets - 2 <= took <= octets * 1.005, f"{took:.0f} octet times for {octets}"
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] == counters["TX_GOOD_FRAMES"] == len(lengths)


@cocotb.test()
async def keeps_line_rate_with_slow_memory(dut):
    """Each channel of the bus pauses in 40 % of the clocks."""
    mac = await start(dut, slow=0.4)
    await keep_the_line_rate(mac, [MAX] * 8 + [MIN] * 4 + [MAX] * 2)


@cocotb.test()
async def every_end_and_every_start(dut):
    """All remainders of the length, and all byte offsets in memory."""
    mac = await start(dut)
    lengths = range(MAX - 8, MAX + 1)
    for length in lengths:
        frame = plain(length)
        mac.wire.send(add_fcs(frame))
        await mac.expect([frame])
    await transmit(mac, [(plain(length), length % 8) for length in lengths])


@cocotb.test()
async def drops_longer_frames(dut):
    """One octet too many, and as many as a frame can have: the next frame is right."""
    mac = await start(dut)
    frames = [plain(length) for length in (MAX, MAX + 1, 12_000, 16_380, 20_000, MAX, MIN)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await mac.expect([frame for frame in frames if len(frame) <= MAX])
    assert await mac.regs.read("RX_OVERSIZE") == 4
    assert await mac.regs.read("RX_DROP_FIFO") == 0


@cocotb.test()
async def drops_jumbo_frames_in_short_buffers(dut):
    """A driver with buffers of 2 KiB gets its short frames, and ERROR for each long one."""
    mac = await Mac.start(dut, driver={"buffer": 2048, "rx_order": 4}, MAX_FRAME=MAX + 4)
    for length in (MAX, 1514, 2046, 2047, MAX, MIN):
        frame = plain(length)
        mac.wire.send(add_fcs(frame))
        got, = await mac.driver.poll(1)
        assert (got.error, got.data) == ((True, b"") if length > 2046 else (False, frame))
    assert await mac.regs.read("RX_DROP_BUFFER") == 3


@cocotb.test()
async def reports_jumbo_option(dut):
    mac = await start(dut)
    assert await mac.regs.read("FEATURES", "JUMBO") == 1
    assert await mac.regs.read("CAPABILITY", "RX_FIFO_ORDER") == 14
    assert await mac.regs.read("CAPABILITY", "TX_FIFO_ORDER") == 14
