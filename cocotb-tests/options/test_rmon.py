# SPDX-License-Identifier: BSD-2-Clause
"""RMON's counters against plain sums over the frames of both directions."""

import random
from collections import Counter

import cocotb

from bench.models.driver import STATION
from bench.models.frames import BROADCAST, TESTER, plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from moderato.gateware.registers.table import RMON_RANGES
from cases.pausing import OBEY, pause

DUT = "mac_sim"
GROUPS = [bytes.fromhex("01005e000001"), bytes.fromhex("ffffffff00ff"),
          bytes.fromhex("fffffffffeff"), bytes.fromhex("ffffff00ffff")]
DESTINATIONS = [STATION, BROADCAST, *GROUPS]
EDGES = sorted({octets for first, last in RMON_RANGES for octets in (first, first + 1, last - 1, last)
                if octets >= 64})


def by_length(direction, octets):
    """The number of frames in each counter of lengths; `octets` with FCS."""
    return {f"{direction}_OCTETS_{first}": sum(first <= n and (not last or n <= last) for n in octets)
            for first, last in RMON_RANGES}


def kind(destination):
    """RFC 2819's name for a kind of destination; None for a station."""
    return ("BROADCAST" if destination == BROADCAST else
            "MULTICAST" if destination[0] & 1 else "UNICAST")


def by_destination(direction, destinations):
    found = Counter(map(kind, destinations))
    return {f"{direction}_{name}": found[name] for name in ("MULTICAST", "BROADCAST")}


async def check(mac, expected):
    counters = await mac.regs.counters()
    wrong = {name: (counters[name], count) for name, count in expected.items()
             if counters[name] != count}
    assert not wrong, wrong


@cocotb.test()
async def counts_what_is_received(dut):
    """Good frames, and those with a wrong FCS or for other stations: counted by length in any case."""
    mac = await Mac.start(dut, MAX_FRAME=2000, PAUSE=OBEY)
    await mac.driver.enable(ALLMULTI=1)
    frames = [plain(octets - 4, random.choice(DESTINATIONS)) for octets in
              [*EDGES, *random.choices(EDGES, k=20), 1520, 2000]]
    good = [frame[:6] for frame in frames]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
    await mac.expect(frames)
    others = [add_fcs(plain(octets - 4, TESTER)) for octets in EDGES]
    wrong = [bytes(octets) for octets in (*EDGES, 2000)]
    control = [add_fcs(pause(0)), add_fcs(pause(0)[:14] + bytes(46))]
    lost = [add_fcs(plain(1000, BROADCAST)) for _ in range(12)]
    for octets in [*others, *wrong, *control]:
        mac.wire.send(octets)
    mac.wire.send(bytes(63))
    mac.wire.send(bytes(7))
    mac.wire.send(add_fcs(plain(59)))
    mac.wire.send(bytes(2001))
    mac.wire.send(add_fcs(plain(1997)))
    mac.wire.send(add_fcs(plain(2500)))
    await mac.settle(2500)
    mac.memory.starve(True)
    for octets in lost:
        mac.wire.send(octets)
    await mac.settle(1000)
    mac.memory.starve(False)
    await mac.settle(1000)
    dropped = await mac.regs.read("RX_DROP_FIFO")
    assert 0 < dropped < len(lost)
    received = [len(frame) + 4 for frame in frames]
    received += [len(octets) for octets in (*others, *wrong, *control, *lost)]
    expected = by_length("RX", received) | by_length("TX", []) | by_destination("TX", []) | \
        by_destination("RX", good + [BROADCAST] * (len(lost) - dropped)) | {
            "RX_UNDERSIZE": 3, "RX_FRAGMENTS": 2, "RX_OVERSIZE": 3, "RX_JABBERS": 1,
            "RX_FCS_ERRORS": len(wrong), "RX_FILTERED": len(others), "RX_PAUSE_FRAMES": 1,
            "RX_CONTROL_UNKNOWN": 1}
    await check(mac, expected)


@cocotb.test()
async def counts_what_is_sent(dut):
    """With padding and FCS, from any byte of memory."""
    mac = await Mac.start(dut, driver={"tx_order": 6})
    lengths = [14, 20, 59, *[octets - 4 for octets in EDGES], 1516, 1999,
               *random.choices(EDGES, k=20)]
    frames = [plain(length, random.choice(DESTINATIONS)) for length in lengths]
    for frame in frames:
        mac.driver.queue(frame, random.randrange(8))
    await mac.driver.tx.doorbell()
    for frame in frames:
        assert await mac.wire.receive() == frame.ljust(60, b"\0")
    await mac.clocks(200)
    await check(mac, by_length("TX", [max(len(frame) + 4, 64) for frame in frames]) |
                by_destination("TX", [frame[:6] for frame in frames]) | by_length("RX", []))
