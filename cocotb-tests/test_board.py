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
GAP     = 400  # octets: what the DRAM's 16 wires can take from both ports at once


def SIMULATOR():
    return simulator("versa_ecp5", "forward")


async def counters(box: Box) -> list[list[int]]:
    """Of each port: frames received, dropped at the ring, at the FIFO, sent; Rx, Tx interrupts."""
    await box.console.write("?")
    found = []
    for port in range(PORTS):
        line = await box.console.expect("\r\n", ms=20)
        number, *counts = map(int, re.findall(r"\d+", line))
        assert number == port, line
        found.append(counts)
    return found


@cocotb.test()
async def forwards_both_ways_at_once(dut):
    """Each frame leaves the other port, in order and unchanged; interrupts are moderated."""
    box = Box(dut)
    await box.console.expect("forwards between its two ports.\r\n", ms=100)
    box.connect()
    frames = [[random.randbytes(length) for length in LENGTHS] for _ in range(PORTS)]
    for wire, burst in zip(box.wires, frames):
        wire.gap = GAP
        for frame in burst:
            wire.send(add_fcs(frame))
    for port, burst in enumerate(frames):
        for number, frame in enumerate(burst):
            left = await box.wires[not port].receive(us=2000)
            assert left == frame, f"frame {number} of port {port}: {len(left)} octets came out"
    for received, at_ring, at_fifo, sent, *interrupts in await counters(box):
        assert (received, at_ring, at_fifo, sent) == (len(LENGTHS), 0, 0, len(LENGTHS))
        assert 0 < sum(interrupts) < len(LENGTHS) / 2
    assert not any(wire.waiting() for wire in box.wires)
