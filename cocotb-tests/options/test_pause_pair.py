# SPDX-License-Identifier: BSD-2-Clause
"""Two MACs at both ends of a cable: with pause no frame is lost, and they never block each other
forever."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from bench.mac import End
from bench.models.driver import END, STATION, Driver
from bench.models.frames import plain
from bench.memory.memory import Memory

DUT  = "mac_pair"
SLOW = ""
BOTH = 3  # of PAUSE: obey and request
QUANTUM = 52


async def start(dut, rx_order=6, **settings):
    """Starts the drivers of `a` and `b`, both with STATION's address."""
    Clock(dut.sys_clk, 10, unit="ns").start()
    dut.sys_rst.value = 1
    drivers = [Driver(End(dut, name), Memory(dut, f"{name}_dma", END), rx_order, 6)
               for name in "ab"]
    await ClockCycles(dut.sys_clk, 30)
    dut.sys_rst.value = 0
    await ClockCycles(dut.sys_clk, 30)
    for driver in drivers:
        await driver.start(PAUSE_QUANTUM=QUANTUM, **settings)
        await driver.regs.write("PAUSE", BOTH if settings else 0)
    return drivers


def traffic(driver, count, lengths=(60, 64, 100, 300)):
    """Frames that a driver sends from now on, when its ring has room; and the task."""
    frames = [plain(random.choice(lengths), STATION) for _ in range(count)]

    async def feed():
        for frame in frames:
            await driver.send(frame, random.randrange(8))
        await driver.reclaim_all()

    return frames, cocotb.start_soon(feed())


async def counted(drivers, name):
    return [await driver.regs.read(name) for driver in drivers]


@cocotb.test()
async def both_starve(dut):
    """Neither has descriptors, and each pauses the other: no frame is lost, and both continue when
    they can."""
    drivers = await start(dut, PAUSE_QUANTA=200, PAUSE_RING=24 | 40 << 16)
    sent = [traffic(driver, 400) for driver in drivers]
    received = [[], []]

    def take():
        for driver, frames in zip(drivers, received):
            while (frame := driver.receive()) is not None:
                frames.append(frame.data)

    for _ in range(4):
        await ClockCycles(dut.sys_clk, 40_000)
        assert [await driver.regs.read("STATUS") >> 4 & 3 for driver in drivers] == [3, 3]
        take()
        for driver in drivers:  # one makes room while both are paused, then the other
            await driver.post_buffers()
            await ClockCycles(dut.sys_clk, 500)
    while not all(feeding.done() for _, feeding in sent):
        await ClockCycles(dut.sys_clk, 1000)
        take()
        for driver in drivers:
            await driver.post_buffers()
    await ClockCycles(dut.sys_clk, 20_000)
    take()
    assert received == [frames for frames, _ in reversed(sent)]
    assert await counted(drivers, "RX_DROP_RING") == [0, 0]
    assert all(await counted(drivers, "RX_PAUSE_FRAMES"))


@cocotb.test()
async def pause_ends_when_both_stop(dut):
    """No driver ever makes room: each MAC stops its requests, and the frames on both rings leave."""
    drivers = await start(dut, PAUSE_QUANTA=16, PAUSE_RING=24 | 40 << 16)
    sent = [traffic(driver, 150) for driver in drivers]
    for _, feeding in sent:
        await feeding
    await ClockCycles(dut.sys_clk, 20_000)
    dropped = await counted(drivers, "RX_DROP_RING")
    received = await counted(drivers, "RX_GOOD_FRAMES")
    assert received == [150, 150] and dropped == [150 - 64] * 2


@cocotb.test()
@cocotb.parametrize(pause=[True, False])
async def memory_starves_at_times(dut, pause):
    """There is room for the most that the other end may send before it obeys; without pause, frames
    are lost."""
    settings = {"PAUSE_QUANTA": 0xFFFF, "PAUSE_FIFO": 4096 | 6144 << 16} if pause else {}
    drivers = await start(dut, **settings)
    sent = [traffic(driver, 60, (60, 700, 1514)) for driver in drivers]

    async def starve():
        while True:  # one, then the other
            for driver in drivers:
                driver.memory.starve(True)
                await ClockCycles(dut.sys_clk, random.randrange(13_000, 16_000))
                driver.memory.starve(False)
                await ClockCycles(dut.sys_clk, random.randrange(100, 2000))

    starving = cocotb.start_soon(starve())
    for _, feeding in sent:
        await feeding
    starving.cancel()
    for driver in drivers:
        driver.memory.starve(False)
    await ClockCycles(dut.sys_clk, 20_000)
    lost = await counted(drivers, "RX_DROP_FIFO")
    if not pause:
        assert all(lost), lost
        return
    assert lost == [0, 0]
    for driver, (frames, _) in zip(drivers, reversed(sent)):
        assert [frame.data for frame in await driver.poll(60)] == frames
