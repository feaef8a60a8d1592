# SPDX-License-Identifier: BSD-2-Clause
"""The whole MAC with full FIFOs, or with all of memory's answers at once."""

import random

import cocotb

from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.basics import MAX, MIN, transmit


@cocotb.test()
async def the_tx_fifo_is_always_full(dut):
    """Short frames, which are padded, before long ones, on a wire slower than memory. Each word of
    the FIFO is used as soon as it is free, and not before. Padding takes no room: four of five
    frames are short, so that the FIFO often waits for one."""
    mac = await Mac.start(dut, link=100, driver={"tx_order": 6})
    lengths = [random.randint(400, MAX) if n % 5 == 0 else random.randint(1, 20)
               for n in range(125)]
    await transmit(mac, [(plain(max(length, 14))[:length], random.randrange(8)) for length in lengths])


@cocotb.test()
@cocotb.parametrize(lengths=[(MIN, 500, MIN), (MIN, 500, 500, MIN), (110, 500, MIN, 500)])
async def acknowledgements_arrive_at_once(dut, lengths):
    """Frames of one burst next to frames that do not fit: each status belongs to its own frame."""
    mac = await Mac.start(dut, driver={"buffer": 128})
    acknowledgements = mac.memory.ram.write_if.b_channel
    for _ in range(12):
        frames = [plain(length) for length in lengths]
        acknowledgements.pause = True
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await mac.settle(500)
        acknowledgements.pause = False
        for frame in frames:
            got, = await mac.driver.poll(1, clocks=20_000)
            fits = len(frame) < 128
            assert (got.error, got.data) == (not fits, frame if fits else b"")
