# SPDX-License-Identifier: BSD-2-Clause
"""Cases of wires that have more than one rate."""

import random

from bench.frames import plain
from bench.mac import Mac
from bench.wire import add_fcs
from mac_cases import MAX, MIN, keep_the_line_rate


async def keep_the_rate_of_the_line(dut, link):
    """Short and long frames with the shortest gap, both ways at once: nothing is lost."""
    mac = await Mac.start(dut, link=link, driver={"rx_order": 5, "tx_order": 5})
    short = 40 if link == 1000 else 8
    octets = await keep_the_line_rate(mac, [MIN] * short + [MAX, 61, 62, 63, 64, 65])
    took = (mac.wire.last_end - mac.wire.first_start) / 1000 / mac.wire.octet_ns
    assert octets - 20 <= took <= octets * 1.02, f"{took} octet times for {octets}"
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] == counters["TX_GOOD_FRAMES"] == short + 6


async def follow_the_rate(dut, first, *links):
    """It changes under load: what is on the wire may be lost, none of it arrives damaged, and from
    then on all of it arrives."""
    mac = await Mac.start(dut, link=first, driver={"rx_order": 6, "tx_order": 6})
    for link in links:
        inward, outward = ([plain(random.randrange(MIN, 200)) for _ in range(30)] for _ in range(2))
        for frame in inward:
            mac.wire.send(add_fcs(frame))
        for frame in outward:
            mac.driver.queue(frame)
        await mac.driver.tx.doorbell()
        await mac.clocks(random.randrange(500, 1500))
        mac.phy_clocks = mac.wire.change(mac.phy_clocks, link)
        await mac.wire.sent()
        await mac.driver.reclaim_all()
        await mac.clocks(mac.wire.wake + 200 * int(mac.wire.octet_ns))  # what was in the FIFOs
        while (frame := mac.driver.receive()) is not None:
            assert frame.data in inward, "damaged, and nobody saw it"
        mac.wire.forget()
        await keep_the_line_rate(mac, [MIN, 100, MIN + 1])
