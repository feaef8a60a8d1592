# SPDX-License-Identifier: BSD-2-Clause
"""The Versa's whole SoC with its PHYs forwards frames without Linux (soc/firmware/forward.c)."""

import random
import re

import cocotb

from bench.board import simulator
from bench.box import PORTS, Box
from bench.wire import add_fcs

DUT = "board"

LENGTHS = [*range(60, 190), *[60, 61, 62, 63] * 20, 1514, 1513, 1512, 1511]


def SIMULATOR():
    return simulator("versa_ecp5", "forward")


@cocotb.test()
async def forwards_both_ways_at_once(dut):
    """Frames with the shortest gap at both ports: each leaves the other one, in order, unchanged."""
    box = Box(dut)
    await box.console.expect("forwards between its two ports.\r\n", ms=500)
    box.start_clocks()
    box.connect()
    frames = [[random.randbytes(length) for length in LENGTHS] for _ in range(PORTS)]
    for wire, burst in zip(box.wires, frames):
        for frame in burst:
            wire.send(add_fcs(frame))
    for port, burst in enumerate(frames):
        for number, frame in enumerate(burst):
            left = await box.wires[not port].receive(us=5000)
            assert left == frame, f"frame {number} of port {port}: {len(left)} octets came out"
    await box.console.write("?")
    for port in range(PORTS):
        line = await box.console.expect("\r\n", ms=20)
        counters = [int(word) for word in re.findall(r"\d+", line)]
        assert counters[:4] == [port, len(LENGTHS), 0, len(LENGTHS)], line
        assert 0 < sum(counters[4:]) < len(LENGTHS), f"interrupts are not moderated: {line}"
    assert not any(wire.waiting() for wire in box.wires)
