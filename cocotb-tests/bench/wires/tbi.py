# SPDX-License-Identifier: BSD-2-Clause
"""The other end of a 1000BASE-X link, at the ten bits between a PCS and a transceiver.

It is the PCS of IEEE 802.3, clause 36, whose transceiver has aligned to the commas, with the
autonegotiation of clause 37. The package encdec8b10b encodes. The interface is that of
cocotbext-eth's sources and sinks.
"""

from collections import deque

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import Event, FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time
from cocotbext.eth import GmiiFrame
from encdec8b10b import EncDec8B10B

from bench.wires.sink import Sink

CONTROL, DATA = 1, 0
COMMA, START, END, EXTEND, ERROR = ((CONTROL, y << 5 | x) for x, y in
                                    ((28, 5), (27, 7), (29, 7), (23, 7), (30, 7)))
CONFIG = (DATA, 5 << 5 | 21), (DATA, 2 << 5 | 2)           # the second group of /C1/ and /C2/
IDLE_FLIP, IDLE = (DATA, 6 << 5 | 5), (DATA, 2 << 5 | 16)  # of /I1/ and /I2/
CONTROLS = [y << 5 | 28 for y in range(8)] + [7 << 5 | x for x in (23, 27, 29, 30)]

# code[disparity, group] is the code-group of ten bits and the disparity after it; group[disparity,
# code] is the inverse. Bit 0 is on the line first.
code = {(disparity, (control, octet)): EncDec8B10B.enc_8b10b(octet, disparity, control)[::-1]
        for disparity in (0, 1) for control, octets in ((DATA, range(256)), (CONTROL, CONTROLS))
        for octet in octets}
group = {(disparity, ten): (meaning, after) for (disparity, meaning), (ten, after) in code.items()}

SFD = 0xD5
FULL_DUPLEX, ACKNOWLEDGE = 1 << 5, 1 << 14


class TbiSource:
    """Sends /C/ while `config` is a word, else frames of `queue` and /I/.

    `ifg`: octets between two frames, /T/ and /R/ included. `spoil` maps each code-group to the one
    on the line.
    """

    def __init__(self, data, clock):
        self.data, self.clock = data, clock
        self.ifg = 12
        self.config = None
        self.queue = Queue()
        self.idle_event, self.active_event = Event(), Event()
        self.spoil = lambda ten: ten
        self._disparity = 0
        self._lost = self._joined = False
        cocotb.start_soon(self._run())

    async def wait(self):
        await self.idle_event.wait()

    def cut(self, joined):
        """Loses the rest of the frame. With `joined`, everything up to the next frame's preamble is
        lost, too."""
        self._lost, self._joined = True, joined

    async def _put(self, *groups):
        for meaning in groups:
            ten, self._disparity = code[self._disparity, meaning]
            await RisingEdge(self.clock)
            self.data.value = self.spoil(ten)

    async def _run(self):
        first = True
        while True:
            if self.config is not None:
                word = self.config
                await self._put(COMMA, CONFIG[not first], (DATA, word & 255), (DATA, word >> 8))
                first = not first
            elif self.queue.empty():
                self.idle_event.set()
                await self._idle()
            else:
                await self._frames()

    async def _idle(self):
        await self._put(COMMA, IDLE_FLIP if self._disparity else IDLE)

    async def _frames(self):
        """The next frame, with the gap after it. If the gap is odd, the next preamble is an octet
        shorter."""
        short = 0
        while not self.queue.empty() and self.config is None:
            frame = self.queue.get_nowait()
            data = frame.data[short:]
            if not self._joined:
                await self._put(START)
            self._lost = self._joined = False
            for at, octet in enumerate(data[1:]):
                wrong = frame.error and frame.error[short + 1 + at]
                await self._put(ERROR if wrong else (DATA, octet))
                if frame.sim_time_sfd is None and data[at] == SFD:
                    frame.sim_time_sfd = get_sim_time()
                if self._lost:
                    break
            if self._joined:
                continue
            behind = 2 if len(data) % 2 == 0 else 3
            if not self._lost:
                await self._put(END, *[EXTEND] * (behind - 1))
            while behind < self.ifg:
                await self._idle()
                behind += 2
            short = behind - self.ifg


class TbiSink(Sink):
    """Takes the code-groups of a PCS; each one must be legal after those before it.

    `heard` is called with each word of a /C/, and with None for an /I/. `idles`: how many /I/ ended
    with a negative and with a positive disparity. A frame's data include its first octet, which /S/
    replaces.
    """

    def __init__(self, data, clock, reset, heard):
        Sink.__init__(self)
        self.data, self.clock, self.reset, self.heard = data, clock, reset, heard
        self.idles = [0, 0]
        self._disparity = None
        cocotb.start_soon(self._run())

    async def _next(self):
        await RisingEdge(self.clock)
        ten = int(self.data.value)
        assert (self._disparity, ten) in group, f"code-group {ten:010b} at {self._disparity}"
        meaning, self._disparity = group[self._disparity, ten]
        return meaning

    async def _align(self):
        """Returns the code-group after the first comma. During its reset, a PCS sends commas whose
        disparity does not alternate."""
        await FallingEdge(self.reset)
        while True:
            await RisingEdge(self.clock)
            ten = int(self.data.value)
            for before in (0, 1):
                if ten == code[before, COMMA][0]:
                    self._disparity = 1 - before
                    break
            else:
                if self._disparity is not None:
                    meaning, self._disparity = group[self._disparity, ten]
                    return meaning

    async def _run(self):
        second, config = await self._align(), None
        while True:
            if second in CONFIG:
                assert config in (None, CONFIG[second == CONFIG[0]]), "/C1/ and /C2/ take turns"
                config = second
                octets = [await self._next() for _ in range(2)]
                assert all(kind == DATA for kind, _ in octets)
                self.heard(octets[0][1] | octets[1][1] << 8)
            else:
                assert second in (IDLE, IDLE_FLIP), f"{second} after a comma"
                config = None
                self.idles[self._disparity] += 1
                self.heard(None)
            meaning = await self._next()
            while meaning == START:
                await self._frame()
                meaning = await self._next()
            assert meaning == COMMA, f"{meaning} between frames"
            second = await self._next()

    async def _frame(self):
        frame = GmiiFrame(b"\x55")
        frame.sim_time_start = get_sim_time()
        meaning = await self._next()
        while meaning[0] == DATA:
            if frame.sim_time_sfd is None and frame.data[-1] == SFD:
                frame.sim_time_sfd = get_sim_time()
            frame.data.append(meaning[1])
            meaning = await self._next()
        assert meaning == END, f"{meaning} in a frame"
        frame.sim_time_end = get_sim_time()
        # The comma after it is at an even position, as /S/ was.
        for _ in range(1 + len(frame.data) % 2):
            assert await self._next() == EXTEND
        self.queue.put_nowait(frame)


class TbiPartner:
    """Source and sink with autonegotiation between them, full duplex. `up`: it has completed."""

    def __init__(self, source, tx_data, tx_clock, tx_reset, link_timer_ns):
        self.source = source
        self.sink = TbiSink(tx_data, tx_clock, tx_reset, self._heard)
        self.link_timer_ns = link_timer_ns
        self.up = False
        self.negotiations = 0
        self._words = deque(maxlen=3)
        self._change = Event()
        self._task = cocotb.start_soon(self._negotiate())

    def restart(self):
        """Breaks the link."""
        self._task.cancel()
        self._task = cocotb.start_soon(self._negotiate())

    def _heard(self, word):
        if word is None and self.up:
            return
        self._words.append(word)
        self._change.set()

    async def _until(self, accepts):
        """Whether the last three words are equal and accepted; False if they break the link."""
        while True:
            self._change.clear()
            await self._change.wait()
            words = set(self._words)
            if len(self._words) == 3 and len(words) == 1:
                word = words.pop()
                if accepts(word):
                    return True
                if word == 0:
                    return False

    async def _negotiate(self):
        while True:
            self.up = False
            self.negotiations += 1
            self.source.config = 0
            await Timer(self.link_timer_ns, "ns")
            await self._link()

    async def _link(self):
        """Holds the link until it breaks. The end that breaks it sends zeros for a while, which do
        not count here."""
        self._words.clear()
        self.source.config = FULL_DUPLEX
        while not await self._until(lambda word: word):
            pass
        self.source.config |= ACKNOWLEDGE
        if not await self._until(lambda word: word and word & ACKNOWLEDGE):
            return
        await Timer(self.link_timer_ns, "ns")
        self.source.config = None
        if await self._until(lambda word: word is None):
            self.up = True
            await self._until(lambda _: False)
