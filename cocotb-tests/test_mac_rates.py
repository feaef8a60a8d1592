# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on our RGMII PHY for ECP5, whose rate is that of the PHY's clock.

Some of the MAC's cases at 1000 Mb/s; cases of other rates, of changes between them, and of what
RX_CTL says beside RX_DV. Crossings and clocks are those of test_mac_rgmii.py.
"""

import random

import cocotb

from bench.frames import plain
from bench.mac import Mac
from bench.wire import PREAMBLE, add_fcs
from mac_cases import (MAX, MIN, both_directions_at_once, drops_runs_of_fragments, drops_runts,
                       drops_wrong_fcs, keep_the_line_rate, receives_lengths,
                       receives_minimum_gap_bursts, transmits_every_alignment)

__all__ = ["both_directions_at_once", "drops_runs_of_fragments", "drops_runts", "drops_wrong_fcs",
           "receives_lengths", "receives_minimum_gap_bursts", "transmits_every_alignment"]
DUT = "mac_rgmii_rates"
RATES = (10, 100, 1000)


@cocotb.test()
@cocotb.parametrize(link=RATES)
async def keeps_the_rate_of_the_line(dut, link):
    """Short and long frames with the shortest gap, both ways at once: nothing is lost."""
    mac = await Mac.start(dut, link=link, driver={"rx_order": 5, "tx_order": 5})
    short = 40 if link == 1000 else 8
    octets = await keep_the_line_rate(mac, [MIN] * short + [MAX, 61, 62, 63, 64, 65])
    took = (mac.wire.last_end - mac.wire.first_start) / 1000 / mac.wire.octet_ns
    assert octets - 20 <= took <= octets * 1.02, f"{took} octet times for {octets}"
    counters = await mac.regs.counters()
    assert counters["RX_GOOD_FRAMES"] == counters["TX_GOOD_FRAMES"] == short + 6


@cocotb.test()
async def says_that_it_has_rates(dut):
    mac = await Mac.start(dut, link=1000)
    assert await mac.regs.read("CAPABILITY", "RATES") == 1


@cocotb.test()
@cocotb.parametrize(link=RATES)
async def tells_what_the_phy_marks(dut, link):
    """RX_ER in the middle of a frame whose FCS is right."""
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
    """A PHY may take a part of it (IEEE 802.3, 22.2.3.2.2), at 100 Mb/s also half an octet."""
    mac = await Mac.start(dut, link=link)
    for octets in range(1, 8):
        frame = plain(MIN + octets)
        mac.wire.send_raw(PREAMBLE[-octets - 1:] + add_fcs(frame))
        await mac.expect([frame])
        if link < 1000:
            mac.wire.send_raw(PREAMBLE[-octets - 1:] + add_fcs(frame), skip=1)
            await mac.expect([frame])


@cocotb.test()
async def drops_half_an_octet_at_the_end(dut):
    """Dribble: the octets before it are the frame, and its FCS is right."""
    mac = await Mac.start(dut, link=100)
    for length in (MIN, MIN + 1, 200):
        frame = plain(length)
        mac.wire.send_raw(PREAMBLE + add_fcs(frame), tail=[random.randrange(16)])
        await mac.expect([frame])
        mac.wire.send(add_fcs(frame))
        await mac.expect([frame])


@cocotb.test()
async def follows_the_rate(dut):
    """It changes under load: what is on the wire may be lost, none of it arrives damaged, and from
    then on all of it arrives."""
    mac = await Mac.start(dut, link=1000, driver={"rx_order": 6, "tx_order": 6})
    for link in (100, 1000, 10, 1000, 100, 10, 100):
        inward, outward = ([plain(random.randrange(MIN, 200)) for _ in range(30)] for _ in range(2))
        for frame in inward:
            mac.wire.send(add_fcs(frame))
        for frame in outward:
            mac.driver.queue(frame)
        await mac.driver.tx.doorbell()
        await mac.clocks(random.randrange(500, 1500))
        mac.phy_clock = mac.wire.change(mac.phy_clock, link)
        await mac.wire.sent()
        await mac.driver.reclaim_all()
        await mac.clocks(mac.wire.wake)
        while (frame := mac.driver.receive()) is not None:
            assert frame.data in inward, "damaged, and nobody saw it"
        mac.wire.forget()
        await keep_the_line_rate(mac, [MIN, 100, MIN + 1])


@cocotb.test()
async def survives_a_stopped_clock(dut):
    """Between two frames and in the middle of one."""
    mac = await Mac.start(dut, link=100, driver={"tx_order": 5})
    for wait in (0, 300, 700):
        mac.wire.send(add_fcs(plain(300)))
        await mac.clocks(wait)
        mac.phy_clock.stop()
        await mac.clocks(3000)
        mac.phy_clock.start()
        await mac.wire.sent()
        await mac.clocks(mac.wire.wake)
        while mac.driver.receive() is not None:
            pass
        await keep_the_line_rate(mac, [MIN, 100, MIN + 1])
