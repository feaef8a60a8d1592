# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on LiteEth's RMII PHY at 100 Mb/s, its working part at 10 Mb/s, and rate changes."""

import cocotb

from bench.mac import Mac
from bench.models.frames import plain
from bench.simulation import some
from bench.wires.wire import add_fcs
from cases import basics, clocks, rates
from cases.basics import MIN, keep_the_line_rate, transmit

DUT   = "mac_rmii"
CASES = [basics.drops_runs_of_fragments, basics.drops_runts, basics.drops_wrong_fcs, clocks,
         *some("=100$", rates.keeps_the_rate_of_the_line)]
SLOW  = ""


@cocotb.test()
async def sends_at_10(dut):
    """At 10 Mb/s it receives no frame: LiteEth's PHY appends two bits to each one (docs/limits.md).
    All of these are counted; none reaches memory."""
    mac = await Mac.start(dut, link=10)
    lengths = (MIN, MIN + 1, 200)
    for length in lengths:
        mac.wire.send(add_fcs(plain(length)))
    await transmit(mac, [(plain(length), 2) for length in lengths])
    await mac.settle(200 * 80)
    assert (await mac.regs.counters())["RX_FCS_ERRORS"] == len(lengths)
    assert mac.driver.receive() is None


@cocotb.test()
async def follows_the_rate(dut):
    """The rate changes under load: no damaged frame arrives, and back at 100 Mb/s all of them do."""
    mac = await Mac.start(dut, driver={"rx_order": 5, "tx_order": 5})
    for link in (10, 100):
        inward, outward = ([plain(MIN + 7*n) for n in range(8)] for _ in range(2))
        for frame in inward:
            mac.wire.send(add_fcs(frame))
        for frame in outward:
            mac.driver.queue(frame)
        await mac.driver.tx.doorbell()
        await mac.clocks(2500)
        mac.phy_clocks = mac.wire.change(mac.phy_clocks, link)
        await mac.driver.reclaim_all()
        await mac.settle(8 * 140 * 100 // link)
        while (frame := mac.driver.receive()) is not None:
            assert frame.data in inward, "an undetected damaged frame"
        mac.wire.forget()
        if link == 100:
            await keep_the_line_rate(mac, [MIN, 100, MIN + 1])
