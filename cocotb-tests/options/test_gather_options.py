# SPDX-License-Identifier: BSD-2-Clause
"""Frames in pieces, and segments, with VLAN tags and time stamps: all that a frame in one piece can
have. Some requests belong to its first piece, some to its last one, and some to each segment.
"""

import random

import cocotb

from bench.simulation import TWINS
from bench.models.frames import inserted, padded, plain, tagged
from bench.mac import Mac
from cases.basics import MIN
from cases import stamps, tags
from cases.pieces import cut
from cases.segments import hand_over, packet, room
from cases.stamps import start_clock
from cases.tags import INSERT, some_tci

DUT   = "mac_gather"
CASES = [
    stamps.stopping_ring_does_not_wait_for_stamp,
    stamps.frames_are_stamped,
    stamps.keeps_the_line_rate_with_stamps,
    stamps.unsent_frames_have_no_stamp,
    tags.ignores_tag_requests_without_insert,
    tags.checksum_offsets_ignore_tag,
    tags.inserts_tags,
    tags.restarts_with_tags,
    tags.tags_at_the_line_rate,
]
SLOW  = f"{TWINS}|checksum_offsets|inserts|line_rate|restarts"


def stamps_of(mac):
    """The stamps of completed frames, not compared yet."""
    stamps, mac.driver.stamps = mac.driver.stamps, []
    return stamps


async def started(mac, zero):
    """A frame from the wire, and the lower word of its start time."""
    frame = await mac.wire.receive()
    return frame, round(mac.wire.started + zero) % 2**32


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def pieces_with_tags_and_stamps(dut, slow):
    """The first piece requests the tag, and the last one the stamp; requests of other pieces have
    no effect."""
    mac = await Mac.start(dut, slow=slow, driver={"tx_order": 5}, VLAN=INSERT)
    zero = await start_clock(mac, 0)
    due, asked = [], []

    async def feed():
        for _ in range(100):
            frame, tci = plain(random.randrange(MIN, 300)), random.choice((None, some_tci()))
            checksum = random.choice((None, (14, 40)))
            stamp = random.random() < 0.5
            sent = inserted(frame, *checksum) if checksum else frame
            due.append((sent if tci is None else tagged(sent, tci), stamp))
            *pieces, last = cut(frame, 5)
            if mac.driver.tx.room < 6:
                await room(mac, 6)
            mac.driver.queue_pieces(pieces, checksum, tci, more=True, TIMESTAMP=random.getrandbits(1))
            # A tag request of a later piece has no effect, either.
            mac.driver.queue(*last, *((None, some_tci()) if pieces else (checksum, tci)),
                             TIMESTAMP=int(stamp))
            if random.random() < 0.7:
                await mac.driver.tx.doorbell()
        await mac.driver.tx.doorbell()

    feeding = cocotb.start_soon(feed())
    for _ in range(100):
        frame, start = await started(mac, zero)
        right, stamp = due.pop(0)
        assert frame == right
        if stamp:
            asked.append(start)
    await feeding
    assert not any(await mac.driver.reclaim_all())
    assert stamps_of(mac) == asked


@cocotb.test()
async def segments_with_tags_and_a_stamp(dut):
    """Each segment has the tag of the headers' piece; the stamp is that of the last one. An aborted
    packet has no stamp, and the ring does not wait for one."""
    mac = await Mac.start(dut, driver={"tx_order": 5}, VLAN=INSERT)
    zero = await start_clock(mac, 0)
    for _ in range(40):
        mss = random.choice((9, 100, 536))
        p, tci = packet(random.randrange(1, 5*mss), mss), random.choice((None, some_tci()))
        stamp, wrong = random.random() < 0.6, random.random() < 0.3
        start, octets, _ = p.segments
        change = {"segments": (start, octets + 1, mss)} if wrong else {}
        await room(mac, 8)
        hand_over(mac, p, stamp=stamp, tci=tci, **change)
        await mac.driver.tx.doorbell()
        # With one octet more announced than there is, the segment that lacks it is aborted.
        last = None
        for segment in p.cut[:octets // mss] if wrong else p.cut:
            frame, last = await started(mac, zero)
            assert frame == padded(segment if tci is None else tagged(segment, tci)) or wrong
        assert (await mac.driver.reclaim_all())[-1] == wrong
        assert stamps_of(mac) == ([last] if stamp and not wrong else [])
