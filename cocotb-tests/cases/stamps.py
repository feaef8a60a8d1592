# SPDX-License-Identifier: BSD-2-Clause
"""Time stamps against the wire's own times, on all wires.

A stamp may be late by the PHY's delay, and by up to a period of the system clock (timestamp.py). It
may be late by another period where the model of a crossing delays bits at random (ecp5_cells.v).
"""

import random

import cocotb
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

from bench.models.frames import plain
from bench.mac import WIRES, Mac
from bench.wires.wire import SYS_PERIOD_NS, SimWire, add_fcs
from bench.models.wishbone import field
from cases.basics import MAX, MIN

# The PHY's delay from the start of a frame on the wire, in ns, by device and Mb/s: received, sent.
# A sent frame starts on the wire later than its stamp.
PHY = {
    ("mac_gmii", None): (0, -8),
    ("mac_rgmii", None): (24, 0),
    ("mac_rgmii_rates", 1000): (24, 0),
    ("mac_rgmii_rates", 100): (200, 40),
    ("mac_rgmii_rates", 10): (2000, 400),
    ("mac_mii", 100): (40, 0),
    ("mac_mii", 10): (400, 0),
    ("mac_rmii", 100): (80, 40),
    ("mac_1000basex", None): (8, -16),
}
LATE_BITS = "mac_rgmii", "mac_rmii", "mac_1000basex"  # with the model of a crossing as above


def sys_period(mac):
    return getattr(mac.wire, "sys_period_ns", SYS_PERIOD_NS)


async def command(mac, name, value=None):
    if value is not None:
        await mac.regs.write("TIME_LOW", value & 0xFFFFFFFF)
        await mac.regs.write("TIME_HIGH", value >> 32 & 0xFFFFFFFF)
    await mac.regs.write("TIME_COMMAND", 1 << field("TIME_COMMAND", name).lsb)


async def start_clock(mac, time):
    """Sets the clock, and starts it at the rate of simulated time. Returns its time at the
    simulation's start."""
    increment = round(sys_period(mac) * 2**32)
    await mac.regs.write("TIME_INCREMENT_NS", increment >> 32)
    await mac.regs.write("TIME_INCREMENT", increment & 0xFFFFFFFF)
    await command(mac, "SET", time)
    await mac.clocks(2)
    await RisingEdge(mac.dut.sys_clk)
    return int(mac.dut.now.value) - get_sim_time("ns") + sys_period(mac)


async def stamp_received(mac, on=True):
    await mac.regs.write("TIME_CTRL", on << field("TIME_CTRL", "RX").lsb)


def latency(stamps, starts, zero):
    """The least and the largest latency, in ns."""
    late = [stamp - zero - start for stamp, start in zip(stamps, starts, strict=True)]
    return min(late), max(late)


def misleading(length):
    """A frame whose source address looks like a start-of-frame delimiter, in words of any width."""
    frame = plain(length)
    return frame[:6] + bytes.fromhex("d555555555d5") + frame[12:]


async def measure(dut, link=None, count=40):
    """Frames in both directions at once, with gaps of any length: the latencies of the stamps of
    each direction."""
    mac = await Mac.start(dut, link, driver={"rx_order": 6, "tx_order": 6})
    zero = await start_clock(mac, 0x1_FFFF_FF00)  # the lower word wraps soon
    await stamp_received(mac)
    inward, outward = ([random.choice((plain, misleading))(random.choice((MIN, 61, 99)))
                        for _ in range(count)] for _ in range(2))

    async def arrive():
        for frame in inward:
            mac.wire.gap = random.randrange(12, 24)
            mac.wire.send(add_fcs(frame))
            await mac.wire.sent()

    arriving = cocotb.start_soon(arrive())
    left = []
    for frame in outward:
        await mac.driver.send(frame, random.randrange(8), TIMESTAMP=1)
        assert await mac.wire.receive() == frame
        left.append(mac.wire.started)
    await arriving
    await mac.settle(MAX)
    assert not any(await mac.driver.reclaim_all())
    received = []
    for frame in inward:
        got = mac.driver.receive()
        assert got.data == frame
        received.append(got.stamp)
    assert None not in mac.driver.stamps and None not in received
    # A sent frame's stamp has the lower word only.
    sent = [stamp + (0x2_0000_0000 if stamp < 2**31 else 0x1_0000_0000) for stamp in mac.driver.stamps]
    return latency(received, mac.wire.starts, zero), latency(sent, left, zero)


@cocotb.test()
async def frames_are_stamped(dut):
    await are_stamped(dut)


async def are_stamped(dut, link=None):
    """Each frame, in both directions at once, has a stamp within its PHY's limits."""
    one_clock = WIRES[dut._name] is SimWire
    periods = 0 if one_clock else 1 + dut._name.startswith(LATE_BITS)
    period = getattr(WIRES[dut._name], "sys_period_ns", SYS_PERIOD_NS)
    takes = (0, 0) if one_clock else PHY[dut._name, link]
    for late, phy in zip(await measure(dut, link), takes, strict=True):
        least, most = (value - phy for value in late)
        # Stamps have no fractions of a ns.
        assert -1 < least and most < periods * period + 0.5, (late, phy)


async def frames_of(mac, count):
    """The received frames, stamped, one after the other."""
    frames = await mac.driver.poll(count)
    stamps = [frame.stamp for frame in frames]
    assert None not in stamps and stamps == sorted(set(stamps))
    return frames


@cocotb.test()
async def keeps_the_line_rate_with_stamps(dut):
    """Shortest frames and some others, back to back in both directions, each of them stamped."""
    mac = await Mac.start(dut, driver={"rx_order": 5, "tx_order": 5})
    await start_clock(mac, 0)
    await stamp_received(mac)
    lengths = [MIN] * 100 + [MAX] * 4 + [61, 62, 63, 64, 65] * 8
    inward, outward = ([plain(length) for length in lengths] for _ in range(2))
    for frame in inward:
        mac.wire.send(add_fcs(frame))

    async def feed():
        for frame in outward:
            await mac.driver.send(frame, 2, TIMESTAMP=1)

    feeding = cocotb.start_soon(feed())
    left = []
    arriving = cocotb.start_soon(frames_of(mac, len(inward)))
    for frame in outward:
        assert await mac.wire.receive() == frame
        left.append(mac.wire.started)
    assert [frame.data for frame in await arriving] == inward
    await feeding
    await mac.driver.reclaim_all()
    assert None not in mac.driver.stamps and len(set(mac.driver.stamps)) == len(outward)
    octets = sum(8 + length + 4 + 12 for length in lengths[:-1])
    took = (left[-1] - left[0]) / mac.wire.octet_ns
    assert took <= octets * 1.01, f"{took} octet times for {octets}"


@cocotb.test()
async def stopping_ring_does_not_wait_for_stamp(dut):
    """The ring is idle long before frames with a request have left the FIFO; later frames get their
    own stamps."""
    mac = await Mac.start(dut, driver={"tx_order": 6})
    zero = await start_clock(mac, 2**40)
    for first in (0, 1, 2, 5, 12):
        frames = [plain(MAX - n) for n in range(20)]
        for n, frame in enumerate(frames):
            mac.driver.queue(frame, TIMESTAMP=int(n >= first))
        await mac.driver.tx.doorbell()
        await mac.clocks(random.randrange(200, 1500))
        await mac.driver.stop(clocks=100)
        await mac.driver.start(rx=False)
        frame = plain(MIN)
        mac.driver.stamps.clear()
        mac.driver.queue(frame, TIMESTAMP=1)
        await mac.driver.tx.doorbell()
        while await mac.wire.receive() != frame:
            pass
        await mac.driver.reclaim_all()
        late = mac.driver.stamps[-1] - int(mac.wire.started + zero) % 2**32
        assert abs(late) < 2000, "the stamp of another frame"
        await mac.driver.stop()
        await mac.driver.start(rx=False)


@cocotb.test()
async def stamps_come_and_go(dut):
    """Stamps are switched while frames pass: each frame has one or none, and its octets in the
    right place."""
    mac = await Mac.start(dut, driver={"rx_order": 5})
    await start_clock(mac, 1)
    got = []
    for n in range(8):
        await stamp_received(mac, n % 2 == 0)
        frames = [plain(random.choice((MIN, 61, 99))) for _ in range(10)]
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await mac.clocks(random.randrange(1500))
        await stamp_received(mac, n % 2)
        for frame in frames:
            got += await mac.driver.poll(1)
            assert got[-1].data == frame
    stamps = [frame.stamp for frame in got]
    assert None in stamps and len(set(stamps)) > 10


@cocotb.test()
async def fragments_take_no_stamp(dut):
    """Runs of fragments before a good frame: it has its own stamp."""
    mac = await Mac.start(dut, driver={"rx_order": 5})
    zero = await start_clock(mac, 2**33)
    await stamp_received(mac)
    for count in range(12):
        for _ in range(count):
            mac.wire.send(bytes(random.randrange(1, 60)))
        frame = plain(MIN)
        mac.wire.send(add_fcs(frame))
        got, = await mac.driver.poll(1)
        assert got.data == frame
        assert abs(got.stamp - zero - mac.wire.starts[-1]) < 30 * mac.wire.octet_ns


@cocotb.test()
async def stamp_counts_in_buffer_length(dut):
    """A buffer without room for the stamp is too small for the frame."""
    mac = await Mac.start(dut, post=False)
    await start_clock(mac, 0)
    for on, size, error in ((0, 64, False), (1, 64, True), (1, 72, False)):
        await stamp_received(mac, on)
        await mac.driver.post_buffers(1, size=size)
        frame = plain(62)
        mac.wire.send(add_fcs(frame))
        got, = await mac.driver.poll(1, repost=False)
        assert got.error == error and (error or got.data == frame)
        assert (got.stamp is None) == (not on or error)


@cocotb.test()
async def unsent_frames_have_no_stamp(dut):
    """The ring does not wait for stamps of invalid lengths, and of frames with a read error."""
    mac = await Mac.start(dut, driver={"tx_order": 4})
    await start_clock(mac, 0)
    frames = [plain(MIN + 8*n) for n in range(6)]
    for frame in frames:
        mac.driver.queue(frame, 2, TIMESTAMP=1)
    broken = mac.driver.tx.posted[2]
    mac.memory.refuse(reads=lambda address: broken - 8 < address <= broken)
    mac.driver.tx.post(0x3_0000, 0x3_0000, 0, LENGTH=0, TIMESTAMP=1)
    mac.driver.asks.append(True)
    await mac.driver.tx.doorbell()
    for n, frame in enumerate(frames):
        if n != 2:
            assert await mac.wire.receive() == frame
    assert await mac.driver.reclaim_all() == [n in (2, 6) for n in range(7)]
    assert None not in mac.driver.stamps and len(set(mac.driver.stamps)) == 5


# The clock, through its registers -----------------------------------------------------------------

async def read_clock(mac):
    await command(mac, "READ")
    low = await mac.regs.read("TIME_NOW_LOW")
    return await mac.regs.read("TIME_NOW_HIGH") << 32 | low


@cocotb.test()
async def the_clock_obeys_its_registers(dut):
    mac = await Mac.start(dut)
    assert await read_clock(mac) == await read_clock(mac) == 0  # it does not run
    zero = await start_clock(mac, 5 * 10**14)
    for step in (0, 1000, -1000, 10**12, -10**12 - 7, -(2**32)):
        await command(mac, "STEP", step)
        zero += step
        await mac.clocks(random.randrange(2000))
        before = get_sim_time("ns")
        time = await read_clock(mac)
        assert before <= time - zero + 0.5 and time - zero <= get_sim_time("ns")
    await mac.regs.write("TIME_INCREMENT_NS", 200)  # not before the other half is written
    await mac.clocks(100)
    assert abs(await read_clock(mac) - zero - get_sim_time("ns")) < 200


@cocotb.test()
async def the_output_keeps_the_time(dut):
    """The output's edges against simulated time: at most three clocks late."""
    mac = await Mac.start(dut)
    period = sys_period(mac)
    zero = await start_clock(mac, 7 * 10**14)
    await mac.regs.write("TIME_PERIOD", 1000)
    await mac.regs.write("TIME_WIDTH", 300)
    begin = int(zero + get_sim_time("ns")) + 3000
    await command(mac, "START", begin)
    await mac.regs.write("TIME_CTRL", 1 << field("TIME_CTRL", "OUTPUT").lsb)
    for n in range(8):
        for level, at in ((1, 0), (0, 300)):
            await dut.time_output.value_change
            assert int(dut.time_output.value) == level
            late = get_sim_time("ns") - (begin + n * 1000 + at - zero)
            assert 2 * period - 0.5 <= late <= 3 * period + 0.5, late
    await mac.regs.write("TIME_CTRL", 0)
    await mac.clocks(500)
    assert int(dut.time_output.value) == 0
