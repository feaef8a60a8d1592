# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on LiteEth's RGMII PHY for ECP5, I/O cells included, its clocks unrelated to sys.

Every bit that crosses between the clocks is a clock late at random (`bench/ecp5_cells.v`).
"""

from unittest.mock import patch

import cocotb
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII

from bench.mac import Mac
from bench.wires.wire import RgmiiWire
from cases import any_wire, basics
from cases.basics import MAX, MIN, keep_the_line_rate
from moderato.gateware.mac import min_sys_clk_freq

DUT   = "mac_rgmii"
CASES = [any_wire, basics.starved_bus_drops_frames_whole, basics.transmits_bursts]
SLOW  = ""


@cocotb.test()
@cocotb.parametrize(slowest=[False, True])
async def keeps_the_line_rate(dut, slowest):
    """Shortest and longest frames with the shortest gap, in both directions at once: none is lost.

    `slowest`: with the slowest system clock that elaborates.
    """
    period = 2*round(5e8 / min_sys_clk_freq(LiteEthPHYRGMII), 3) if slowest else 13.334
    with patch.object(RgmiiWire, "sys_period_ns", period):
        await line_rate(dut)


async def line_rate(dut):
    mac = await Mac.start(dut, driver={"rx_order": 5, "tx_order": 5})
    lengths = [MIN] * 200 + [MAX] * 10 + [61, 62, 63, 64, 65] * 20
    octets = await keep_the_line_rate(mac, lengths)
    took = mac.wire.took
    assert octets - 20 <= took <= octets * 1.01, f"{took} octet times for {octets}"
