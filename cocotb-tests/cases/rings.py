# SPDX-License-Identifier: BSD-2-Clause
"""Error cases of the rings: invalid descriptors, odd buffers, bus errors, restarts."""

import random
from contextlib import contextmanager

import cocotb
from cocotb.triggers import RisingEdge

from bench.models.driver import CANARY, RX_OFFSET
from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.basics import MAX, MIN, padded
from moderato.gateware.registers.table import DESCRIPTOR_BYTES


@contextmanager
def refusing(mac, kind, *ranges):
    """Memory returns an error for accesses of `kind` ("read", "write") to these address ranges."""
    interface = getattr(mac.memory.ram, f"{kind}_if")
    name = f"_{kind}"
    access = getattr(interface, name)

    async def refuse(address, *rest):
        if any(address in some for some in ranges):
            raise OSError("no such address")
        return await access(address, *rest)

    setattr(interface, name, refuse)
    try:
        yield
    finally:
        setattr(interface, name, access)


def ring_range(ring):
    return range(ring.base, ring.base + ring.size*DESCRIPTOR_BYTES)


# Invalid lengths ----------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.2, 0.4], spec=[
    [(200, 0), (0, 0), (4, 0)], [(500, 0), (0, 0), (0, 0), (14, 2)], [(64, 0), (0xFFFF, 0), (1, 7)]])
async def one_word_frame_after_invalid_descriptor(dut, slow, spec):
    """The frame's only word arrives right after those of the frame before the invalid one."""
    mac = await Mac.start(dut, slow=slow)
    for _ in range(20):
        frames = [plain(max(length, 14))[:length] for length, _ in spec]
        while mac.driver.tx.room < len(spec):
            mac.driver.reclaim()
            await RisingEdge(dut.sys_clk)
        for frame, (_, offset) in zip(frames, spec, strict=True):
            mac.driver.queue(frame, offset)
        await mac.driver.tx.doorbell()
        errors = await mac.driver.reclaim_all(clocks=20_000)
        assert errors == [not 0 < length < 4089 for length, _ in spec]
        for frame in frames:
            if 0 < len(frame) < 4089:
                assert await mac.wire.receive() == padded(frame)


# Buffers ------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(size=range(120, 136))
async def writes_only_within_buffer(dut, size):
    """LENGTH with every remainder: the MAC uses whole words only; the driver's model checks the
    others."""
    mac = await Mac.start(dut, driver={"buffer": size})
    for length in range(size - RX_OFFSET - 8, size + 1):
        frame = plain(length)
        address, _ = mac.driver.rx.posted[0]
        mac.wire.send(add_fcs(frame))
        got, = await mac.driver.poll(1)
        fits = length + RX_OFFSET <= size // 8 * 8
        assert (got.error, got.data) == (not fits, frame if fits else b""), length
        assert set(mac.memory.ram.read(address + size, 16)) == {CANARY}, length


# Bus errors ---------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(length=[MIN, 300], place=["first", "last"])
async def data_bus_error_is_frame_error(dut, length, place):
    """One word could not be written or read: that frame has ERROR, and only that one."""
    mac = await Mac.start(dut)
    frames = [plain(length) for _ in range(5)]
    buffer, _ = mac.driver.rx.posted[2]
    broken = buffer if place == "first" else buffer + (length + RX_OFFSET - 1) // 64 * 64
    with refusing(mac, "write", range(broken, broken + 64)):
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        for n in range(len(frames)):
            status = None
            while status is None:
                status = mac.driver.rx.done()
                await RisingEdge(dut.sys_clk)
            assert (status[0] >> 30 & 1, status[0] & 0xFFFF) == ((1, 0) if n == 2 else (0, length))
    for frame in frames:
        mac.driver.queue(frame)
    broken = mac.driver.tx.posted[2]
    broken += 0 if place == "first" else (length - 1) // 64 * 64
    with refusing(mac, "read", range(broken, broken + 64)):
        await mac.driver.tx.doorbell()
        errors = await mac.driver.reclaim_all()
    assert errors == [n == 2 for n in range(5)]
    for frame in frames[:2] + frames[3:]:
        assert await mac.wire.receive() == frame
    await mac.settle()
    assert not mac.wire.waiting(), "the damaged frame was sent"
    assert await mac.regs.read("DMA_ERRORS") >= 2
    assert [await mac.regs.read("STATUS", f"{d}_HALTED") for d in ("RX", "TX")] == [0, 0]


async def halt(mac, direction, what):
    """Halts a ring after two completions; returns when it is halted."""
    ring = getattr(mac.driver, direction.lower())
    if what == "fetch":
        kind, broken = "read", ring_range(ring)
    else:  # the third descriptor's
        kind, broken = "write", range(ring.base + 2*DESCRIPTOR_BYTES, ring.base + 3*DESCRIPTOR_BYTES)

    async def pass_frames(count):
        for _ in range(count):
            if direction == "RX":
                mac.wire.send(add_fcs(plain(MIN)))
            else:
                mac.driver.queue(plain(MIN))
        if direction == "TX":
            await mac.driver.tx.doorbell()
        await mac.settle(64*count)

    if what == "fetch":
        if direction == "RX":
            await mac.driver.post_buffers(2)
        await pass_frames(2)
        with refusing(mac, kind, broken):
            if direction == "RX":
                await mac.driver.post_buffers()
            await pass_frames(3)
    else:
        if direction == "RX":
            await mac.driver.post_buffers()
        with refusing(mac, kind, broken):
            await pass_frames(5)
    await mac.clocks(100)


@cocotb.test()
@cocotb.parametrize(direction=["RX", "TX"], what=["fetch", "status"])
async def halted_ring_restarts(dut, direction, what):
    """A descriptor whose access failed is never completed. The interrupt reports it, and a restart
    of the ring clears it."""
    other = {"RX": "TX", "TX": "RX"}[direction]
    mac = await Mac.start(dut, post=False)
    ring, line = getattr(mac.driver, direction.lower()), getattr(dut, f"irq_{direction.lower()}")
    await halt(mac, direction, what)
    assert await mac.regs.read("STATUS", f"{direction}_HALTED")
    assert not await mac.regs.read("STATUS", f"{other}_HALTED")
    assert await mac.regs.read(f"{direction}_COMPLETED") == 2
    assert await mac.regs.read("DMA_ERRORS") == (1 if what == "status" else 4)  # a beat each
    done = 0
    while ring.done() is not None:
        done += 1
    assert done == 2

    # A driver that does not set HALT_INTERRUPT, like that of 1.0, gets no interrupt.
    await mac.clocks(200)
    assert not int(line.value)
    await mac.driver.enable(HALT_INTERRUPT=1)
    for count in range(1, 4):
        await mac.clocks(10)
        assert int(line.value)
        assert await mac.regs.read(f"{direction}_INTERRUPTS_HALTED") == count
        await ring.rearm()
    assert await mac.regs.read(f"{other}_INTERRUPTS") == 0

    # It takes no more work.
    mac.memory.bursts.clear()
    if direction == "RX":
        dropped = await mac.regs.read("RX_DROP_RING")
        mac.wire.send(add_fcs(plain(MIN)))
        await mac.settle()
        assert await mac.regs.read("RX_DROP_RING") == dropped + 1
    else:
        await mac.driver.send(plain(MIN))
        await mac.clocks(500)
    assert not [burst for burst in mac.memory.bursts if burst[1] not in ring_range(ring)]
    assert await mac.regs.read(f"{direction}_COMPLETED") == 2
    while mac.wire.waiting():
        await mac.wire.receive()

    await mac.driver.stop()
    await mac.driver.start()
    assert not await mac.regs.read("STATUS", f"{direction}_HALTED")
    frame = plain(200)
    mac.wire.send(add_fcs(frame))
    await mac.expect([frame])
    await mac.driver.send(frame)
    assert await mac.wire.receive() == frame
    assert not any(await mac.driver.reclaim_all())


@cocotb.test()
async def counts_read_and_write_errors(dut):
    """Both directions have errors all the time, often in the same clock."""
    mac = await Mac.start(dut, driver={"tx_order": 6, "rx_order": 6})
    told = 0

    async def count():
        nonlocal told
        while True:
            await RisingEdge(dut.sys_clk)
            for valid, ready, resp in ((dut.dma_rvalid, dut.dma_rready, dut.dma_rresp),
                                       (dut.dma_bvalid, dut.dma_bready, dut.dma_bresp)):
                told += int(valid.value) and int(ready.value) and int(resp.value) != 0

    cocotb.start_soon(count())
    rings = [ring_range(ring) for ring in (mac.driver.rx, mac.driver.tx)]
    beyond = range(max(r.stop for r in rings), 2**32)
    with refusing(mac, "read", beyond), refusing(mac, "write", beyond):
        for _ in range(40):
            mac.wire.send(add_fcs(plain(300)))
            mac.driver.queue(plain(300))
        await mac.driver.tx.doorbell()
        assert all(await mac.driver.reclaim_all())
        await mac.settle(300)
    assert told > 400 and await mac.regs.read("DMA_ERRORS") == told


# Status after data --------------------------------------------------------------------------------

@cocotb.test()
async def status_follows_all_data(dut):
    """A status is not even offered to memory before memory has acknowledged the frame's data."""
    mac = await Mac.start(dut, driver={"rx_order": 5}, slow=0.3)
    ring = ring_range(mac.driver.rx)
    owed, ended = [], 0   # bursts of data not acknowledged, in order

    async def watch():
        nonlocal ended
        kinds = []        # of bursts in progress
        while True:
            await RisingEdge(dut.sys_clk)
            if int(dut.dma_bvalid.value) and int(dut.dma_bready.value):
                if kinds.pop(0) == "data":
                    owed.pop(0)
            if int(dut.dma_awvalid.value) and int(dut.dma_awready.value):
                address = int(dut.dma_awaddr.value)
                if address in ring:
                    kinds.append("status")
                    frame = (address - ring.start) // DESCRIPTOR_BYTES
                    assert frame not in owed, "a status precedes its data"
                    ended += 1
                else:
                    kinds.append("data")
                    owed.append(next(n for n, buffer in enumerate(buffers) if address in buffer))

    buffers = [range(address - 64, address + size) for address, size in mac.driver.rx.posted]
    watching = cocotb.start_soon(watch())
    frames = [plain(random.choice((MIN, 100, 700))) for _ in range(32)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    got = await mac.driver.poll(32, repost=False)
    assert [frame.data for frame in got] == frames and ended == 32
    watching.cancel()


# Stops and starts ---------------------------------------------------------------------------------

@cocotb.test()
async def discards_frames_received_before_start(dut):
    """RX_IDLE is set when the FIFO is empty; a frame that a stop has truncated is dropped, too."""
    for starved in (True, False):
        mac = await Mac.start(dut, post=False)
        if starved:
            mac.memory.ram.read_if.r_channel.pause = True
            await mac.driver.post_buffers(4)
        for _ in range(60):
            mac.wire.send(add_fcs(plain(MIN)))
        await mac.settle() if starved else await mac.clocks(500)
        await mac.driver.enable(False, True)
        mac.memory.ram.read_if.r_channel.pause = False
        while not await mac.regs.read("STATUS", "RX_IDLE"):
            pass
        await mac.wire.sent()
        dropped = await mac.regs.read("RX_DROP_RING")
        await mac.driver.start()
        await mac.clocks(2000)
        assert mac.driver.receive() is None
        assert await mac.regs.read("RX_DROP_RING") == dropped


@cocotb.test()
@cocotb.parametrize(first=range(4, 52, 5))
async def drops_frame_cut_by_stop(dut, first):
    """Disabled and enabled again while a frame arrives, as fast as the bus allows."""
    mac = await Mac.start(dut, link=100, post=False)
    mac.wire.send(add_fcs(plain(200)))
    await mac.clocks(32*first)
    await mac.driver.stop()
    await mac.driver.start()
    await mac.settle(800)
    assert mac.driver.receive() is None
    good = await mac.regs.read("RX_GOOD_FRAMES")
    assert good == 0
    frame = plain(200)
    mac.wire.send(add_fcs(frame))
    await mac.expect([frame])


@cocotb.test()
@cocotb.parametrize(clocks=[60, 300, 1100, 3000])
async def completed_means_sent(dut, clocks):
    """Transmission stops at any moment: completed frames are sent, then or later, and no others."""
    mac = await Mac.start(dut, link=100, driver={"tx_order": 5})
    frames = [plain(random.choice((MIN, 200, 700))) for _ in range(32)]
    for frame in frames:
        mac.driver.queue(frame)
    await mac.driver.tx.doorbell()
    await mac.clocks(clocks)
    await mac.driver.stop()
    errors = mac.driver.reclaim()
    completed = errors.count(False)
    assert 0 < completed < 32
    # With frames in pieces, a part of one may be in the FIFO when it is full.
    assert not any(errors[:completed]) and (completed == len(errors) or dut._name == "mac_gather")
    await mac.driver.start()
    frames = frames[:completed] + [plain(100)]
    await mac.driver.send(frames[-1])
    for frame in frames:
        assert await mac.wire.receive() == frame
    await mac.settle(2000)
    assert not mac.wire.waiting()


# Moderation ---------------------------------------------------------------------------------------

@cocotb.test()
async def silent_completions_stay_silent_after_a_rearm(dut):
    """The driver re-arms without polling: silent completions still do not count."""
    mac = await Mac.start(dut, TX_FRAMES=1)
    await mac.driver.send(plain(MIN), NO_INTERRUPT=1)
    await mac.clocks(500)
    await mac.driver.tx.rearm()  # with index 0
    await mac.clocks(20)
    assert await mac.regs.read("TX_INTERRUPTS") == 0
    await mac.driver.send(plain(MIN))
    await mac.clocks(500)
    assert await mac.regs.read("TX_INTERRUPTS") == 1


# Length counter -----------------------------------------------------------------------------------

@cocotb.test()
async def the_longest_setting_of_max_frame(dut):
    """Frames around 2**14 octets, where the counter of octets would wrap."""
    mac = await Mac.start(dut, MAX_FRAME=0x3FFF)
    for length in (16380, 16383, 16384, 16386, 16450, 16500):
        mac.wire.send(add_fcs(plain(length - 4)))
    good = plain(MAX)
    mac.wire.send(add_fcs(good))
    await mac.wire.sent()
    await mac.expect([good])
    counters = await mac.regs.counters()
    assert (counters["RX_DROP_FIFO"], counters["RX_OVERSIZE"]) == (2, 4)  # the FIFO has 8 KiB
    assert counters["RX_GOOD_FRAMES"] == 1
