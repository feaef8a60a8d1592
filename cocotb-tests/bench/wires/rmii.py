# SPDX-License-Identifier: BSD-2-Clause
"""Both ends of RMII at a PHY, with the interface of cocotbext-eth's sources and sinks.

It follows the RMII Consortium's specification 1.2: one clock of 50 MHz for both directions. Two
bits, the lower ones first, last one clock at 100 Mb/s and ten clocks at 10 Mb/s.
"""

import random

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles, Event, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.eth import GmiiFrame

from bench.wires.sink import Sink

PERIOD_PS = 20_002  # of the clock, from bench/wires/wire.py
PREAMBLE = 8  # octets, with the delimiter
CARRIER = 8  # the most pairs before the preamble in which there is carrier without data
TOGGLES = 4  # the most nibbles that follow the end of the carrier


class RmiiSource:
    """The PHY's received data. `clocks`: how long a pair of bits lasts; `ifg`: octets between
    frames.

    CRS_DV rises before the preamble. After the end of the carrier, it is low with the first pair of
    each nibble that the PHY still holds.
    """

    def __init__(self, data, dv, clock, clocks):
        self.data, self.dv, self.clock, self.clocks = data, dv, clock, clocks
        self.ifg = 12
        self.queue = Queue()
        self.idle_event, self.active_event = Event(), Event()
        self.dv.value = self.data.value = 0
        self._task = cocotb.start_soon(self._run())

    def cut(self, joined):
        """Loses the rest of the frame. With `joined`, everything up to the next frame's preamble is
        lost, too."""
        self._task.cancel()
        self.dv.value = joined
        self._task = cocotb.start_soon(self._run(gap=not joined))

    async def wait(self):
        await self.idle_event.wait()

    async def _gap(self):
        for _ in range(4 * self.ifg - CARRIER):
            await self._put(0, 0)

    async def _run(self, gap=False):
        if gap:
            await self._gap()
        while True:
            while self.queue.empty():
                self.idle_event.set()
                self.active_event.clear()
                await self.active_event.wait()
            frame = self.queue.get_nowait()
            pairs = [octet >> shift & 3 for octet in frame.data for shift in (0, 2, 4, 6)]
            late = len(pairs) - 2 * random.randint(0, TOGGLES)
            early = random.randint(0, CARRIER)
            for _ in range(early):
                await self._put(1, 0)
            for at, pair in enumerate(pairs):
                await self._put(at < late or at % 2, pair)
                if at == 4 * PREAMBLE:
                    frame.sim_time_sfd = get_sim_time() - (self.clocks - 1) * PERIOD_PS
            await self._gap()

    async def _put(self, dv, data):
        await RisingEdge(self.clock)
        self.dv.value, self.data.value = dv, data
        if self.clocks > 1:
            await ClockCycles(self.clock, self.clocks - 1)


class RmiiSink(Sink):
    """The PHY's data to be sent: frames in `queue`, a partial one with an error."""

    def __init__(self, data, en, clock, clocks):
        Sink.__init__(self)
        self.data, self.en, self.clock, self.clocks = data, en, clock, clocks
        cocotb.start_soon(self._run())

    async def _run(self):
        while True:
            await RisingEdge(self.en)
            samples, start = [], None
            await RisingEdge(self.clock)
            start = get_sim_time()
            while int(self.en.value):
                samples.append(int(self.data.value))
                await RisingEdge(self.clock)
            self.queue.put_nowait(self._frame(samples, start))

    def _frame(self, samples, start):
        """A PHY may sample a pair in any of its clocks."""
        pairs = samples[::self.clocks]
        whole = [pair for pair in pairs for _ in range(self.clocks)] == samples and len(pairs) % 4 == 0
        octets = bytes(sum(pair << 2*n for n, pair in enumerate(pairs[at:at + 4]))
                       for at in range(0, len(pairs), 4))
        frame = GmiiFrame(octets, None if whole else [1])
        frame.sim_time_start, frame.sim_time_end = start, get_sim_time()
        frame.sim_time_sfd = start + 4 * PREAMBLE * self.clocks * PERIOD_PS
        return frame
