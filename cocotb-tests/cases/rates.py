# SPDX-License-Identifier: BSD-2-Clause
"""Tests of wires with more than one rate."""

import random

import cocotb

from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases import stamps
from cases.basics import MAX, MIN, keep_the_line_rate

# Mb/s, one after the other, by device.
CHANGES = {"mac_mii": (100, 10, 100),
           "mac_rgmii_rates": (1000, 100, 1000, 10, 1000, 100, 10, 100)}


@cocotb.test()
@cocotb.parametrize(link=[10, 100, 1000])
async def keeps_the_rate_of_the_line(dut, link):
    """Short and long frames with the shortest gap, in both directions at once: none is lost."""
    mac = await Mac.start(dut, link=link, driver={"rx_order": 5, "tx_order": 5})
    short = 40 if link == 1000 else 8
    octets = await keep_the_line_rate(mac, [MIN] * short + [MAX, 61, 62, 63, 64, 65])
    took = mac.wire.took
    assert octets - 20 <= took <= octets * 1.02, f"{took} octet times for {octets}"
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] == counters["TX_GOOD_FRAMES"] == short + 6


@cocotb.test()
async def follows_the_rate(dut):
    """The rate changes under load. Frames on the wire may be lost, none arrives damaged, and all
    later ones arrive."""
    before, *links = CHANGES[dut._name]
    mac = await Mac.start(dut, link=before, driver={"rx_order": 6, "tx_order": 6})
    for link in links:
        count = 8 if 10 in (before, link) else 30  # on the wire during the change, or after it
        before = link
        inward, outward = ([plain(random.randrange(MIN, 200)) for _ in range(count)]
                           for _ in range(2))
        for frame in inward:
            mac.wire.send(add_fcs(frame))
        for frame in outward:
            mac.driver.queue(frame)
        await mac.driver.tx.doorbell()
        await mac.clocks(random.randrange(count * 17, count * 50))
        mac.phy_clocks = mac.wire.change(mac.phy_clocks, link)
        await mac.wire.sent()
        await mac.driver.reclaim_all()
        await mac.clocks(mac.wire.wake + 200 * int(mac.wire.octet_ns))  # the frames in the FIFOs
        while (frame := mac.driver.receive()) is not None:
            assert frame.data in inward, "an undetected damaged frame"
        mac.wire.forget()
        await keep_the_line_rate(mac, [MIN, 100, MIN + 1])


@cocotb.test()
@cocotb.parametrize(link=[10, 100, 1000])
async def frames_are_stamped(dut, link):
    await stamps.are_stamped(dut, link)
