# SPDX-License-Identifier: BSD-2-Clause
"""TCP segments cut by the MAC, compared with scapy's, with any headers and any pieces."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.triggers import RisingEdge
from scapy.layers.inet import IP, TCP, IPOption_NOP, in4_pseudoheader
from scapy.layers.inet6 import IPv6, in6_pseudoheader
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from bench.models.driver import summed
from bench.models.frames import padded, plain
from bench.mac import Mac
from cases.basics import MIN
from cases.pieces import LIMIT, cut, post

ONCE_FIRST, ONCE_LAST = 0x80, 0x09  # CWR; FIN and PSH


@dataclass
class Packet:
    """`headers` as the stack hands them over, with `payload`; `cut` frames must leave, padded
    (`right`)."""
    headers: bytes
    payload: bytes
    network: int
    start:   int
    mss:     int
    cut:     list

    @property
    def right(self):
        return [padded(segment) for segment in self.cut]

    @property
    def segments(self):
        return self.start, len(self.payload), self.mss


def packet(octets, mss, version=None, usual=False):
    """Any headers: each segment has those of RFC 9293, 791, 8200. `usual`: like Linux' TCP, with
    only a time stamp option."""
    version = version or random.choice((4, 6))
    flags = random.getrandbits(8)
    sequence = random.choice((random.getrandbits(32), 2**32 - random.randrange(1, 5000)))
    number = random.choice((random.getrandbits(16), 0xFFFF))
    options = [("Timestamp", (random.getrandbits(32), 5))] * (1 if usual else random.randrange(4))
    ip_options = [IPOption_NOP()] * 4*(0 if usual else random.randrange(10))
    tags = [random.randrange(4096) for _ in range(0 if usual else random.choice((0, 0, 1, 2)))]
    payload = random.randbytes(octets)
    address = random.getrandbits(16)

    def made(part, first, last, at, n):
        shown = flags & ~(0 if first else ONCE_FIRST) & ~(0 if last else ONCE_LAST)
        tcp = TCP(sport=9, dport=7, seq=(sequence + at) % 2**32, flags=shown, options=options,
                  window=address)
        if version == 4:
            network = IP(src="198.18.0.2", dst=f"198.19.{address >> 8}.2", id=(number + n) % 2**16,
                         ttl=address & 0xFF, options=ip_options)
        else:
            network = IPv6(src="2001:2::2", dst=f"2001:2:0:1::{address:x}", tc=address & 0xFF)
        head = Ether(dst="02:54:73:74:00:00", src="02:4d:6f:64:00:00")
        for tag in tags:
            head /= Dot1Q(vlan=tag)
        return head, network, tcp / Raw(part)

    parts = [payload[at:at + mss] for at in range(0, octets, mss)]
    segments = [bytes(head / network / tcp) for head, network, tcp in (
        made(part, n == 0, n == len(parts) - 1, n*mss, n) for n, part in enumerate(parts))]
    head, network, tcp = made(b"", True, True, 0, 0)
    if version == 4:
        pseudo = in4_pseudoheader(6, network, 0)
    else:
        pseudo = bytes(in6_pseudoheader(6, network, 0))
    headers = bytearray(bytes(head / network / tcp))
    start = len(headers) - len(tcp)
    at = len(head)
    headers[start + 16:start + 18] = summed(pseudo).to_bytes(2, "little")
    # The MAC must not depend on these.
    if version == 4:
        headers[at + 2:at + 4] = headers[at + 10:at + 12] = random.randbytes(2)
    else:
        headers[at + 4:at + 6] = random.randbytes(2)
    return Packet(bytes(headers), payload, at, start, mss, segments)


def hand_over(mac, p, most=6, stamp=False, **change):
    """Posts a packet: its headers, then its payload in any pieces."""
    flags = {"SEGMENT": 1, "NETWORK": p.network // 2, "MORE": 1} | change
    pieces = cut(p.payload, most)
    segments = flags.pop("segments", p.segments)
    mac.driver.queue(p.headers, random.randrange(64), segments=segments, **flags)
    mac.driver.queue_pieces(pieces, TIMESTAMP=int(stamp))
    return 1 + len(pieces)


async def room(mac, count):
    await mac.driver.tx.doorbell()
    while mac.driver.tx.room < count:
        mac.driver.reclaim()
        await RisingEdge(mac.dut.sys_clk)


# Valid packets ------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def segments_match_scapy(dut, slow):
    """IPv4 and IPv6, options, VLAN tags, flags, numbers that wrap; other frames between."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5})
    assert await mac.regs.read("FEATURES", "SEGMENT") == 1
    sent = []

    async def feed():
        for _ in range(50):
            mss = random.choice((1, random.randrange(2, 100), 536, 1448))
            octets = random.choice((1, mss, mss + 1, 2*mss, random.randrange(1, 5*mss + 2)))
            p = packet(octets, mss)
            sent.extend(p.right)
            await room(mac, 8)
            hand_over(mac, p)
            if random.random() < 0.3:
                frame = plain(random.randrange(MIN, 300))
                sent.append(frame)
                await post(mac, cut(frame, 3))
            if random.random() < 0.7:
                await mac.driver.tx.doorbell()
        await mac.driver.tx.doorbell()

    feeding = cocotb.start_soon(feed())
    count = 0
    while sent or not feeding.done():
        if not sent:
            await RisingEdge(dut.sys_clk)
            continue
        right = sent.pop(0)
        assert await mac.wire.receive() == right, count
        count += 1
    await feeding
    assert not any(await mac.driver.reclaim_all())
    await mac.settle()
    assert not mac.wire.waiting()


@cocotb.test()
@cocotb.parametrize(version=[4, 6], mss=[1428, 536, 88], pieces=[1, 17])
async def segments_packet_at_line_rate(dut, version, mss, pieces):
    """64 KiB at 1000 Mb/s: the wire does not wait between segments."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    p = packet(0xFFFF if mss > 88 else 8000, mss, version)
    hand_over(mac, p, pieces)
    await mac.driver.tx.doorbell()
    for n, right in enumerate(p.right):
        got = await mac.wire.receive()
        assert got == right, n
    assert not any(await mac.driver.reclaim_all())
    octets = sum(8 + len(frame) + 4 + 12 for frame in p.right) - 12
    assert mac.wire.took <= octets * 1.01


@cocotb.test()
async def pieces_end_where_segments_do(dut):
    """Pieces end one octet before, at, and one octet after the ends of segments. A piece may have
    many segments, and a segment many pieces."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    for mss in (16, 17, 100):
        for ends in ((mss,), (mss - 1, mss + 1), (mss, 2*mss), (1, mss + 1, 2*mss + 1), (3*mss,)):
            p = packet(4*mss, mss)
            edges = [0, *ends, 4*mss]
            await room(mac, 8)
            mac.driver.queue(p.headers, 6, segments=p.segments, SEGMENT=1,
                             NETWORK=p.network // 2, MORE=1)
            mac.driver.queue_pieces([(p.payload[a:b], random.randrange(8))
                                     for a, b in zip(edges, edges[1:])])
            await mac.driver.tx.doorbell()
            for right in p.right:
                assert await mac.wire.receive() == right, ends
    assert not any(await mac.driver.reclaim_all())


@cocotb.test()
async def the_longest_headers_and_segments(dut):
    """Headers of 256 octets, as in tunnels; a segment that fills the FIFO."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    p = packet(9000, 1000)
    outer = random.randbytes(256 - len(p.headers))
    p.headers, p.network, p.start = outer + p.headers, p.network + len(outer), p.start + len(outer)
    hand_over(mac, p)
    await mac.driver.tx.doorbell()
    for right in p.right:
        assert (await mac.wire.receive())[len(outer):] == right[:len(right)], "the inner packet"
    p = packet(9000, 1000)
    mss = LIMIT - len(p.headers)
    p = packet(2*mss + 1, mss)
    await room(mac, 8)
    fits = len(p.headers) + mss <= LIMIT
    posted = hand_over(mac, p)
    await mac.driver.tx.doorbell()
    if fits:
        for right in p.right:
            assert await mac.wire.receive() == right
    assert (await mac.driver.reclaim_all())[-posted:] == [not fits]*posted


# Errors -------------------------------------------------------------------------------------------

@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.4])
async def aborts_bad_packets(dut, slow):
    """Invalid headers, a payload unlike the announced one, bus errors: ERROR from that piece on.
    Earlier segments may have left, and no other frame is affected."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5})
    driver, refused = mac.driver, set()
    mac.memory.refuse(reads=lambda address: address in refused)
    for _ in range(120):
        await room(mac, 20)
        await driver.reclaim_all()
        mss = random.choice((1, 40, 500))
        p = packet(random.randrange(1, 4*mss + 2), mss)
        octets, head = len(p.payload), len(p.headers)
        change = random.choice((
            {}, {"segments": (p.start, octets, 0)}, {"segments": (p.start, 0, mss)},
            {"segments": (head - 18, octets, mss)}, {"segments": (p.start, octets, LIMIT - head + 1)},
            {"NETWORK": p.start // 2 - 9}, {"NETWORK": 127}, {"odd": True}, {"long": True},
            {"segments": (p.start, octets + 1, mss)}, {"segments": (p.start, octets + mss, mss)},
            {"segments": (p.start, max(1, octets - 1), mss)}, {"refused": True}, {"empty": True},
            {"alone": True}))
        kind = dict(change)
        if kind.pop("odd", False):
            p.headers += b"\0"
        if kind.pop("long", False):
            p.headers += bytes(258 - head)
        at_header = change and not {"refused", "empty"} & set(change) and not (
            "segments" in change and change["segments"][1] and change["segments"][2] == mss
            and change["segments"][0] == p.start)
        refuse, empty = kind.pop("refused", False), kind.pop("empty", False)
        alone = kind.pop("alone", False)
        first = len(driver.tx.posted)
        if empty:
            driver.queue(p.headers, 3, segments=p.segments, SEGMENT=1, NETWORK=p.network // 2, MORE=1)
            pieces = cut(p.payload, 6)
            where = random.randrange(len(pieces) + 1)
            pieces.insert(where, (b"", 0))
            driver.queue_pieces(pieces)
            posted = 1 + len(pieces)
        elif alone:
            driver.queue(p.headers, 3, segments=p.segments, SEGMENT=1, NETWORK=p.network // 2)
            posted, where = 1, 0
        else:
            posted = hand_over(mac, p, **kind)
            where = random.randrange(posted)
        if refuse:
            refused.add(driver.tx.posted[first + where] & ~7)
        after = plain(random.randrange(MIN, 200))
        await post(mac, cut(after, 3))
        await driver.tx.doorbell()
        errors = (await driver.reclaim_all())[:posted]
        told = change.get("segments", p.segments)[1]
        wrong = bool(change) and (at_header or refuse or empty or told != octets)
        assert errors[-1] == wrong and errors == sorted(errors), (change, errors)
        assert not at_header or all(errors)
        assert not refuse or errors == [n >= where for n in range(posted)]
        assert not empty or errors == [n > where for n in range(posted)]
        # Whole segments up to there, with the contents that they have without the error.
        got = []
        while (frame := await mac.wire.receive()) != padded(after):
            got.append(frame)
        if not wrong:
            assert got == p.right
        elif at_header:
            assert got == []
        elif told == octets:
            behind = empty and where == len(pieces) - 1
            assert got == p.right[:len(got)] and (len(got) < len(p.right)) != behind
        else:
            # With surplus payload, the last segment of the announced payload may be short.
            assert len(got) in (min(told, octets) // mss, -(-told // mss) if told < octets else None)
        refused.clear()
    await mac.settle()
    assert not mac.wire.waiting()


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.3])
async def stops_within_packet(dut, slow):
    """Stops at any moment: the ring becomes idle, and a prefix of the packet leaves, segment by
    segment."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5})
    driver = mac.driver
    for n in range(16):
        p = packet(random.randrange(3000, 12000), random.choice((100, 1000)))
        hand_over(mac, p)
        await driver.tx.doorbell()
        await mac.clocks(random.randrange(200 if n % 2 else 6000))
        await driver.stop()
        await driver.start()
        last = plain(100)
        await driver.send(last)
        for right in [*p.right, None]:
            got = await mac.wire.receive()
            if got == last:
                break
            assert got == right
        assert not any(await driver.reclaim_all())


@cocotb.test()
async def stops_while_headers_wait(dut):
    """The headers wait for a FIFO that a slow wire keeps full: the next packet is still cut."""
    mac = await Mac.start(dut, link=100, driver={"tx_order": 5})
    driver = mac.driver
    for _ in range(3):
        p, following = packet(3000, 8), packet(150, 100)
        hand_over(mac, p)
        await driver.tx.doorbell()
        await mac.clocks(random.randrange(5000, 8000))
        await driver.stop()
        await driver.start()
        hand_over(mac, following)
        await driver.tx.doorbell()
        for right in p.right:
            got = await mac.wire.receive()
            if got == following.right[0]:
                break
            assert got == right
        assert await mac.wire.receive() == following.right[1]
        assert not any(await driver.reclaim_all())


@cocotb.test()
async def segment_flag_only_in_first_descriptor(dut):
    """SEGMENT within a frame has no effect."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    for _ in range(20):
        frame = plain(random.randrange(MIN, 300))
        pieces = cut(frame, 5)
        for n, (octets, offset) in enumerate(pieces):
            mac.driver.queue(octets, offset, MORE=n + 1 < len(pieces), SEGMENT=n > 0)
        await mac.driver.tx.doorbell()
        assert await mac.wire.receive() == frame
        await mac.driver.reclaim_all()
