# SPDX-License-Identifier: BSD-2-Clause
"""The wire at each kind of PHY: it sends raw frames and collects the MAC's frames.

Every wire has these methods. `clocks(dut)` starts the clocks, and returns those of the PHY that can
be stopped, the receiver's first. `send(octets)` sends a frame without preamble but with FCS
(add_fcs makes it). `sent()` waits until all of them are on the wire. `receive()` returns the next
frame from the MAC, without preamble and FCS, after checking both and the gap.

`starts` are the times in ns at which frames of `send()` started, and `started` is that of the MAC's
latest one. A start is the first sampling of the pins after the start-of-frame delimiter. `resets`
are the device's resets besides sys_rst. All resets last `held` clocks; `wake` clocks later the PHY
is ready.
"""

import zlib
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Event, RisingEdge, with_timeout
from cocotb.utils import get_sim_time
from cocotbext.eth import (GmiiFrame, GmiiSink, GmiiSource, MiiSink, MiiSource, RgmiiSink,
                          RgmiiSource)

from bench.wires.rmii import PERIOD_PS, RmiiSink, RmiiSource
from bench.wires.tbi import TbiPartner, TbiSource

RESET = 30
PREAMBLE = bytes(7 * [0x55] + [0xD5])
GAP = 12
SYS_PERIOD_NS = 10


def add_fcs(frame):
    return frame + zlib.crc32(frame).to_bytes(4, "little")


def check_fcs(frame):
    """The frame without its FCS, which must be correct."""
    assert len(frame) >= 64, f"the MAC sent a runt of {len(frame)} octets"
    body, fcs = frame[:-4], frame[-4:]
    assert add_fcs(body)[-4:] == fcs, "the MAC sent a wrong FCS"
    return bytes(body)


def is_cut(frame):
    """Whether a frame of cocotbext-eth's is too short to be one."""
    return len(frame.get_payload(strip_fcs=False)) < 64


class SimWire:
    """The simulation PHY's pads, in the system clock domain, paced to `link` Mb/s."""
    resets, held, wake = (), RESET, 30
    sys_period_ns = SYS_PERIOD_NS

    def __init__(self, dut, link=1000):
        self.dut, self.link = dut, link
        self.queue, self.frames, self.starts = deque(), deque(), []
        self.queued, self.idle, self.arrived = Event(), Event(), Event()
        self.gap = GAP
        self.octet_ns = 8000 / link
        self.first = self.last = None  # clocks of the MAC's first and latest word
        for name in ("valid", "last", "error", "bytes", "data"):
            getattr(dut, f"pads_rx_{name}").value = 0
        dut.pads_link_mbps.value = link
        cocotb.start_soon(self._drive())
        cocotb.start_soon(self._collect())

    @classmethod
    def clocks(cls, dut, link=1000):
        Clock(dut.sys_clk, cls.sys_period_ns, unit="ns").start()
        return []

    def send(self, octets, error=False):
        """error: the PHY marks all words, or the word with this number, counted with the preamble's
        two."""
        marked = range(2**16) if error is True else () if error is False else (error,)
        self.queue.append((PREAMBLE + octets, marked))
        self.idle.clear()
        self.queued.set()

    async def sent(self):
        await self.idle.wait()

    def _now(self):
        """Clocks since the start."""
        return int(get_sim_time("ps")) // (1000 * self.sys_period_ns)

    async def _drive(self):
        """Drives a word when its last octet has arrived; an octet takes 8*1000/link ns."""
        dut = self.dut
        wire = 0  # when the line is free, in clocks*link
        cost = 8 * 1000 // self.sys_period_ns
        while True:
            await RisingEdge(dut.sys_clk)
            while not self.queue:
                self.idle.set()
                self.queued.clear()
                await self.queued.wait()
                await RisingEdge(dut.sys_clk)
            octets, marked = self.queue.popleft()
            now = self._now()
            wire = max(wire, now*self.link)
            for at in range(0, len(octets), 4):
                word = octets[at:at + 4]
                wire += len(word)*cost
                while now*self.link < wire:
                    await RisingEdge(dut.sys_clk)
                    now += 1
                if at == 4:
                    self.starts.append(get_sim_time("ns") + SYS_PERIOD_NS)
                dut.pads_rx_valid.value = 1
                dut.pads_rx_data.value = int.from_bytes(word, "little")
                dut.pads_rx_bytes.value = len(word)
                dut.pads_rx_last.value = int(at + 4 >= len(octets))
                dut.pads_rx_error.value = int(at // 4 in marked)
                await RisingEdge(dut.sys_clk)
                now += 1
                dut.pads_rx_valid.value = 0
            wire += self.gap*cost

    async def _collect(self):
        """Assembles words into frames. The PHY must keep the pace of the link and the gap."""
        dut, frame, free = self.dut, bytearray(), 0
        reset, valid = dut.sys_rst, dut.pads_tx_valid
        cost = 8 * 1000 // self.sys_period_ns
        apart = 4 * self.octet_ns > 2 * self.sys_period_ns  # words: there is a clock between any two
        while True:
            if apart or not int(valid.value):
                await RisingEdge(valid)
            await RisingEdge(dut.sys_clk)
            if int(reset.value) or not (apart or int(valid.value)):
                continue
            now = self._now()
            count = int(dut.pads_tx_bytes.value)
            assert now*self.link >= free - self.link, "the PHY sends faster than the link"
            assert not frame or now*self.link <= free + self.link, "a gap within a frame"
            free = max(free, now*self.link) + count*cost
            self.first = now if self.first is None else self.first
            self.last = now
            if len(frame) == 8:
                start = get_sim_time("ns") - SYS_PERIOD_NS
            frame += int(dut.pads_tx_data.value).to_bytes(4, "little")[:count]
            if int(dut.pads_tx_last.value):
                free += GAP*cost
                assert frame[:8] == PREAMBLE, f"preamble {frame[:8].hex()}"
                self.frames.append((check_fcs(bytes(frame[8:])), start))
                self.arrived.set()
                frame = bytearray()

    @property
    def took(self):
        """Octet times from the MAC's first word to its latest."""
        return (self.last - self.first) * self.sys_period_ns / self.octet_ns

    async def receive(self, us=2000):
        while not self.frames:
            self.arrived.clear()
            await with_timeout(self.arrived.wait(), us, "us")
        frame, self.started = self.frames.popleft()
        return frame

    def waiting(self):
        return len(self.frames)


class Sim2500Wire(SimWire):
    """At 2.5 Gb/s, or another rate, with a clock of 125 MHz."""
    sys_period_ns = 8

    def __init__(self, dut, link=2500):
        super().__init__(dut, link)


class _EthWire:
    """GMII and MII by cocotbext-eth. `waited`: octet times before the latest frame from the MAC."""
    resets, held, wake = ("eth_rx_rst", "eth_tx_rst"), RESET, 30
    unseen = 0  # octets of the preamble that have passed when the sink wakes up
    lines = "stands", "is cut", "is joined"  # the line's state while the clock is stopped (`cut`)
    finds_rate = False  # frames on the wire break until the PHY has measured its clock
    given = ()  # frames for the source
    begins = True  # the first frame may be one that the reset of the case before has cut
    looks = 1, 0  # octet times after the source's and the sink's start of a frame

    def __init__(self, dut):
        self.dut = dut
        pads = [getattr(dut, f"pads_{name}") for name in ("rx_data", "rx_er", "rx_dv")]
        self.source = self.Source(*pads, dut.eth_rx_clk)  # no reset of the MAC stops the line
        pads = [getattr(dut, f"pads_{name}") for name in ("tx_data", "tx_er", "tx_en")]
        self.sink = self.Sink(*pads, dut.eth_tx_clk)
        self.valid = dut.pads_rx_dv
        self.last_end = None

    @classmethod
    def clocks(cls, dut):
        cls.sys_clock = Clock(dut.sys_clk, SYS_PERIOD_NS, unit="ns")
        cls.sys_clock.start()
        return cls.phy_clocks(dut, cls.period)

    @staticmethod
    def phy_clocks(dut, period):
        receiving = Clock(dut.eth_rx_clk, period, unit="ns")
        receiving.start()
        # Not in phase with the other end's clock, and 0.2 % slower: IEEE 802.3 allows 100 ppm.
        sending = Clock(dut.eth_tx_clk, period * 1.002, unit="ns")
        sending.start(start_high=False)
        return [receiving, sending]

    @property
    def gap(self):
        return self.source.ifg

    @gap.setter
    def gap(self, octets):
        self.source.ifg = octets

    def send(self, octets, error=False):
        frame = GmiiFrame.from_raw_payload(octets)
        if error:
            frame.error = [int(n == len(frame.data) // 2) for n in range(len(frame.data))]
        self._put(frame)

    def _put(self, frame):
        self.given = *self.given, frame
        self.source.queue.put_nowait(frame)
        self.source.idle_event.clear()
        self.source.active_event.set()

    @property
    def starts(self):
        return [frame.sim_time_sfd / 1000 + self.looks[0] * self.octet_ns for frame in self.given]

    async def sent(self):
        await with_timeout(self.source.wait(), int(200_000 * self.octet_ns), "ns")

    def cut(self, joined):
        """The clock stops while the line continues, so the rest of the frame is lost. With
        `joined`, everything up to the next frame's preamble is lost, and nothing marks the end of a
        frame."""
        self.source.assert_reset()
        self.valid.value = joined

    @property
    def took(self):
        """Octet times from the MAC's first preamble since `forget` to its latest FCS."""
        return (self.last_end - self.first_start) / 1000 / self.octet_ns

    def forget(self):
        """Discards what the MAC has sent so far, complete or not."""
        self.sink.clear()
        self.last_end = None

    async def receive(self, us=2000):
        frame = await with_timeout(self.sink.recv(), us, "us")
        if self.begins and is_cut(frame):
            frame = await with_timeout(self.sink.recv(), us, "us")
        self.begins = False
        assert not frame.error or not any(frame.error), "tx_er"
        start, end = frame.sim_time_start - self.unseen * self.octet_ns * 1000, frame.sim_time_end
        self.first_start = start if self.last_end is None else self.first_start
        if self.last_end is not None:
            self.waited = (start - self.last_end) / (self.octet_ns * 1000)
            assert self.waited > GAP - 0.5, f"a gap of {self.waited} octets"
        self.last_end = end
        self.started = frame.sim_time_sfd / 1000 + self.looks[1] * self.octet_ns
        assert bytes(frame.data).startswith(PREAMBLE[1:]) or frame.data[0:8] == PREAMBLE
        return check_fcs(bytes(frame.get_payload(strip_fcs=False)))

    def waiting(self):
        return self.sink.count()


class GmiiWire(_EthWire):
    Source, Sink, period, octet_ns = GmiiSource, GmiiSink, 8, 8


class Gmii2500Wire(GmiiWire):
    """At 2.5 Gb/s: eight bits at 312.5 MHz, with a system clock of 125 MHz."""
    period, octet_ns = 3.2, 3.2

    @classmethod
    def clocks(cls, dut):
        Clock(dut.sys_clk, 8, unit="ns").start()
        receiving = Clock(dut.eth_rx_clk, 3.2, unit="ns")
        receiving.start()
        sending = Clock(dut.eth_tx_clk, 3.206, unit="ns")  # 0.2 % slower, as in phy_clocks
        sending.start(start_high=False)
        return [receiving, sending]


class MiiWire(_EthWire):
    """MII at `link` Mb/s, which can change: the PHY's clocks have the rate."""
    Source, Sink = MiiSource, MiiSink
    looks = 0.5, 0

    def __init__(self, dut, link=100):
        super().__init__(dut)
        self.octet_ns = 8000 // link
        self.wake = self.held = RESET * 100 // link

    @classmethod
    def clocks(cls, dut, link=100):
        Clock(dut.sys_clk, SYS_PERIOD_NS, unit="ns").start()
        return cls.phy_clocks(dut, 4000 // link)

    def change(self, clocks, link):
        """Sets another rate; the new clocks replace `clocks`."""
        for clock in clocks:
            clock.stop()
        self.octet_ns = 8000 // link
        return self.phy_clocks(self.dut, 4000 // link)


class RmiiWire(_EthWire):
    """RMII at `link` Mb/s, which can change. One clock for both directions, unrelated to sys."""
    resets, wake = (), 300  # LiteEth holds its PHY in reset for 256 clocks
    looks = 0.25, 0

    def __init__(self, dut, link=100):
        self.dut = dut
        clock = dut.pads_ref_clk
        self.source = RmiiSource(dut.pads_rx_data, dut.pads_crs_dv, clock, 1)
        self.sink = RmiiSink(dut.pads_tx_data, dut.pads_tx_en, clock, 1)
        self.cut = self.source.cut
        self.rate(link)

    @classmethod
    def clocks(cls, dut, link=100):
        Clock(dut.sys_clk, SYS_PERIOD_NS, unit="ns").start()
        clock = Clock(dut.pads_ref_clk, PERIOD_PS / 1000, unit="ns")
        clock.start()
        return [clock]

    def rate(self, link):
        """Sets the rate of both ends."""
        self.last_end = None
        self.octet_ns = 8000 / link * 1.0001
        self.source.clocks = self.sink.clocks = 100 // link
        self.dut.speed.value = link == 100

    def change(self, clocks, link):
        """Sets another rate. Frames on the wire break."""
        self.rate(link)
        return clocks


class TbiWire(_EthWire):
    """1000BASE-X at the ten bits of its PCS, with a partner that negotiates."""
    octet_ns = period = 8
    wake = 3000  # until the link is up

    def __init__(self, dut):
        self.dut = dut
        self.source = TbiSource(dut.pads_rx, dut.eth_rx_clk)
        self.partner = TbiPartner(self.source, dut.pads_tx, dut.eth_tx_clk, dut.eth_tx_rst, 5000)
        self.sink = self.partner.sink
        self.cut = self.source.cut
        self.last_end = None


class RgmiiWire(_EthWire):
    """RGMII at 1000 Mb/s. The PHY drives the clock of both directions, as LiteEth requires.

    The system clock of 75 MHz drifts against it, so that edges meet in every phase.
    """
    resets, wake = (), 300  # LiteEth holds its PHY in reset for 256 clocks
    octet_ns, sys_period_ns = 8, 13.334
    unseen = 1
    lines = "stands", "is cut"  # the source starts with a clock without RX_DV
    looks = 1, -0.5

    def __init__(self, dut):
        self.dut = dut
        self.source = RgmiiSource(dut.pads_rx_data, dut.pads_rx_ctl, dut.pads_rx_clk)
        self.sink = RgmiiSink(dut.pads_tx_data, dut.pads_tx_ctl, dut.pads_tx_clk)
        self.valid = dut.pads_rx_ctl
        self.last_end = None

    @classmethod
    def clocks(cls, dut):
        Clock(dut.sys_clk, cls.sys_period_ns, unit="ns").start()
        return cls.phy_clocks(dut, cls.octet_ns)

    @staticmethod
    def phy_clocks(dut, period):
        clock = Clock(dut.pads_rx_clk, period, unit="ns")
        clock.start()
        return [clock]


class RgmiiRatesWire(RgmiiWire):
    """RGMII at `link` Mb/s, which can change. The PHY drives the clock of both directions."""
    finds_rate = True

    def __init__(self, dut, link=1000):
        super().__init__(dut)
        self.rate(link)

    @classmethod
    def clocks(cls, dut, link=1000):
        Clock(dut.sys_clk, cls.sys_period_ns, unit="ns").start()
        return cls.phy_clocks(dut, cls.period(link))

    @staticmethod
    def period(link):
        """Period of the clock, in ns."""
        return {1000: 8, 100: 40, 10: 400}[link]

    def rate(self, link):
        """Sets the clock's rate."""
        self.last_end = None
        self.octet_ns = 8000 // link
        period = self.period(link) / self.sys_period_ns
        self.held = RESET + int(4 * period)  # else the other side of the MAC's FIFO starts earlier
        # LiteEth counts the PHY's clock over 1024 of its own clocks, and misses each second change.
        self.wake = 300 + int(3 * 1024 * period)
        self.nibbles = self.sink.mii_mode = link < 1000
        self.unseen = 0.5 if self.nibbles else 1
        self.looks = (0.5, -0.25) if self.nibbles else (1, -0.5)
        self.gap = GAP

    def change(self, clocks, link):
        """Sets another rate: new clocks replace `clocks`. Frames on the wire break."""
        for clock in clocks:
            clock.stop()
        self.rate(link)
        return self.phy_clocks(self.dut, self.period(link))

    def send_raw(self, octets, skip=0, tail=()):
        """Sends without our preamble. Below 1000 Mb/s, omits the first `skip` nibbles and appends
        the nibbles of `tail`."""
        frame = GmiiFrame(octets)
        if self.nibbles:
            frame = self._in_nibbles(frame)
            frame.data = frame.data[skip:] + bytes(0x11 * nibble for nibble in tail)
        super()._put(frame)

    def _put(self, frame):
        super()._put(self._in_nibbles(frame) if self.nibbles else frame)

    @staticmethod
    def _in_nibbles(frame):
        """Each nibble in both halves of an octet, as the pins have it in a clock."""
        frame.data = bytes(0x11 * nibble for octet in frame.data for nibble in (octet & 15, octet >> 4))
        marked = len(frame.data) // 2 % 2  # of an octet, its lower nibble or its upper one
        frame.error = frame.error and [error * (half == marked) for error in frame.error
                                       for half in range(2)]
        return frame

    @property
    def gap(self):
        return self.source.ifg // (1 + self.nibbles)

    @gap.setter
    def gap(self, octets):
        self.source.ifg = octets * (1 + self.nibbles)  # in clocks
