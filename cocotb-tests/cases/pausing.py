# SPDX-License-Identifier: BSD-2-Clause
"""Pause frames in both directions, for several kinds of PHY.

The frames are scapy's, whose MAC control layer follows IEEE 802.3 annex 31. The tests compare the
MAC's own pause frames with them.
"""

import random

import cocotb
from scapy.contrib.mac_control import MACControlPause
from scapy.layers.l2 import Ether

from bench.models.driver import STATION
from bench.models.frames import TESTER, plain
from bench.mac import Mac
from bench.wires.wire import add_fcs

GROUP = "01:80:c2:00:00:01"
OCTET = 0.8  # clocks at 1000 Mb/s
QUANTUM = 52  # clocks: 51.2, rounded up
OBEY, ASK = 1, 2  # bits of PAUSE


def pause(quanta, destination=GROUP, source=TESTER):
    """A pause frame, padded, without FCS."""
    if isinstance(destination, bytes):
        destination = destination.hex(":")
    frame = Ether(dst=destination, src=source.hex(":"), type=0x8808) / MACControlPause(
        pause_time=quanta)
    return bytes(frame).ljust(60, b"\0")


async def queue(mac, count, length=200):
    """Puts frames on the Tx ring; returns them."""
    frames = [plain(length) for _ in range(count)]
    for frame in frames:
        mac.driver.queue(frame)
    await mac.driver.tx.doorbell()
    return frames


async def left_within(mac, clocks):
    """The number of frames that have left after this many clocks."""
    await mac.clocks(clocks)
    return mac.wire.waiting()


async def told(mac):
    """Returns the quanta of the next frame from the MAC, which must be a pause frame."""
    frame = await mac.wire.receive()
    quanta = int.from_bytes(frame[16:18], "big")
    assert frame == pause(quanta, source=STATION), frame.hex()
    return quanta


# Obeyed -------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(destination=[GROUP, STATION])
async def pause_starts_at_frame_end(dut, destination):
    """The MAC pauses for the requested time, exact to a quantum, then continues with the next
    frame."""
    mac = await Mac.start(dut, driver={"tx_order": 6}, PAUSE=OBEY, PAUSE_QUANTUM=QUANTUM)
    for quanta in (1, 40, 200):
        frames = await queue(mac, 40)
        await mac.clocks(1500)
        mac.wire.send(add_fcs(pause(quanta, destination)))
        await mac.wire.sent()
        # The frame in progress, and those between the clocks: fewer than two of these.
        before = await left_within(mac, 500)
        assert 0 < before < 40
        assert await mac.regs.read("STATUS", "TX_PAUSED") == (quanta > 10)
        if quanta > 10:
            assert await left_within(mac, quanta*QUANTUM - 600) == before
        assert await left_within(mac, 1200) > before
        assert not await mac.regs.read("STATUS", "TX_PAUSED")
        for frame in frames:
            assert await mac.wire.receive() == frame
        await mac.driver.reclaim_all()
    counters = await mac.regs.counters()
    assert counters["RX_PAUSE_FRAMES"] == 3
    assert counters["RX_GOOD_FRAMES"] == counters["RX_FILTERED"] == 0


@cocotb.test()
@cocotb.parametrize(how=["a pause of 0", "a pause of 0 while reception is off", "software"])
async def pauses_end_early(dut, how):
    """A shorter pause ends a longer one, and the other way round: the latest one counts."""
    mac = await Mac.start(dut, driver={"tx_order": 6}, PAUSE=OBEY, PAUSE_QUANTUM=QUANTUM)
    for quanta in (50, 0xFFFF, 300):
        mac.wire.send(add_fcs(pause(quanta)))
    await mac.settle()
    frames = await queue(mac, 20)
    assert await left_within(mac, 300*QUANTUM - 4000) == 0
    assert await left_within(mac, 5000) > 0
    for frame in frames:
        assert await mac.wire.receive() == frame
    await mac.driver.reclaim_all()

    mac.wire.send(add_fcs(pause(0xFFFF)))
    await mac.settle()
    frames = await queue(mac, 20)
    assert await left_within(mac, 5000) == 0
    if how == "software":
        await mac.regs.write("PAUSE", 0)
    else:
        await mac.driver.enable(rx=not how.endswith("off"))
        mac.wire.send(add_fcs(pause(0)))
    assert await left_within(mac, 1000) > 0
    for frame in frames:
        assert await mac.wire.receive() == frame
    await mac.regs.write("PAUSE", OBEY)
    assert not await mac.regs.read("STATUS", "TX_PAUSED")


@cocotb.test()
async def control_frames_are_not_delivered(dut):
    """Obeyed control frames are not delivered, nor those with other opcodes. Frames that only
    resemble them are."""
    mac = await Mac.start(dut, PAUSE=OBEY, PAUSE_QUANTUM=QUANTUM)
    await mac.driver.enable(PROMISCUOUS=1)
    good = pause(0xFFFF)
    others = [pause(0xFFFF, "01:80:c2:00:00:02"), pause(0xFFFF, "01:80:c2:01:00:01"),
              pause(0xFFFF, TESTER), good[:12] + b"\x88\x09" + good[14:],
              good[:12] + b"\x08\x88" + good[14:], good[:12] + good[10:]]
    unknown = [good[:14] + opcode.to_bytes(2, "big") + good[16:] for opcode in (0, 2, 0x0101, 0x100)]
    for frame in others + unknown:
        mac.wire.send(add_fcs(frame))
    damaged = bytearray(add_fcs(good))
    damaged[17] ^= 1
    mac.wire.send(bytes(damaged))
    mac.wire.send(add_fcs(good)[:40])
    mac.wire.send(add_fcs(good[:59]))  # a fragment with a correct FCS
    mac.wire.send(add_fcs(good[:16].ljust(1600, b"\1")))
    await mac.expect(others)
    await mac.settle(1600)
    await mac.expect_nothing()
    assert not await mac.regs.read("STATUS", "TX_PAUSED")
    counters = await mac.regs.counters()
    assert (counters["RX_PAUSE_FRAMES"], counters["RX_CONTROL_UNKNOWN"]) == (0, len(unknown))
    assert [counters[f"RX_{fate}"] for fate in ("FCS_ERRORS", "UNDERSIZE", "OVERSIZE")] == [1, 2, 1]
    mac.wire.send(add_fcs(good))
    mac.wire.send(add_fcs(good[:18] + random.randbytes(200)))  # longer than required
    await mac.settle()
    assert await mac.regs.read("STATUS", "TX_PAUSED")
    assert await mac.regs.read("RX_PAUSE_FRAMES") == 2
    await mac.expect_nothing()


@cocotb.test()
async def pause_is_off_unless_wanted(dut):
    """Without the option's bits, a pause frame is delivered like other group frames, and none is
    sent."""
    mac = await Mac.start(dut, driver={"rx_order": 3}, PAUSE_FIFO=0x2000, PAUSE_RING=8)
    mac.wire.send(add_fcs(pause(0xFFFF)))
    await mac.settle()
    assert await mac.regs.read("RX_FILTERED") == 1
    await mac.driver.enable(ALLMULTI=1)
    mac.wire.send(add_fcs(pause(0xFFFF)))
    await mac.expect([pause(0xFFFF)])
    assert await mac.regs.read("STATUS") >> 4 & 3 == 0
    frame, = await queue(mac, 1)
    assert await mac.wire.receive() == frame
    assert await mac.regs.read("RX_PAUSE_FRAMES") == await mac.regs.read("TX_PAUSE_FRAMES") == 0


# Requested ----------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(full_of=["octets", "frames"])
async def full_fifo_requests_pause(dut, full_of):
    """Memory takes no data: at the first threshold the MAC requests a pause, at the second it ends
    it."""
    stop, go = 4096, 6144  # of 8192
    mac = await Mac.start(dut, driver={"rx_order": 7}, PAUSE=ASK, PAUSE_QUANTUM=QUANTUM,
        PAUSE_QUANTA=0x1234, PAUSE_FIFO=stop | go << 16)
    length, fit = {"octets": (1008, 4), "frames": (60, 20)}[full_of]
    for _ in range(2):
        mac.memory.starve(True)
        frames = [plain(length) for _ in range(fit + 3)]
        for frame in frames[:fit]:
            mac.wire.send(add_fcs(frame))
        await mac.settle(length)
        assert not mac.wire.waiting() and not await mac.regs.read("STATUS", "RX_PAUSED")
        for frame in frames[fit:]:
            mac.wire.send(add_fcs(frame))
        assert await told(mac) == 0x1234
        assert await mac.regs.read("STATUS", "RX_PAUSED")
        await mac.regs.write("PAUSE_FIFO", 64 | go << 16)
        await mac.settle(length)
        assert not mac.wire.waiting(), "the pause ends before the second threshold"
        mac.memory.starve(False)
        assert await told(mac) == 0
        await mac.expect(frames)
        assert not await mac.regs.read("STATUS", "RX_PAUSED")
        await mac.regs.write("PAUSE_FIFO", stop | go << 16)
    assert await mac.regs.read("TX_PAUSE_FRAMES") == 4
    assert await mac.regs.read("RX_DROP_FIFO") == 0


@cocotb.test()
async def ring_without_descriptors_requests_pause(dut):
    """The request is repeated before the pause is over, until there are descriptors."""
    quanta = 40
    mac = await Mac.start(dut, driver={"rx_order": 6}, PAUSE_QUANTUM=QUANTUM, PAUSE_QUANTA=quanta,
        PAUSE_RING=16 | 32 << 16)
    await mac.regs.write("PAUSE", ASK)
    frames = [plain(60) for _ in range(60)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
        await mac.clocks(100)
        if mac.wire.waiting():
            break
    # Up to eight descriptors were fetched ahead.
    used = frames.index(frame) + 1
    assert 64 - 16 - 8 <= used <= 64 - 16 + 2
    got = await mac.driver.poll(used, repost=False)
    assert [frame.data for frame in got] == frames[:used]
    await mac.clocks(round(6.5 * quanta/2 * QUANTUM))
    assert 6 <= mac.wire.waiting() <= 8
    await mac.driver.post_buffers(8)
    await mac.clocks(200)
    assert await mac.regs.read("STATUS", "RX_PAUSED")
    await mac.driver.post_buffers()
    while (said := await told(mac)):
        assert said == quanta
    await mac.clocks(quanta * QUANTUM)
    assert not mac.wire.waiting()
    sent = await mac.regs.read("TX_PAUSE_FRAMES")
    await mac.regs.write("PAUSE_RING", 0xFFFF)
    assert await told(mac) == quanta
    await mac.regs.write("PAUSE", 0)
    assert await told(mac) == 0
    assert await mac.regs.read("TX_PAUSE_FRAMES") - sent == 2


@cocotb.test()
async def gives_up_when_no_room_is_made(dut):
    """After 255 requests in a row, the MAC stops; it requests pauses again after there was room
    once."""
    quanta = 16
    mac = await Mac.start(dut, PAUSE_QUANTUM=8, PAUSE_QUANTA=quanta, PAUSE_RING=0xFFFF)
    await mac.regs.write("PAUSE", ASK)
    await mac.clocks(255 * 150)
    assert mac.wire.waiting() == 255
    await mac.clocks(2000)
    assert mac.wire.waiting() == 255
    assert {await told(mac) for _ in range(255)} == {quanta}
    await mac.regs.write("PAUSE_RING", 0)
    assert await told(mac) == 0
    await mac.regs.write("PAUSE_RING", 0xFFFF)
    assert await told(mac) == quanta and await told(mac) == quanta


@cocotb.test()
@cocotb.parametrize(how=["disabled", "halted"])
async def stopped_ring_requests_no_pause(dut, how):
    """A stopped ring drops its frames: a pause would not help, and would hold other traffic of the
    other end."""
    if not hasattr(dut, "dma_awvalid"):
        return
    mac = await Mac.start(dut, PAUSE_QUANTUM=QUANTUM, PAUSE_QUANTA=400, PAUSE_RING=0xFFFF)
    await mac.regs.write("PAUSE", ASK)
    assert await told(mac) == 400
    if how == "disabled":
        await mac.driver.enable(rx=False)
    else:
        ring = mac.driver.rx.base
        mac.memory.refuse(writes=lambda address: ring <= address < ring + 0x1000)
        mac.wire.send(add_fcs(plain(60)))
    while (said := await told(mac)):
        assert said == 400
    await mac.clocks(500 * QUANTUM)
    assert not mac.wire.waiting()


# Both at once -------------------------------------------------------------------------------------

@cocotb.test()
async def paused_mac_requests_pause(dut):
    """A MAC that is paused forever still requests a pause, and ends it."""
    mac = await Mac.start(dut, PAUSE_QUANTUM=QUANTUM, PAUSE_QUANTA=0xFFFF, PAUSE=OBEY | ASK)
    mac.wire.send(add_fcs(pause(0xFFFF)))
    await mac.settle()
    frames = await queue(mac, 5)
    for _ in range(3):
        await mac.regs.write("PAUSE_RING", 0xFFFF)
        assert await told(mac) == 0xFFFF
        await mac.regs.write("PAUSE_RING", 0)
        assert await told(mac) == 0
    await mac.clocks(2000)
    assert not mac.wire.waiting()
    mac.wire.send(add_fcs(pause(0)))
    for frame in frames:
        assert await mac.wire.receive() == frame
    assert await mac.regs.read("TX_GOOD_FRAMES") == 6 + len(frames)


@cocotb.test()
async def pause_harms_no_frame(dut):
    """Pauses of all lengths, and thresholds that come and go, during traffic in both directions."""
    mac = await Mac.start(dut, driver={"rx_order": 5, "tx_order": 5}, PAUSE=OBEY | ASK,
        PAUSE_QUANTUM=QUANTUM, PAUSE_QUANTA=30)
    inward = [plain(random.choice((60, 61, 64, 300, 1514))) for _ in range(60)]
    outward = [plain(random.choice((60, 61, 64, 300, 1514))) for _ in range(60)]

    async def feed():
        for frame in outward:
            await mac.driver.send(frame, random.randrange(8))

    async def disturb():
        while True:
            await mac.regs.write("PAUSE_RING", random.choice((0, 0xFFFF)))
            await mac.clocks(random.randrange(1000))

    for frame in inward:
        mac.wire.send(add_fcs(frame))
        if random.random() < 0.5:
            mac.wire.send(add_fcs(pause(random.choice((0, 1, 5, 20)))))
    cocotb.start_soon(feed())
    disturbing = cocotb.start_soon(disturb())
    await mac.expect(inward)
    got, asked = [], 0
    while len(got) < len(outward):
        frame = await mac.wire.receive()
        if frame[:6].hex(":") == GROUP:
            assert frame in (pause(30, source=STATION), pause(0, source=STATION))
            asked += 1
        else:
            got.append(frame)
    disturbing.cancel()
    assert got == outward and asked > 10
