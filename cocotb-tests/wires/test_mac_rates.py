# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on our RGMII PHY for ECP5, which follows the rate of the PHY's clock.

Some of the MAC's cases at 1000 Mb/s; cases of other rates, of rate changes, and of RX_CTL's second
edge. Crossings and clocks are those of test_mac_rgmii.py.
"""

import random

import cocotb

from bench.simulation import TWINS
from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import PREAMBLE, add_fcs
from cases import any_wire, rates
from cases.basics import MIN

DUT   = "mac_rgmii_rates"
CASES = [any_wire, rates.keeps_the_rate_of_the_line, rates.follows_the_rate]
SLOW  = f"{TWINS}|alignment|lengths|survives"
RATES = (10, 100, 1000)


@cocotb.test()
async def reports_rates_capability(dut):
    mac = await Mac.start(dut, link=1000)
    assert await mac.regs.read("CAPABILITY", "RATES") == 1


@cocotb.test()
@cocotb.parametrize(link=RATES)
async def reports_phy_errors(dut, link):
    """RX_ER in the middle of a frame with a correct FCS."""
    mac = await Mac.start(dut, link=link)
    for number in range(6):
        frame = plain(MIN + number)
        mac.wire.send(add_fcs(frame), error=True)
        mac.wire.send(add_fcs(frame))
        await mac.expect([frame])
    await mac.settle()
    assert (await mac.regs.counters())["RX_FCS_ERRORS"] == 6


@cocotb.test()
@cocotb.parametrize(link=(100, 1000))
async def takes_a_short_preamble(dut, link):
    """A PHY may omit a part of the preamble (IEEE 802.3, 22.2.3.2.2), at 100 Mb/s also half an
    octet."""
    mac = await Mac.start(dut, link=link)
    for octets in range(1, 8):
        frame = plain(MIN + octets)
        mac.wire.send_raw(PREAMBLE[-octets - 1:] + add_fcs(frame))
        await mac.expect([frame])
        if link < 1000:
            mac.wire.send_raw(PREAMBLE[-octets - 1:] + add_fcs(frame), skip=1)
            await mac.expect([frame])


@cocotb.test()
async def drops_trailing_half_octet(dut):
    """Dribble bits: the octets before them are the frame, and its FCS is right."""
    mac = await Mac.start(dut, link=100)
    for length in (MIN, MIN + 1, 200):
        frame = plain(length)
        mac.wire.send_raw(PREAMBLE + add_fcs(frame), tail=[random.randrange(16)])
        await mac.expect([frame])
        mac.wire.send(add_fcs(frame))
        await mac.expect([frame])
