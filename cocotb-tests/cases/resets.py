# SPDX-License-Identifier: BSD-2-Clause
"""Resets of one or two clock domains, under traffic in both directions.

Only frames in a domain that is reset may be lost. All others arrive, once and complete.
"""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer
from cocotb.utils import get_sim_time

from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import SYS_PERIOD_NS, add_fcs, check_fcs
from cases.stamps import start_clock

RESETS = 12
ORDER = {"driver": {"rx_order": 6, "tx_order": 6}}
# By the names of tests. "crg" is software's reset of LiteEth's PHY, of both of its domains.
DOMAINS = {"rx": ("eth_rx",), "tx": ("eth_tx",), "rx_tx": ("eth_rx", "eth_tx"), "crg": ("crg",),
           "sys": ("sys",), "sys_rx": ("sys", "eth_rx"), "sys_tx": ("sys", "eth_tx")}
LINK = {"mac_rgmii_rates": 100}  # Mb/s, by device
MARGIN = 24  # octet times that a frame's last octets take to the FIFO between the clocks


class Receiving:
    """Sends frames to the MAC back to back until `stopped`; `make` makes one."""

    def __init__(self, mac, make=lambda: plain(random.randrange(60, 200))):
        self.mac, self.make = mac, make
        self.frames, self.ends, self.stopped = [], [], False
        self.task = cocotb.start_soon(self._send())

    async def _send(self):
        while not self.stopped:
            frame = self.make()
            self.frames.append(frame)
            self.mac.wire.gap = random.choice([12, 12, 40])
            self.mac.wire.send(add_fcs(frame))
            await self.mac.wire.sent()
            self.ends.append(get_sim_time("ns"))

    async def stop(self):
        self.stopped = True
        await self.task

    @property
    def times(self):
        """For each frame, when it started on the wire, and when it had left the PHY's clock domain
        for certain."""
        octet = self.mac.wire.octet_ns
        return [(start - 9 * octet, end + MARGIN * octet)
                for start, end in zip(self.mac.wire.starts, self.ends, strict=True)]


async def left(mac):
    """Frames that left the MAC, without FCS, and None for each truncated one."""
    frames = []
    while mac.wire.waiting():
        frame = await mac.wire.sink.recv()
        if frame.sim_time_sfd is not None:
            mac.wire.started = frame.sim_time_sfd / 1000 + mac.wire.looks[1] * mac.wire.octet_ns
        try:
            frames.append(check_fcs(bytes(frame.get_payload(strip_fcs=False))))
        except (AssertionError, ValueError):
            frames.append(None)
    mac.wire.forget()
    return frames


def are_part(some, of):
    """Whether the frames occur in the same order, each at most once."""
    rest = iter(of)
    return all(any(frame == other for other in rest) for frame in some)


def asks(mac):
    """Requests a stamp, if there are stamps."""
    return {"TIMESTAMP": 1} if mac.driver.stamping else {}


async def pulse(dut, domains):
    """A reset of these domains; it starts and ends in each at a different time."""
    async def one(name):
        reset = getattr(dut, f"{name}_rst")
        clock = dut.sys_clk if name == "crg" else getattr(dut, f"{name}_clk")
        await Timer(random.randrange(1, 100), "ns")
        reset.value = 1
        await ClockCycles(clock, random.choice([1, 2, 5, 50]))
        reset.value = 0

    for task in [cocotb.start_soon(one(name)) for name in domains]:
        await task


async def both_are_whole(mac):
    """The next frame of each direction arrives, after all before it."""
    frame = plain(100)
    await mac.driver.send(frame)
    assert await mac.wire.receive() == frame
    mac.wire.send(add_fcs(frame))
    await mac.expect([frame])


@cocotb.test()
@cocotb.parametrize(which=["rx", "tx", "rx_tx", "crg"])
async def resets_phy_domain(dut, which):
    """The MAC is not reset."""
    domains = DOMAINS[which]
    mac = await Mac.start(dut, LINK.get(dut._name), **ORDER)
    octet = mac.wire.octet_ns
    receiving, sent, windows, got = Receiving(mac), [], [], []

    async def work(until):
        while get_sim_time("ns") < until:
            await mac.clocks(20)
            mac.driver.reclaim()
            if mac.driver.tx.room > 32:
                for _ in range(8):
                    sent.append(plain(random.randrange(60, 200)))
                    mac.driver.queue(sent[-1], random.randrange(8), **asks(mac))
                await mac.driver.tx.doorbell()
            while (frame := mac.driver.receive()) is not None:
                got.append(frame.data)
            if mac.driver.rx.room > 16:
                await mac.driver.post_buffers()

    for _ in range(RESETS):
        await work(get_sim_time("ns") + random.uniform(200, 600) * octet)
        start = get_sim_time("ns")
        await pulse(dut, domains)
        windows.append((start, get_sim_time("ns")))
    await work(get_sim_time("ns") + 600 * octet)
    await receiving.stop()
    await mac.driver.reclaim_all()
    await Timer(int(2000 * octet), "ns")
    while (frame := mac.driver.receive()) is not None:
        got.append(frame.data)
    await mac.driver.post_buffers()

    # Sent.
    frames = await left(mac)
    whole = [frame for frame in frames if frame is not None]
    cuts = RESETS * (domains != ("eth_rx",))
    assert are_part(whole, sent), "an unknown frame left, or one twice"
    assert frames.count(None) <= cuts
    assert len(sent) - len(whole) <= cuts, f"of {len(sent)} frames {len(whole)} left"

    # Received.
    assert are_part(got, receiving.frames), "an unknown frame arrived, or one twice"
    hit = lambda begin, end: any(start < end and stop > begin for start, stop in windows)
    lost = [n for n, frame in enumerate(receiving.frames) if frame not in got]
    times = receiving.times
    assert not [n for n in lost if domains == ("eth_tx",) or not hit(*times[n])]
    counted = await mac.regs.read("RX_FCS_ERRORS") + await mac.regs.read("RX_UNDERSIZE")
    # On 1000BASE-X a frame's end is not reported before both ends have a link again.
    lasts = [(9 + len(frame) + 4) * octet for frame in receiving.frames]
    cut = [n for n in lost if any(
        40 * octet < start - times[n][0] < min(lasts[n], times[n][1] - times[n][0] - MARGIN * octet)
        for start, _ in windows)]
    assert len(cut) <= counted, f"{len(cut)} frames were cut, {counted} counted"
    assert await mac.regs.read("RX_GOOD_FRAMES") == len(got)
    await both_are_whole(mac)


@cocotb.test()
@cocotb.parametrize(which=["sys", "sys_rx", "sys_tx"])
async def system(dut, which):
    """The PHY is not reset."""
    await system_is_reset(dut, DOMAINS[which])


@cocotb.test()
async def resets_system_with_stopped_clock(dut):
    """A reset like that of a PLL."""
    await system_is_reset(dut, stands=True)


async def system_is_reset(dut, domains=("sys",), stands=False):
    mac = await Mac.start(dut, LINK.get(dut._name), **ORDER)
    octet = mac.wire.octet_ns
    hits_phy = not mac.wire.resets  # by its own, which follows that of sys
    for _ in range(RESETS // 2):
        first = len(mac.wire.given)
        receiving = Receiving(mac)
        sent = [plain(random.randrange(60, 200)) for _ in range(20)]
        for frame in sent:
            mac.driver.queue(frame, random.randrange(8), **asks(mac))
        await mac.driver.tx.doorbell()
        await Timer(random.randrange(int(100 * octet), int(1200 * octet)), "ns")
        reset = get_sim_time("ns")
        if stands:
            mac.wire.sys_clock.stop()
            dut.sys_rst.value = 1
            await Timer(random.randrange(100, int(300 * octet)), "ns")
            mac.wire.sys_clock = Clock(dut.sys_clk, SYS_PERIOD_NS, unit="ns")
            mac.wire.sys_clock.start()
        await pulse(dut, domains)
        await mac.driver.start()
        if hits_phy:
            await mac.clocks(300)  # LiteEth holds it for 256 clocks
        started = get_sim_time("ns")
        zero = await start_clock(mac, 0) if mac.driver.stamping else None
        await Timer(int(1000 * octet), "ns")
        again = plain(99)
        await mac.driver.send(again, **asks(mac))
        await receiving.stop()
        await mac.settle()
        assert not any(await mac.driver.reclaim_all())

        frames = await left(mac)
        whole = [frame for frame in frames if frame is not None]
        assert whole[-1:] == [again], "the first frame after the reset is lost"
        assert are_part(whole[:-1], sent), "an unknown frame left, or one twice"
        assert frames.count(None) <= len(domains) + hits_phy
        if mac.driver.stamping:
            late = mac.driver.stamps[-1] - zero - mac.wire.started
            assert abs(late) < 100, "the stamp of another frame"
        got = []
        while (frame := mac.driver.receive()) is not None:
            got.append(frame.data)
        await mac.driver.post_buffers()
        times = list(zip(receiving.frames, mac.wire.starts[first:]))
        assert are_part(got, [frame for frame, start in times if start > reset])
        assert are_part([frame for frame, start in times if start > started + 20 * octet], got), \
            "frames after the reset are lost"
