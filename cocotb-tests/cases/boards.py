# SPDX-License-Identifier: BSD-2-Clause
"""Tests of every board with two ports, without Linux (soc/firmware/forward.c)."""

import random
import re

from cocotb.triggers import Timer

from bench.wires.box import PORTS, Box
from bench.wires.wire import GAP, PREAMBLE, add_fcs

LENGTHS = [*range(60, 190), *[60, 61, 62, 63] * 20, 1514, 1513, 1512, 1511]
FCS     = 4


async def start(dut) -> Box:
    """The board, with its program running and its cables plugged in."""
    box = Box(dut)
    await box.console.expect("forwards between its two ports.\r\n", ms=100)
    box.connect()
    return box


async def counters(box: Box) -> list[list[int]]:
    """For each port: frames received, dropped at the ring, at the FIFO, sent; Rx, Tx interrupts."""
    await box.console.write("?")
    found = []
    for port in range(PORTS):
        line = await box.console.expect("\r\n", ms=20)
        number, *counts = map(int, re.findall(r"\d+", line))
        assert number == port, line
        found.append(counts)
    return found


async def forwards_frames(dut, gap: int):
    """Each frame leaves the other port, in order and unchanged; interrupts are moderated.

    gap: octets between two frames at 1000 Mb/s, at both ports at once.
    """
    box = await start(dut)
    frames = [[random.randbytes(length) for length in LENGTHS] for _ in range(PORTS)]
    for wire, burst in zip(box.wires, frames):
        wire.gap = gap
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


async def lost(box: Box, length: int, percent: float, ports: int) -> float:
    """The share of lost frames when `ports` ports receive `percent` of the line rate.

    length: octets of a frame without FCS. 100 kB enter each port, far more than its FIFO holds.
    """
    slot  = len(PREAMBLE) + length + FCS + GAP
    count = 100_000 // slot
    for wire in box.wires[:ports]:
        wire.gap = round(slot * 100 / percent) - slot + GAP
        for _ in range(count):
            wire.send(add_fcs(random.randbytes(length)))
    for wire in box.wires[:ports]:
        await wire.sent()
    await Timer(300, "us")  # to forward what is in the rings
    left = 0
    for wire in box.wires:
        while wire.waiting():
            assert len(await wire.receive()) == length
            left += 1
    return 1 - left / (count * ports)
