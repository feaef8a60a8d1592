# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the whole MAC through its rings, for every kind of PHY."""

import random
import struct

import cocotb
import pytest
from cocotb.triggers import RisingEdge, with_timeout

from bench.models.driver import RX_OFFSET, STATION, get
from bench.models.frames import BROADCAST, TESTER, inserted, padded, plain, udp
from bench.models.hashing import hash_bit
from bench.mac import Mac
from bench.wires.wire import add_fcs
from moderato.gateware.registers.table import MAX_UNICAST, STATISTICS

MIN, MAX = 60, 1514  # octets of a frame without FCS
PLACE_BITS = 14      # of START and PLACE in a descriptor


def some_lengths():
    """All remainders modulo 8 at both ends of the range, and a few lengths between."""
    return [*range(MIN, 78), *range(250, 1500, 113), *range(MAX - 9, MAX + 1)]


# Receive ------------------------------------------------------------------------------------------

async def receive_lengths(dut, lengths):
    mac = await Mac.start(dut)
    for length in lengths:
        frame = udp(length)
        mac.wire.send(add_fcs(frame))
        await mac.expect([frame])
    counters = await mac.regs.counters()
    assert counters.pop("RX_GOOD_FRAMES") == len(lengths)
    assert counters.pop("RX_GOOD_OCTETS") == sum(lengths) + 4*len(lengths)
    by_length = [counters.pop(name) for name in list(counters) if name.startswith("RX_OCTETS_")]
    assert sum(by_length) == len(lengths)
    assert not any(counters.values()), counters


@cocotb.test()
async def receives_lengths(dut):
    await receive_lengths(dut, some_lengths())


@cocotb.test()
@pytest.mark.slow
async def receives_every_length(dut):
    await receive_lengths(dut, range(MIN, MAX + 1))


@cocotb.test()
async def receives_minimum_gap_bursts(dut):
    """Shortest frames back to back, ten times around the ring: none is lost."""
    mac = await Mac.start(dut, driver={"rx_order": 4})
    frames = [plain(MIN) for _ in range(160)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await mac.expect(frames)


@cocotb.test()
async def recognises_group_addresses(dut):
    mac = await Mac.start(dut)
    await mac.driver.enable(ALLMULTI=1)
    group = bytes.fromhex("01005e000001")
    for destination, multicast, broadcast in (
            (STATION, False, False), (group, True, False), (BROADCAST, True, True)):
        mac.wire.send(add_fcs(plain(100, destination)))
        frame, = await mac.driver.poll(1)
        assert (frame.multicast, frame.broadcast) == (multicast, broadcast)


@cocotb.test()
async def filters_destinations(dut):
    mac = await Mac.start(dut)
    group, other_group = bytes.fromhex("01005e000001"), bytes.fromhex("333300000001")
    hash_word = 1 << hash_bit(group)
    assert hash_bit(group) != hash_bit(other_group)
    await mac.regs.write("HASH_LOW", hash_word & 0xFFFFFFFF)
    await mac.regs.write("HASH_HIGH", hash_word >> 32)
    destinations = [STATION, TESTER, group, other_group, BROADCAST, bytes.fromhex("024d6f640001")]
    for flags, accepted in (({}, {STATION, group, BROADCAST}),
                            ({"ALLMULTI": 1}, {STATION, group, other_group, BROADCAST}),
                            ({"PROMISCUOUS": 1}, set(destinations))):
        await mac.driver.enable(**flags)
        frames = [plain(random.randrange(MIN, 200), destination) for destination in destinations]
        before = await mac.regs.read("RX_FILTERED")
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await mac.expect([frame for frame in frames if frame[:6] in accepted])
        await mac.settle()
        assert await mac.regs.read("RX_FILTERED") - before == len(destinations) - len(accepted)


@cocotb.test()
async def takes_further_addresses(dut):
    """The MAC accepts each enabled address and no other; a disabled one counts as another
    station's."""
    mac = await Mac.start(dut)
    addresses = [bytes([2, *random.randbytes(5)]) for _ in range(MAX_UNICAST)]
    for turned_on in (range(MAX_UNICAST), range(0, MAX_UNICAST, 3), ()):
        for n, address in enumerate(addresses):
            low, high = struct.unpack("<IH", address)
            await mac.regs.write(f"UNICAST_LOW_{n}", low)
            await mac.regs.write(f"UNICAST_HIGH_{n}", high | (n in turned_on) << 16)
        frames = [udp(100, address) for address in [*addresses, TESTER, STATION]]
        expected = [frames[n] for n in turned_on] + frames[-1:]
        before = await mac.regs.read("RX_FILTERED")
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await mac.expect(expected)
        await mac.settle()
        assert await mac.regs.read("RX_FILTERED") - before == len(frames) - len(expected)


# Bad frames on the wire ---------------------------------------------------------------------------

@cocotb.test()
async def drops_wrong_fcs(dut):
    """One flipped bit anywhere, FCS included; good frames before and after are delivered."""
    mac = await Mac.start(dut)
    good = []
    for n in range(30):
        frame = plain(random.choice((MIN, 61, 62, 63, 64, 300)))
        good.append(frame)
        mac.wire.send(add_fcs(frame))
        damaged = bytearray(add_fcs(plain(random.choice((MIN, 61, 62, 63, 64, 300)))))
        bit = random.randrange(8*len(damaged)) if n % 3 else 8*len(damaged) - 1 - n
        damaged[bit // 8] ^= 1 << bit % 8
        mac.wire.send(bytes(damaged))
    await mac.expect(good)
    await mac.settle()
    counters = await mac.regs.counters()
    assert (counters["RX_GOOD_FRAMES"], counters["RX_FCS_ERRORS"]) == (30, 30)
    assert mac.events["rx_drop_error"] == 30


@cocotb.test()
async def drops_runts(dut):
    """Fragments of every length below 64 octets, each before a good frame."""
    mac = await Mac.start(dut)
    good = []
    for octets in range(1, 64):
        body = plain(64)[:max(0, octets - 4)]
        mac.wire.send(add_fcs(body)[-octets:])
        good.append(plain(random.randrange(MIN, 90)))
        mac.wire.send(add_fcs(good[-1]))
    await mac.expect(good)
    await mac.settle()
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] == 63 and counters["RX_FCS_ERRORS"] == 0
    assert counters["RX_UNDERSIZE"] == 63


@cocotb.test()
async def drops_runs_of_fragments(dut):
    """Several fragments of a few octets in a row, as on a noisy line."""
    mac = await Mac.start(dut)
    good = []
    for _ in range(40):
        for _ in range(random.randrange(1, 5)):
            mac.wire.send(random.randbytes(random.randrange(1, 12)))
        good.append(plain(MIN))
        mac.wire.send(add_fcs(good[-1]))
    await mac.expect(good)


@cocotb.test()
async def drops_oversize(dut):
    mac = await Mac.start(dut)
    for limit in (1518, 1522, 2000):
        await mac.regs.write("MAX_FRAME", limit)
        frames = [plain(length - 4) for length in (limit, limit + 1, limit - 1, limit + 500, 64)]
        before = await mac.regs.read("RX_OVERSIZE")
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await mac.expect([frame for frame in frames if len(frame) + 4 <= limit])
        await mac.settle(limit)
        assert await mac.regs.read("RX_OVERSIZE") - before == 2


# Rx ring ------------------------------------------------------------------------------------------

@cocotb.test()
async def drops_frames_without_descriptor(dut):
    """Drops are counted, whole frames are dropped, and the next frame with a descriptor is
    delivered."""
    mac = await Mac.start(dut, post=False)
    for posted, offered in ((0, 5), (3, 5), (0, 1), (1, 4), (8, 8)):
        before = await mac.regs.read("RX_DROP_RING")
        if posted:
            await mac.driver.post_buffers(posted)
        frames = [plain(random.randrange(MIN, 200)) for _ in range(offered)]
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        for frame in frames[:posted]:
            got, = await mac.driver.poll(1, repost=False)
            assert got.data == frame
        await mac.settle()
        assert await mac.regs.read("RX_DROP_RING") - before == offered - posted
    await mac.expect_nothing()


@cocotb.test()
async def buffer_too_small(dut):
    """A frame must fit with its offset; otherwise its descriptor completes with ERROR, and its
    buffer is unchanged."""
    mac = await Mac.start(dut, driver={"buffer": 128})
    lengths = [126, 127, 60, 128, 125, 1514, 126]
    frames = [plain(length) for length in lengths]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    for frame in frames:
        got, = await mac.driver.poll(1)
        fits = len(frame) + RX_OFFSET <= 128
        assert (got.error, got.data) == (not fits, frame if fits else b"")
    assert await mac.regs.read("RX_DROP_BUFFER") == 3


@cocotb.test()
@cocotb.parametrize(rx_order=[2, 6])
async def rings_wrap(dut, rx_order):
    """Buffers handed over one or many at a time, many times around the smallest ring."""
    mac = await Mac.start(dut, driver={"rx_order": rx_order}, post=False)
    for _ in range(40):
        count = random.randint(1, min(mac.driver.rx.room, 10))
        await mac.driver.post_buffers(count)
        frames = [plain(random.randrange(MIN, 150)) for _ in range(count)]
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        for frame in frames:
            got, = await mac.driver.poll(1, repost=False)
            assert got.data == frame


async def receive_with_one_refused(mac, length, at, **refusal):
    """Of three frames, the write of byte `at` in the second one's buffer fails: that frame has
    ERROR and no length, the others are good. `refusal`: further arguments of `Memory.refuse()`."""
    frames = [plain(length) for _ in range(3)]
    refused = mac.driver.rx.posted[1][0] + at
    mac.memory.refuse(writes=lambda address: address == refused, **refusal)
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await mac.settle(3*length)
    for n, frame in enumerate(frames):
        status, (address, _) = mac.driver.rx.done()
        error, told = get("STATUS", "ERROR", status), get("STATUS", "LENGTH", status)
        assert (error, told) == ((1, 0) if n == 1 else (0, length)), f"frame {n}, byte {at}"
        if not error:
            assert mac.memory.ram.read(address + RX_OFFSET, length) == frame
    mac.memory.refuse()
    await mac.driver.post_buffers()


# Transmit -----------------------------------------------------------------------------------------

async def transmit(mac, frames, checksum=None, stamps=0.3):
    """Sends (frame, offset) pairs through the ring and compares the frames on the wire.

    checksum: (START, PLACE) for each frame; by default random, for some frames only. stamps: the
    share of frames that request a stamp.
    """
    def anywhere(frame):
        beyond = min(2*len(frame), 2**PLACE_BITS)
        return random.randrange(beyond), random.randrange(beyond)

    places = [checksum or random.choice((None, anywhere(frame))) for frame, _ in frames]

    async def feed():
        for (frame, offset), place in zip(frames, places, strict=True):
            await mac.driver.send(frame, offset, place, TIMESTAMP=int(random.random() < stamps))

    feeding = cocotb.start_soon(feed())
    for (frame, offset), place in zip(frames, places, strict=True):
        got = await mac.wire.receive()
        sent = inserted(frame, *place) if place and mac.driver.inserts else frame
        assert got == padded(sent), f"{len(frame)} octets at {offset}: {len(got)} octets came"
    await feeding
    assert not any(await mac.driver.reclaim_all())
    assert not mac.driver.stamping or None not in mac.driver.stamps


async def keep_the_line_rate(mac, lengths):
    """Sends and receives frames of these lengths back to back at once, and checks them. Returns the
    octet times that they should take on the wire, from the first preamble to the last FCS.

    None requests a stamp, because few frames can wait for one at a time.
    """
    inward, outward = ([plain(length) for length in lengths] for _ in range(2))
    for frame in inward:
        mac.wire.send(add_fcs(frame))
    task = cocotb.start_soon(transmit(mac, [(frame, 2) for frame in outward], stamps=0))
    await mac.expect(inward)
    await task
    return sum(8 + length + 4 + 12 for length in lengths) - 12


@cocotb.test()
async def transmits_every_alignment(dut):
    """All eight byte offsets in a bus word, all remainders of the length, short ones padded."""
    mac = await Mac.start(dut)
    lengths = [*range(1, 20), *range(55, 70), 1513, 1514]
    frames = [(plain(max(length, 14))[:length], offset)
              for length in lengths for offset in range(8)]
    await transmit(mac, frames)
    counters = await mac.regs.counters()
    assert counters["TX_GOOD_FRAMES"] == len(frames)
    assert counters["TX_GOOD_OCTETS"] == sum(max(len(frame), MIN) + 4 for frame, _ in frames)


@cocotb.test()
@pytest.mark.slow
async def transmits_every_length(dut):
    mac = await Mac.start(dut)
    await transmit(mac, [(plain(length), random.randrange(64)) for length in range(MIN, MAX + 1)])


@cocotb.test()
async def transmits_bursts(dut):
    """Whole rings after one doorbell; the wire never waits longer than the gap."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    for _ in range(3):
        frames = [plain(random.choice((MIN, 61, 200, MAX))) for _ in range(32)]
        for frame in frames:
            mac.driver.queue(frame, random.randrange(64))
        await mac.driver.tx.doorbell()
        for frame in frames:
            assert await mac.wire.receive() == frame
        await mac.driver.reclaim_all()


@cocotb.test()
async def rejects_invalid_lengths(dut):
    """Lengths of 0 and beyond the FIFO complete with ERROR, in order; the frames between them are
    sent."""
    mac = await Mac.start(dut)
    lengths = [100, 0, 60, 4089, 5000, 61, 0xFFFF, 0, 1514]
    for length in lengths:
        await mac.driver.send(plain(max(length, 14))[:length])
    for length in lengths:
        if 0 < length <= 1514:
            assert len(await mac.wire.receive()) == length
    errors = await mac.driver.reclaim_all()
    assert errors == [not 0 < length <= 1514 for length in lengths]
    assert await mac.regs.read("TX_DROP_LENGTH") == 5
    assert await mac.regs.read("TX_GOOD_FRAMES") == 4


@cocotb.test()
async def memory_may_be_reused_at_completion(dut):
    """A frame's memory is overwritten in the clock in which its descriptor completes."""
    mac = await Mac.start(dut, slow=0.3)
    for _ in range(30):
        frame = plain(random.randrange(MIN, 700))
        mac.driver.queue(frame, random.randrange(8))
        address = mac.driver.tx.posted[-1]
        await mac.driver.tx.doorbell()
        while not mac.driver.reclaim():
            await RisingEdge(dut.sys_clk)
        mac.memory.ram.write(address, bytes(len(frame)))
        assert await mac.wire.receive() == frame


# Interrupts ---------------------------------------------------------------------------------------

class Handler:
    """The driver's handler: counts interrupts of a line, masks, polls, and re-arms later."""

    def __init__(self, mac, ring, line, poll):
        self.mac, self.ring, self.line, self.poll = mac, ring, line, poll
        self.raises = 0
        cocotb.start_soon(self._run())

    async def _run(self):
        while True:
            if not int(self.line.value):
                await RisingEdge(self.line)
            self.raises += 1
            await self.mac.clocks(random.randrange(50))
            await self.ring.disarm()
            await self.mac.clocks(2)
            assert not int(self.line.value), "DISARM did not drop the line"
            idle = 0
            while idle < 2:  # the last poll may come before, with or after a completion
                idle = 0 if await self.poll() else idle + 1
                await self.mac.clocks(random.randrange(5))
            await self.ring.rearm()


MODERATIONS = [{"FRAMES": 1}, {"PACKET_TIMER": 300}, {"ABSOLUTE_TIMER": 1000},
               {"FRAMES": 8, "ABSOLUTE_TIMER": 2000},
               {"FRAMES": 4, "PACKET_TIMER": 100, "GAP": 700}]


@cocotb.test()
@cocotb.parametrize(number=range(len(MODERATIONS)))
async def every_completion_is_reported(dut, number):
    """Only interrupts make the driver poll; at the end it has seen every frame."""
    settings = MODERATIONS[number]
    mac = await Mac.start(dut, driver={"rx_order": 5}, **{f"RX_{name}": value
        for name, value in settings.items()})
    frames, got = [plain(random.randrange(MIN, 200)) for _ in range(80)], []

    async def poll():
        frame = mac.driver.receive()
        if frame is not None:
            got.append(frame.data)
            await mac.driver.post_buffers()
        return frame

    handler = Handler(mac, mac.driver.rx, dut.irq_rx, poll)
    for frame in frames:
        mac.wire.send(add_fcs(frame))
        if random.random() < 0.3:
            await mac.settle()
    await mac.settle()
    await mac.clocks(sum(settings.values()) + 500)
    assert got == frames
    raised = await mac.regs.read("RX_INTERRUPTS")
    assert raised == handler.raises == mac.events["rx_interrupt"] > 0
    causes = [await mac.regs.read(f"RX_INTERRUPTS_{cause}")
              for cause in ("FRAMES", "PACKET", "ABSOLUTE", "REQUEST")]
    assert sum(causes) == raised


@cocotb.test()
async def interrupt_comes_after_its_completion(dut):
    """When an interrupt line rises, the status and the frame are in memory."""
    mac = await Mac.start(dut, slow=0.5, RX_FRAMES=1, TX_FRAMES=1)
    for _ in range(20):
        frame = plain(random.randrange(MIN, 400))
        mac.wire.send(add_fcs(frame))
        await with_timeout(RisingEdge(dut.irq_rx), 100, "us")
        got = mac.driver.receive()
        assert got is not None and got.data == frame
        await mac.driver.post_buffers()
        await mac.driver.rx.rearm()
        mac.driver.queue(frame)
        await mac.driver.tx.doorbell()
        await with_timeout(RisingEdge(dut.irq_tx), 100, "us")
        assert mac.driver.reclaim() == [False]
        await mac.driver.tx.rearm()
        await mac.wire.receive()


@cocotb.test()
async def one_tx_interrupt_per_n_frames(dut):
    """With only FRAMES = 16, there is one interrupt for 16 frames: tx-128 depends on this."""
    mac = await Mac.start(dut, driver={"tx_order": 6}, TX_FRAMES=16)

    async def poll():
        return mac.driver.reclaim()

    handler = Handler(mac, mac.driver.tx, dut.irq_tx, poll)
    for n in range(5*16):
        while not mac.driver.tx.room:
            await mac.clocks(10)
        mac.driver.queue(plain(MIN))
        await mac.driver.tx.doorbell()
        await mac.wire.receive()
        await mac.clocks(300)
        assert handler.raises == (n + 1) // 16
    assert await mac.regs.read("TX_INTERRUPTS_FRAMES") == 5


@cocotb.test()
async def descriptors_ask_for_interrupts(dut):
    """INTERRUPT raises at once, NO_INTERRUPT does not count."""
    mac = await Mac.start(dut, TX_FRAMES=3)
    silent, request = {"NO_INTERRUPT": 1}, {"INTERRUPT": 1}
    for flags, interrupts in (([silent]*5, 0), ([{}, {}, silent], 0), ([request], 1),
                              ([silent, {}, {}, {}], 2)):
        for flag in flags:
            await mac.driver.send(plain(MIN), **flag)
            await mac.wire.receive()
        await mac.driver.reclaim_all()
        await mac.clocks(100)
        assert await mac.regs.read("TX_INTERRUPTS") == interrupts, flags
        if int(dut.irq_tx.value):
            await mac.driver.tx.rearm()
    assert await mac.regs.read("TX_INTERRUPTS_REQUEST") == 1


EXPEDITED = 0xb8  # DSCP 46, in the octet that used to be the type of service


@cocotb.test()
async def urgent_frames_do_not_wait(dut):
    """A frame whose DSCP matches a rule is reported at once, with those before; others wait."""
    mac = await Mac.start(dut, driver={"rx_order": 6}, RX_FRAMES=32, RX_ABSOLUTE_TIMER=400_000)
    await mac.regs.write("URGENT_VALUE_0", int.from_bytes(b"\x08\x00\x45\xb8", "little"))
    await mac.regs.write("URGENT_MASK_0", int.from_bytes(b"\xff\xff\x00\xff", "little"))
    await mac.regs.write("URGENT", 0x31)  # comparison 0 is on, for octets 12 to 15
    for count in (0, 1, 7):
        for tos in [0]*count + [EXPEDITED - 4]:
            mac.wire.send(add_fcs(udp(100, tos=tos)))
        await mac.settle()
        assert not int(dut.irq_rx.value)
        mac.wire.send(add_fcs(udp(100, tos=EXPEDITED)))
        await mac.settle()
        assert int(dut.irq_rx.value)
        got = await mac.driver.poll(count + 2)
        assert [frame.urgent for frame in got] == [frame.data[15] == EXPEDITED for frame in got]
        assert got[-1].urgent
        await mac.driver.rx.rearm()
    assert await mac.regs.read("RX_INTERRUPTS") == await mac.regs.read("RX_INTERRUPTS_REQUEST") == 3
    await mac.regs.write("URGENT", 0x30)
    mac.wire.send(add_fcs(udp(100, tos=EXPEDITED)))
    await mac.settle()
    assert not int(dut.irq_rx.value)


@cocotb.test()
@cocotb.parametrize(direction=["RX", "TX"])
async def driver_is_ahead_of_the_acknowledgement(dut, direction):
    """The driver finds a status in memory before the MAC has the acknowledgement: that completion
    raises no further interrupt."""
    mac = await Mac.start(dut, RX_FRAMES=1, TX_FRAMES=1)
    ring = mac.driver.rx if direction == "RX" else mac.driver.tx
    acknowledgements = mac.memory.ram.write_if.b_channel

    async def hold_status():
        """When a status is offered to memory, further data wait for their acknowledgements."""
        mac.memory.bursts.clear()
        while not any(channel == "aw" and ring.base <= address < ring.base + 16*ring.size
                      for channel, address, _ in mac.memory.bursts):
            await RisingEdge(dut.sys_clk)
        acknowledgements.pause = True

    async def frame():
        if direction == "RX":
            data = plain(MIN)
            mac.wire.send(add_fcs(data))
            await mac.expect([data])
        else:
            await mac.driver.send(plain(MIN))
            await mac.driver.reclaim_all()

    for rounds in range(1, 4):
        holding = cocotb.start_soon(hold_status())
        await frame()
        await holding
        await ring.rearm()
        await mac.clocks(50)
        acknowledgements.pause = False
        await mac.settle()
        assert await mac.regs.read(f"{direction}_MODERATION", "UNREPORTED") == 0
        assert await mac.regs.read(f"{direction}_INTERRUPTS") == rounds - 1
        await frame()
        await mac.settle()
        assert await mac.regs.read(f"{direction}_INTERRUPTS") == rounds
        await ring.rearm()


# Everything at once -------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.4])
async def both_directions_at_once(dut, slow):
    mac = await Mac.start(dut, slow=slow, driver={"rx_order": 5, "tx_order": 5})
    inward = [plain(random.choice((MIN, 64, 128, 600))) for _ in range(50)]
    outward = [(plain(random.choice((MIN, 64, 128, 600))), random.randrange(64)) for _ in range(50)]
    for frame in inward:
        mac.wire.send(add_fcs(frame))
    sending = cocotb.start_soon(transmit(mac, outward))
    await mac.expect(inward)
    await sending


@cocotb.test()
async def starved_bus_drops_frames_whole(dut):
    """The bus stops for longer than the FIFO has room: delivered frames are intact, in order, and
    counted."""
    mac = await Mac.start(dut, driver={"rx_order": 6})
    frames = [plain(random.choice((MIN, 700, MAX))) for _ in range(60)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    octet_clocks = {"mac_mii": 8}.get(dut._name, 0.8)

    async def starve():
        while True:
            mac.memory.starve(True)
            await mac.clocks(int(octet_clocks*random.randrange(2000, 20000)))
            mac.memory.starve(False)
            await mac.clocks(int(octet_clocks*random.randrange(500, 5000)))

    starving = cocotb.start_soon(starve())
    await mac.wire.sent()
    starving.cancel()
    mac.memory.starve(False)
    await mac.settle()
    dropped = await mac.regs.read("RX_DROP_FIFO")
    got = await mac.driver.poll(60 - dropped)
    left = iter(frames)
    for frame in got:
        assert any(frame.data == other for other in left), "corrupted or reordered"
    assert 5 < dropped < 55 and mac.events["rx_drop_fifo"] == dropped
    await mac.expect_nothing()


@cocotb.test()
async def starved_bus_with_shortest_frames(dut):
    """The FIFO's frame records run out before its words: frames are dropped and counted in the same
    way."""
    mac = await Mac.start(dut, driver={"rx_order": 7}, post=False)
    await mac.driver.post_buffers(100)
    frames = [plain(MIN) for _ in range(100)]
    mac.memory.starve(True)
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await mac.settle()
    mac.memory.starve(False)
    dropped = await mac.regs.read("RX_DROP_FIFO")
    assert 30 <= dropped <= 40
    got = await mac.driver.poll(100 - dropped, repost=False)
    assert [frame.data for frame in got] == frames[:100 - dropped]


@cocotb.test()
async def starved_bus_delays_transmission(dut):
    """Frames have no gaps between words: a stalled bus only delays them."""
    mac = await Mac.start(dut, driver={"tx_order": 5})

    async def starve():
        while True:
            for stopped in (True, False):
                mac.memory.starve(stopped)
                await mac.clocks(random.randrange(1, 300))

    cocotb.start_soon(starve())
    lengths = [random.randrange(MIN, 600) for _ in range(30)]
    await transmit(mac, [(plain(length), random.randrange(8)) for length in lengths])


@cocotb.test()
async def restarts_under_traffic(dut):
    """Disabled at any moment: the MAC becomes idle, leaves memory alone, and starts again from a
    clean state."""
    mac = await Mac.start(dut, slow=0.2)
    driver = mac.driver

    async def traffic():
        while True:
            mac.wire.send(add_fcs(plain(random.randrange(MIN, 300))))
            await mac.wire.sent()

    cocotb.start_soon(traffic())
    for _ in range(12):
        for _ in range(3):
            driver.queue(plain(random.randrange(MIN, 300)))
        await driver.tx.doorbell()
        await mac.clocks(random.randrange(1500))
        await driver.stop()
        mac.memory.bursts.clear()
        await mac.clocks(800)
        assert not mac.memory.bursts, "the MAC used the bus while idle"
        assert not int(dut.irq_rx.value) and not int(dut.irq_tx.value)
        while mac.wire.waiting():
            await mac.wire.receive()
        await driver.start(RX_FRAMES=1, TX_FRAMES=1)
        frame, = await driver.poll(1)
        assert frame.data[:12] == STATION + TESTER
        sent = plain(100)
        await driver.send(sent)
        while await mac.wire.receive() != sent:
            pass  # frames that were in the FIFO when it stopped
        await driver.reclaim_all()


@cocotb.test()
async def one_direction_alone(dut):
    """Receives with transmission disabled, and sends with reception disabled."""
    mac = await Mac.start(dut, tx=False)
    frame = udp(100)
    await mac.driver.send(frame)
    mac.wire.send(add_fcs(frame))
    await mac.expect([frame])
    assert not mac.wire.waiting() and mac.driver.tx.posted
    await mac.driver.stop()
    await mac.driver.start(rx=False)
    mac.wire.send(add_fcs(frame))
    await mac.driver.send(frame)
    assert await mac.wire.receive() == frame
    await mac.settle()
    assert mac.driver.receive() is None and await mac.regs.read("RX_GOOD_FRAMES") == 1


@cocotb.test()
async def bus_errors_are_counted(dut):
    """A read error loses only that frame; a write error is counted; both directions continue."""
    mac = await Mac.start(dut)
    ram = mac.memory.ram
    read, write = ram.read_if._read, ram.write_if._write
    broken = 0

    async def refuse_read(address, length):
        if address >= broken:
            raise OSError("no such address")
        return await read(address, length)

    async def refuse_write(address, data):
        if address >= broken:
            raise OSError("no such address")
        await write(address, data)

    first, second = plain(100), plain(200)
    mac.driver.queue(first)
    broken = mac.driver.tx.posted[0] + 64
    ram.read_if._read = refuse_read
    await mac.driver.tx.doorbell()
    await mac.driver.reclaim_all()
    ram.read_if._read = read
    await mac.driver.send(second)
    assert await mac.wire.receive() == second, "the damaged frame was sent"
    assert await mac.regs.read("DMA_ERRORS") > 0

    before = await mac.regs.read("DMA_ERRORS")
    broken = mac.driver.rx.posted[0][0]  # its buffer, and all later ones
    ram.write_if._write = refuse_write
    mac.wire.send(add_fcs(first))
    while mac.driver.receive() is None:
        await RisingEdge(dut.sys_clk)
    ram.write_if._write = write
    mac.wire.send(add_fcs(second))
    await mac.expect([second])
    assert await mac.regs.read("DMA_ERRORS") > before


@cocotb.test()
async def every_frame_is_counted_once(dut):
    """Good frames and every kind of bad one, mixed: the counters' sum is right, and the events
    agree."""
    mac = await Mac.start(dut, driver={"rx_order": 3})
    kinds = {"RX_GOOD_FRAMES": lambda: add_fcs(plain(random.randrange(MIN, 300))),
             "RX_FCS_ERRORS": lambda: plain(random.randrange(64, 300)),
             "RX_UNDERSIZE": lambda: add_fcs(plain(random.randrange(14, 59))),
             "RX_OVERSIZE": lambda: add_fcs(plain(1600)),
             "RX_FILTERED": lambda: add_fcs(plain(100, TESTER))}
    sent = random.choices(list(kinds), weights=(6, 1, 1, 1, 1), k=60)
    for kind in sent:
        mac.wire.send(kinds[kind]())
    await mac.settle(1600)
    counters = await mac.regs.counters()
    for kind in kinds:
        assert counters[kind] == sent.count(kind), kind
    good = counters["RX_GOOD_FRAMES"]
    assert counters["RX_DROP_RING"] == good - 8 == mac.events["rx_drop_ring"]
    assert mac.events["rx_completed"] == 8
    assert mac.events["rx_drop_filter"] == counters["RX_FILTERED"]
    assert mac.events["rx_drop_error"] == sum(counters[name]
        for name in ("RX_FCS_ERRORS", "RX_UNDERSIZE", "RX_OVERSIZE"))
    assert len(counters) == len(STATISTICS)
