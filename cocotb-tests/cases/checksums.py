# SPDX-License-Identifier: BSD-2-Clause
"""Checksums in hardware, in both directions, against scapy's. In every test, the driver's model
checks the sum of each received frame, and `transmit` requests checksums anywhere in a frame.
"""

import random

import cocotb
from cocotb.triggers import RisingEdge

from bench.models.driver import summed
from bench.models.frames import inserted, padded, plain, transport
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.basics import MAX, MIN, transmit


# Received frames ----------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def received_packets_are_summed(dut, slow):
    """IPv4 and IPv6, UDP and TCP, with and without VLAN tags: the sum after the IP header and that
    of the pseudo-header make an error-free packet."""
    mac = await Mac.start(dut, slow=slow, driver={"rx_order": 5})
    packets = [transport() for _ in range(80)]
    for packet in packets:
        mac.wire.send(add_fcs(padded(packet.right)))
    for packet in packets:
        got, = await mac.driver.poll(1)
        headers = got.data[14:packet.start]
        rest = summed(got.data[14:]) + (summed(headers) ^ 0xFFFF) + packet.pseudo
        assert rest % 0xFFFF == 0, "a receiver would drop this packet"


@cocotb.test()
async def sums_of_extremes(dut):
    """Carries in every addition, and in none. Only zeros have the sum 0."""
    mac = await Mac.start(dut, driver={"rx_order": 5})
    contents = [bytes(MAX - 14), b"\xff" * (MAX - 14), b"\xff" * 47, bytes(50) + b"\xff\xff\x01\x00",
                b"\xff\xff" * 30 + b"\x01\x00", b"\xfe\xff" * 300, b"\x00\x80" * 700,
                bytes(46) + b"\xff"]
    frames = [plain(14) + content for content in contents]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    sums = []
    for frame in frames:
        got, = await mac.driver.poll(1)
        assert got.data == frame
        sums.append(mac.driver.rx.checksum)
    assert sums[:5] == [0, 0xFFFF, 0xFF, 1, 1] and sums[-1] == 0xFF


@cocotb.test()
async def lost_frame_leaves_no_sum(dut):
    """Frames with a wrong FCS, for other stations, too long, or truncated do not affect the next
    sum."""
    mac = await Mac.start(dut, driver={"rx_order": 6})
    good = []
    for _ in range(40):
        lost = random.choice((add_fcs(plain(1600)), plain(random.randrange(64, 300)),
                              add_fcs(plain(100, bytes.fromhex("025473740000"))),
                              random.randbytes(random.randrange(1, 63))))
        mac.wire.send(lost)
        good.append(plain(random.randrange(MIN, 200)))
        mac.wire.send(add_fcs(good[-1]))
    await mac.expect(good)


# Sent frames --------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def packets_leave_with_their_checksums(dut, slow):
    """A packet that the stack hands over as CHECKSUM_PARTIAL leaves as scapy makes it, from any
    address."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5})
    packets = [transport() for _ in range(100)]

    async def feed():
        for packet in packets:
            await mac.driver.send(packet.partial, random.randrange(64), (packet.start, packet.place))

    cocotb.start_soon(feed())
    for packet in packets:
        assert await mac.wire.receive() == padded(packet.right)


@cocotb.test()
async def sends_checksum_0_as_ffff(dut):
    """The packet's last two octets compensate for all others."""
    mac = await Mac.start(dut)
    for offset in range(8):
        packet = transport(kind="udp")
        partial = packet.partial + bytes(len(packet.partial) % 2)
        partial += (summed(partial[packet.start:]) ^ 0xFFFF).to_bytes(2, "little")
        await mac.driver.send(partial, offset, (packet.start, packet.place))
        assert (await mac.wire.receive())[packet.place:][:2] == b"\xff\xff"


@cocotb.test()
async def checksum_start_and_place_are_arbitrary(dut):
    """START and PLACE with every remainder, at every offset in memory; frames without a checksum
    between."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    places = [(start, place, offset) for start in range(12, 21) for place in range(24, 33)
              for offset in range(8)]
    random.shuffle(places)
    frames = [(plain(random.randrange(40, 130)), offset, (start, place) if n % 5 else None)
              for n, (start, place, offset) in enumerate(places)]

    async def feed():
        for frame in frames:
            await mac.driver.send(*frame)

    cocotb.start_soon(feed())
    for frame, offset, where in frames:
        got = await mac.wire.receive()
        assert got == padded(inserted(frame, *where) if where else frame), (offset, where)


@cocotb.test()
@cocotb.parametrize(length=[14, 15, 59, 60, 61, 62, 63, 64, 200, 201])
async def ignores_checksum_place_after_end(dut, length):
    """A PLACE after the end changes neither the frame, nor its padding, nor the next one. With a
    START there, the sum is 0."""
    mac = await Mac.start(dut)
    numbers = [*range(length - 3, length + 2), 62, 1000, 4094, 4096, 16382, 16383]
    for start in numbers:
        for place in numbers:
            frame, after = plain(length), plain(MIN)
            await mac.driver.send(frame, random.randrange(8), (start, place))
            await mac.driver.send(after)
            assert await mac.wire.receive() == padded(inserted(frame, start, place)), (start, place)
            assert await mac.wire.receive() == after
    assert not any(await mac.driver.reclaim_all())


@cocotb.test()
async def the_longest_frame_has_one_place(dut):
    """The distance to the place continues after it: no second checksum is inserted."""
    mac = await Mac.start(dut)
    for place in (0, 2, 1500, 4084, 4086):
        frame = plain(4088)
        await mac.driver.send(frame, 0, (14, place))
        assert await mac.wire.receive() == inserted(frame, 14, place)


@cocotb.test()
@cocotb.parametrize(lengths=[[1]*4, [8]*4, [6, 16, 1, 17], [9, 8, 7, 33]])
async def checksums_return_without_gap(dut, lengths):
    """Frames of one word: the sum of one is folded while the next ones are added."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    answers = mac.memory.ram.read_if.r_channel
    for _ in range(20):
        frames = [plain(MIN)[-length:] for length in lengths]
        for frame in frames:
            mac.driver.queue(frame, random.randrange(8), (0, 0))
        await mac.driver.tx.doorbell()
        await mac.clocks(10)
        answers.pause = True
        await mac.clocks(40)
        answers.pause = False
        for frame in frames:
            assert await mac.wire.receive() == padded(inserted(frame, 0, 0))
        await mac.driver.reclaim_all()


@cocotb.test()
async def dropped_frame_drops_checksum(dut):
    """Some reads fail: their frames are not sent, and each following frame has its own checksum."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    for _ in range(10):
        frames = [plain(random.randrange(MIN, 300)) for _ in range(6)]
        for frame in frames:
            mac.driver.queue(frame, 2, (14, 50))
        broken = mac.driver.tx.posted[2]
        mac.memory.refuse(reads=lambda address, broken=broken: broken - 8 < address <= broken)
        await mac.driver.tx.doorbell()
        for n, frame in enumerate(frames):
            if n != 2:
                assert await mac.wire.receive() == inserted(frame, 14, 50)
        assert await mac.driver.reclaim_all() == [n == 2 for n in range(6)]
        mac.memory.refuse()


@cocotb.test()
async def restarts_with_checksums(dut):
    """A ring that stops at any moment leaves frames in the FIFO, with their sums."""
    mac = await Mac.start(dut, slow=0.2)
    driver = mac.driver
    for _ in range(12):
        frames = [plain(random.randrange(MIN, 300)) for _ in range(4)]
        for frame in frames:
            driver.queue(frame, random.randrange(8), (14, 40))
        await driver.tx.doorbell()
        await mac.clocks(random.randrange(600))
        await driver.stop()
        await mac.clocks(3000)
        sent = [inserted(frame, 14, 40) for frame in frames]
        while mac.wire.waiting():
            assert await mac.wire.receive() == sent.pop(0)
        await driver.start()


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.4])
async def both_ways_at_the_line_rate(dut, slow):
    """Shortest frames at 1000 Mb/s, each with a checksum, and the wire never waits for one."""
    mac = await Mac.start(dut, slow=slow, driver={"rx_order": 5, "tx_order": 6})
    frames = [plain(MIN) for _ in range(100)] + [plain(MAX) for _ in range(15)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    sending = cocotb.start_soon(transmit(mac, [(frame, 2) for frame in frames], (34, 50)))
    await mac.expect(frames)
    await sending
    octets = sum(8 + len(frame) + 4 + 12 for frame in frames) - 12
    assert mac.wire.took <= octets * 1.01


@cocotb.test()
async def writes_back_zero(dut):
    """Word 2 of a sent frame's descriptor is 0, also between checksum requests (the driver's model
    checks)."""
    mac = await Mac.start(dut, driver={"tx_order": 3})
    for n in range(40):
        await mac.driver.send(plain(MIN), 0, (14, 30) if n % 3 else None)
        await mac.wire.receive()
        while not mac.driver.reclaim():
            await RisingEdge(dut.sys_clk)
