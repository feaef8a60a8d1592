# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags, removed, inserted and filtered, on several devices.

The tags are scapy's. The driver's model compares each received frame's sum with its contents.
"""

import random
import struct

import cocotb
from scapy.layers.l2 import Dot1Q, Ether

from bench.models.driver import STATION
from bench.models.frames import BROADCAST, TESTER, padded, plain, tagged, transport
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.basics import MAX, MIN
from moderato.gateware.registers.table import RMON_RANGES
from cases.pausing import ASK, OBEY, QUANTUM, pause, told

STRIP, FILTER, INSERT = 1, 2, 4  # bits of VLAN
CTAG, STAG = 0x8100, 0x88A8
NEAR = 0x8101, 0x8000  # types that share one octet with a tag's
ROW = 16  # VLANs of one write


def some_tci():
    """Priority only, the last VLAN, all bits, and any."""
    return random.choice((0, 0x2000, 0x1000, 0xFFFF, 0x0FFF, 1, 0x8100, 0x0081, random.getrandbits(16)))


def stripped(frame):
    """The delivered form of a frame: without its first tag, and that tag's TCI or None."""
    if frame[12:14] != b"\x81\x00":
        return frame, None
    tag = Ether(frame)[Dot1Q]
    return frame[:12] + frame[16:], tag.prio << 13 | tag.dei << 12 | tag.vlan


async def expect(mac, frames, strip=True):
    """Expects the delivered forms of these frames, in this order, and nothing else."""
    for frame in frames:
        got, = await mac.driver.poll(1)
        data, tci = stripped(frame) if strip else (frame, None)
        assert (got.error, got.tci) == (False, tci), f"{tci} was removed, not {got.tci}"
        assert got.data == data, f"{len(got.data)} octets arrived of {len(frame)}"


# Removed ------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def removes_tags(dut, slow):
    """Packets with one tag, with two, with a service tag, none, or what resembles one; the sum is
    that of the rest."""
    mac = await Mac.start(dut, slow=slow, driver={"rx_order": 5}, VLAN=STRIP)
    frames = []
    for _ in range(120):
        frame = padded(transport().right) if random.random() < 0.7 else plain(random.randint(MIN, 90))
        for kind in random.choice(((), (CTAG,), (CTAG,), (CTAG, CTAG), (STAG,), (CTAG, STAG),
                                   (STAG, CTAG), (NEAR[0],), (NEAR[1],))):
            frame = tagged(frame, some_tci(), kind)
        frames.append(frame)
        mac.wire.send(add_fcs(frame))
    await expect(mac, frames)


@cocotb.test()
async def tags_in_a_payload_are_data(dut):
    """Only the word after the addresses can be a tag, however many later words look like one."""
    mac = await Mac.start(dut, driver={"rx_order": 5}, VLAN=STRIP)
    body = bytes(2) + struct.pack(">HH", CTAG, 5) * 40  # words of 4 octets after the header
    frames = [plain(14) + body, tagged(plain(14) + body, some_tci())] * 4
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await expect(mac, frames)


@cocotb.test()
async def keeps_tags(dut):
    """Tags stay unless STRIP is set; when it changes at any moment, each frame has one form or the
    other."""
    mac = await Mac.start(dut, driver={"rx_order": 5})
    frames = [tagged(plain(random.randint(MIN, 200)), some_tci()) for _ in range(60)]
    for frame in frames[:20]:
        mac.wire.send(add_fcs(frame))
    await expect(mac, frames[:20], strip=False)
    for frame in frames[20:]:
        mac.wire.send(add_fcs(frame))
    seen = set()
    for number, frame in enumerate(frames[20:]):
        got, = await mac.driver.poll(1)
        assert (got.data, got.tci) in (stripped(frame), (frame, None))
        seen.add(got.tci is None)
        await mac.regs.write("VLAN", STRIP if number % 4 < 2 else 0)
        await mac.clocks(random.randrange(100))
    assert len(seen) == 2


@cocotb.test()
async def every_length_with_a_tag(dut):
    """All remainders, from the shortest frame on the wire to the longest."""
    mac = await Mac.start(dut, driver={"rx_order": 5}, VLAN=STRIP)
    lengths = [*range(MIN - 4, MIN + 16), *range(250, 1500, 113), *range(MAX - 9, MAX + 1)]
    random.shuffle(lengths)
    frames = [tagged(plain(length), some_tci()) for length in lengths]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await expect(mac, frames)
    counters = await mac.regs.counters()
    octets = [len(frame) + 4 for frame in frames]
    assert counters["RX_GOOD_OCTETS"] == sum(octets)
    for first, last in RMON_RANGES:
        assert counters[f"RX_OCTETS_{first}"] == sum(
            first <= n and (not last or n <= last) for n in octets)


@cocotb.test()
async def length_limits_ignore_removed_tag(dut):
    """MAX_FRAME limits the frame without its tag; the minimum includes the tag."""
    mac = await Mac.start(dut, VLAN=STRIP)
    good = []
    for number in range(16):
        short = tagged(plain(random.randint(40, MIN - 5)), some_tci())
        long = tagged(plain(MAX + random.choice((1, 2, 3, 4, 5, 400))), some_tci())
        for frame in (short, long, plain(MAX + 1)):
            mac.wire.send(add_fcs(frame))
        good.append(tagged(plain(random.choice((MAX, MAX - 1, MIN - 4, MIN - 3))), some_tci())
                    if number % 4 else plain(random.choice((MIN, MAX))))
        mac.wire.send(add_fcs(good[-1]))
        await expect(mac, good[-1:])
    counters = await mac.regs.counters()
    assert (counters["RX_OVERSIZE"], counters["RX_UNDERSIZE"]) == (32, 16)
    await mac.regs.write("VLAN", 0)
    frame = tagged(plain(MAX), some_tci())
    mac.wire.send(add_fcs(frame))
    await mac.settle(MAX)
    assert await mac.regs.read("RX_OVERSIZE") == 33


@cocotb.test()
async def drops_frames_cut_in_tag(dut):
    """A frame ends after each octet up to and after the tag: the next frame has its own tag, or
    none."""
    mac = await Mac.start(dut, driver={"rx_order": 5}, VLAN=STRIP | FILTER)
    await write_table(mac, set(range(4096)))
    good = []
    for octets in [*range(1, 25), *range(12, 18)]:
        mac.wire.send(tagged(plain(MIN), some_tci())[:octets])
        frame = plain(random.randint(MIN, 90))
        good.append(random.choice((frame, tagged(frame, some_tci()))))
        mac.wire.send(add_fcs(good[-1]))
    await expect(mac, good)
    assert await mac.regs.read("RX_UNDERSIZE") == 30


@cocotb.test()
async def drops_frame_with_bit_error_in_tag(dut):
    """A bit error in the tag is one in the frame: its FCS is wrong."""
    mac = await Mac.start(dut, driver={"rx_order": 5}, VLAN=STRIP)
    good = []
    for bit in range(32):
        wrong = bytearray(add_fcs(tagged(plain(random.randint(MIN, 90)), some_tci())))
        wrong[12 + bit // 8] ^= 1 << bit % 8
        mac.wire.send(bytes(wrong))
        good.append(tagged(plain(MIN), some_tci()))
        mac.wire.send(add_fcs(good[-1]))
    await expect(mac, good)
    assert await mac.regs.read("RX_FCS_ERRORS") == 32


@cocotb.test()
async def lost_frames_leave_no_tag(dut):
    """Frames that do not fit their buffer, and frames dropped at the FIFO: the next frame has its
    own tag."""
    mac = await Mac.start(dut, driver={"rx_order": 6, "buffer": 128}, VLAN=STRIP)
    for length in (126, 127, 60, 500, 126, 130):
        for frame in (tagged(plain(length), some_tci()), plain(length)):
            mac.wire.send(add_fcs(frame))
            got, = await mac.driver.poll(1)
            expected = (True, b"", None) if length > 126 else (False, *stripped(frame))
            assert (got.error, got.data, got.tci) == expected
    frames = [frame if n % 3 else tagged(frame, some_tci()) for n, frame in
              enumerate(plain(MIN) for _ in range(90))]
    mac.memory.starve(True)
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await mac.settle()
    mac.memory.starve(False)
    dropped = await mac.regs.read("RX_DROP_FIFO")
    assert dropped > 10
    await expect(mac, frames[:90 - dropped])


# Filtered -----------------------------------------------------------------------------------------

async def write_table(mac, members):
    for row in range(4096 // ROW):
        bits = sum(1 << bit for bit in range(ROW) if ROW*row + bit in members)
        await mac.regs.write("VLAN_TABLE", row << 16 | bits)


@cocotb.test()
@cocotb.parametrize(strip=[0, STRIP])
async def filters_by_vlan(dut, strip):
    """The filter accepts members, and frames without a VLAN of their own, with any priority and
    destination. The table can change under traffic."""
    mac = await Mac.start(dut, driver={"rx_order": 6}, VLAN=strip | FILTER)
    members = {random.randrange(1, 4096) for _ in range(40)} | {1, 4095}
    await write_table(mac, members)
    await mac.driver.enable(ALLMULTI=1)
    foreign = other = 0
    for _ in range(6):
        frames, expected = [], []
        for _ in range(30):
            near = random.choice(list(members)) ^ 1 << random.randrange(12)
            vid = random.choice((0, random.choice(list(members)), near, random.randrange(4096)))
            destination = random.choice((STATION, BROADCAST, bytes.fromhex("01005e000001"), TESTER))
            frame = plain(random.randint(MIN, 100), destination)
            kind = random.choice((None, CTAG, CTAG, CTAG, STAG))
            frames.append(tagged(frame, random.getrandbits(4) << 12 | vid, kind) if kind else frame)
            if destination == TESTER:
                other += 1
            elif kind == CTAG and vid and vid not in members:
                foreign += 1
            else:
                expected.append(frames[-1])
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await expect(mac, expected, strip)
        await mac.settle()
        row = random.randrange(1, 4096) // ROW
        bits = random.getrandbits(ROW)
        await mac.regs.write("VLAN_TABLE", row << 16 | bits)
        members = {vid for vid in members if vid // ROW != row} | {
            ROW*row + bit for bit in range(ROW) if bits >> bit & 1}
    counters = await mac.regs.counters()
    assert (counters["RX_VLAN_FILTERED"], counters["RX_FILTERED"]) == (foreign, other)
    assert mac.events["rx_drop_filter"] == foreign + other
    assert sum(counters[f"RX_OCTETS_{first}"] for first, _ in RMON_RANGES) == 180


@cocotb.test()
async def promiscuous_passes_all(dut):
    """Promiscuous mode accepts all VLANs, as does a disabled filter."""
    mac = await Mac.start(dut, driver={"rx_order": 5}, VLAN=STRIP | FILTER)
    await write_table(mac, set())
    frames = [tagged(plain(MIN, to), tci) for to in (STATION, TESTER) for tci in (1, 77, 0xF000, 4095)]
    ours, of_none = frames[:4], frames[2:3]
    for flags, vlan, accepted in (({"PROMISCUOUS": 1}, STRIP | FILTER, frames),
                                  ({}, STRIP | FILTER, of_none),
                                  ({"ALLMULTI": 1}, STRIP | FILTER, of_none),
                                  ({}, STRIP, ours)):
        await mac.driver.enable(**flags)
        await mac.regs.write("VLAN", vlan)
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await expect(mac, accepted)
        await mac.settle()


# With other options -------------------------------------------------------------------------------

@cocotb.test()
async def compares_urgent_frames_with_tags(dut):
    """Positions of words include the tag, removed or not: one rule for a VLAN, and one for the data
    after the tag."""
    mac = await Mac.start(dut, driver={"rx_order": 5}, VLAN=STRIP)
    await mac.regs.write("URGENT_VALUE_0", int.from_bytes(b"\x81\x00\xa0\x07", "little"))
    await mac.regs.write("URGENT_MASK_0", 0xFFFFFFFF)
    await mac.regs.write("URGENT_VALUE_1", int.from_bytes(b"\x12\x34\x00\x00", "little"))
    await mac.regs.write("URGENT_MASK_1", 0xFFFF)
    await mac.regs.write("URGENT", 1 << 0 | 3 << 4 | 1 << 8 | 4 << 12)
    for strip in (STRIP, 0):
        await mac.regs.write("VLAN", strip)
        for tci, kind, urgent in ((0xA007, 0x0800, True), (0xA008, 0x0800, False),
                                  (0x0001, 0x1234, True), (None, 0x1234, False)):
            frame = plain(100)
            frame = frame[:12] + kind.to_bytes(2, "big") + frame[14:]
            frame = frame if tci is None else tagged(frame, tci)
            mac.wire.send(add_fcs(frame))
            got, = await mac.driver.poll(1)
            assert got.urgent == urgent
            assert (got.data, got.tci) == (stripped(frame) if strip else (frame, None))


@cocotb.test()
async def pause_frames_have_no_tag(dut):
    """Pause frames are obeyed and sent as without VLANs; one after a tag is an ordinary frame."""
    mac = await Mac.start(dut, driver={"rx_order": 5, "tx_order": 5}, VLAN=STRIP | FILTER | INSERT,
                          PAUSE=OBEY | ASK, PAUSE_QUANTUM=QUANTUM)
    await write_table(mac, {5})
    mac.wire.send(add_fcs(pause(0xFFFF)))
    await mac.settle()
    hidden = tagged(pause(100, STATION), 0x6005)
    mac.wire.send(add_fcs(hidden))
    await expect(mac, [hidden])
    assert await mac.regs.read("STATUS", "TX_PAUSED")
    frame = plain(100)
    await mac.driver.send(frame, 0, None, 0x1234)
    for stop, quanta in ((2**14, 0xFFFF), (0, 0)):
        await mac.regs.write("PAUSE_FIFO", stop)
        assert await told(mac) == quanta
    assert not mac.wire.waiting()
    mac.wire.send(add_fcs(pause(0)))
    assert await mac.wire.receive() == tagged(frame, 0x1234)
    counters = await mac.regs.counters()
    assert (counters["RX_PAUSE_FRAMES"], counters["RX_VLAN_FILTERED"]) == (2, 0)


@cocotb.test()
async def filters_vlans_of_further_addresses(dut):
    mac = await Mac.start(dut, driver={"rx_order": 5}, VLAN=STRIP | FILTER)
    await write_table(mac, {9})
    address = bytes.fromhex("02abcdef0123")
    low, high = struct.unpack("<IH", address)
    await mac.regs.write("UNICAST_LOW_3", low)
    await mac.regs.write("UNICAST_HIGH_3", high | 1 << 16)
    frames = [tagged(plain(MIN, to), vid) for to in (address, TESTER, STATION) for vid in (9, 10)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await expect(mac, [frames[0], frames[4]])
    await mac.settle()
    assert await mac.regs.read("RX_FILTERED") == await mac.regs.read("RX_VLAN_FILTERED") == 2


# Inserted -----------------------------------------------------------------------------------------

async def send(mac, frames):
    """Sends (frame, offset, checksum, TCI) and compares the frames on the wire."""
    async def feed():
        for frame, offset, checksum, tci, _ in frames:
            await mac.driver.send(frame, offset, checksum, tci)

    feeding = cocotb.start_soon(feed())
    for frame, offset, _, tci, right in frames:
        got = await mac.wire.receive()
        assert got == right, f"{len(frame)} octets at {offset}, {tci}: {got.hex()}"
    await feeding
    assert not any(await mac.driver.reclaim_all())


def as_sent(frame, tci):
    """The frame with its tag, padded to the minimum on the wire."""
    return padded(frame) if tci is None else tagged(frame.ljust(MIN - 4, b"\0"), tci)


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def inserts_tags(dut, slow):
    """Tags at every address in memory, with every length; some frames have none. Short frames are
    padded."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5}, VLAN=INSERT)
    lengths = [*range(1, 20), *range(50, 70), 1513, 1514]
    frames = []
    for length in lengths:
        for offset in range(8):
            frame = plain(max(length, 14))[:length]
            tci = random.choice((None, some_tci(), some_tci()))
            frames.append((frame, offset, None, tci, as_sent(frame, tci)))
    random.shuffle(frames)
    await send(mac, frames)
    counters = await mac.regs.counters()
    octets = [len(right) + 4 for *_, right in frames]
    assert counters["TX_GOOD_OCTETS"] == sum(octets)
    for first, last in RMON_RANGES:
        assert counters[f"TX_OCTETS_{first}"] == sum(
            first <= n and (not last or n <= last) for n in octets)


@cocotb.test()
async def checksum_offsets_ignore_tag(dut):
    """START and PLACE are offsets of the frame in memory; packets leave as scapy makes them with a
    tag."""
    mac = await Mac.start(dut, driver={"tx_order": 5}, VLAN=INSERT)
    frames = []
    for _ in range(120):
        packet = transport()
        tci = random.choice((None, some_tci(), some_tci()))
        frames.append((packet.partial, random.randrange(64), (packet.start, packet.place), tci,
                       as_sent(packet.right, tci)))
    await send(mac, frames)


@cocotb.test()
async def ignores_tag_requests_without_insert(dut):
    """Without INSERT, word 3 requests nothing, whatever it contains; nor does an old ERROR in it."""
    mac = await Mac.start(dut, driver={"tx_order": 2})
    for turn in range(3):
        mac.driver.tags = True
        frames = [plain(random.randint(MIN, 90)) for _ in range(12)]
        await send(mac, [(frame, 0, None, some_tci(), frame) for frame in frames])
        mac.driver.tags = False
        for _ in range(2 + turn):
            await mac.driver.send(b"")
            assert await mac.driver.reclaim_all() == [True]
        await send(mac, [(frame, 0, None, None, frame) for frame in frames])
        mac.driver.tags = True
        await mac.regs.write("VLAN", INSERT)
        await mac.driver.send(b"", tci=some_tci())
        assert await mac.driver.reclaim_all() == [True]
        await send(mac, [(frame, 0, None, None, frame) for frame in frames])
        await mac.regs.write("VLAN", 0)


@cocotb.test()
async def restarts_with_tags(dut):
    """A ring that stops at any moment leaves frames in the FIFO, with their tags."""
    mac = await Mac.start(dut, slow=0.2, VLAN=INSERT)
    driver = mac.driver
    for _ in range(12):
        frames = [(plain(random.randrange(MIN, 300)), some_tci() if random.random() < 0.7 else None)
                  for _ in range(4)]
        for frame, tci in frames:
            driver.queue(frame, random.randrange(8), None, tci)
        await driver.tx.doorbell()
        await mac.clocks(random.randrange(600))
        await driver.stop()
        await mac.clocks(3000)
        sent = [as_sent(*frame) for frame in frames]
        while mac.wire.waiting():
            assert await mac.wire.receive() == sent.pop(0)
        await driver.start(VLAN=INSERT)


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.4])
async def tags_at_the_line_rate(dut, slow):
    """Shortest and longest frames in both directions, each with a tag: none is lost, and the wire
    does not wait."""
    mac = await Mac.start(dut, slow=slow, driver={"rx_order": 5, "tx_order": 6},
                          VLAN=STRIP | FILTER | INSERT)
    await write_table(mac, set(range(4096)))
    lengths = [MIN - 4] * 100 + [MAX] * 12
    inward = [tagged(plain(length), some_tci()) for length in lengths]
    outward = [(frame, 2, None, tci := some_tci(), as_sent(frame, tci))
               for frame in map(plain, lengths)]
    for frame in inward:
        mac.wire.send(add_fcs(frame))
    sending = cocotb.start_soon(send(mac, outward))
    await expect(mac, inward)
    await sending
    octets = sum(8 + length + 8 + 12 for length in lengths) - 12
    assert mac.wire.took <= octets * 1.01
