# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on LiteEth's 1000BASE-X PCS, at the ten bits of the transceiver.

Some of the MAC's cases, and events of the link and the line.
"""

import random

import cocotb
from cocotb.triggers import RisingEdge, with_timeout

from bench.mac import Mac
from bench.models.frames import plain
from bench.wires.wire import add_fcs
from cases import basics, clocks
from cases.basics import MIN, keep_the_line_rate
from cases.clocks import rejected

DUT   = "mac_1000basex"
CASES = [basics.drops_runts, basics.receives_minimum_gap_bursts, clocks]
SLOW  = ""


async def linked(mac, us=200):
    """Waits until both ends report the link."""
    while not (mac.wire.partner.up and int(mac.dut.pads_link_up.value)):
        await with_timeout(RisingEdge(mac.dut.sys_clk), us, "us")


@cocotb.test()
async def keeps_the_line_rate(dut):
    mac = await Mac.start(dut, driver={"rx_order": 5, "tx_order": 5})
    lengths = [MIN] * 60 + [61, 62, 63, 64, 65] * 6 + [600]
    octets = await keep_the_line_rate(mac, lengths)
    took = mac.wire.took
    # A frame starts at an even position: every second one waits for an octet at most.
    assert octets - 20 <= took <= octets + len(lengths), f"{took} octet times for {octets}"


@cocotb.test()
async def drops_frames_with_line_errors(dut):
    """/V/ in a frame, and an invalid code-group."""
    mac = await Mac.start(dut)
    for number in range(6):
        frame = plain(MIN + number)
        mac.wire.send(add_fcs(frame), error=True)
        mac.wire.send(add_fcs(frame))
        await mac.expect([frame])
    await mac.settle()
    assert await rejected(mac) == 6


@cocotb.test()
async def survives_noise(dut):
    """Bits of the line flip, in frames and between them: delivered frames are right, and after the
    noise all of them arrive."""
    mac = await Mac.start(dut, driver={"rx_order": 6})

    def spoil(ten):
        return ten ^ 1 << random.randrange(10) if random.random() < 0.01 else ten

    for _ in range(4):
        frames = [plain(MIN + n) for n in range(20)]
        mac.wire.source.spoil = spoil
        for frame in frames:
            mac.wire.send(add_fcs(frame))
        await mac.wire.sent()
        mac.wire.source.spoil = lambda ten: ten
        await mac.settle()
        left = iter(frames)
        while (frame := mac.driver.receive()) is not None:
            assert any(frame.data == other for other in left), "an undetected damaged frame"
        await mac.driver.post_buffers()
        await linked(mac)
        await keep_the_line_rate(mac, [MIN, 100, MIN + 1])
    assert await rejected(mac) > 10


@cocotb.test()
async def negotiates_again(dut):
    """The partner restarts negotiation during frames: the MAC's frames wait for the link."""
    mac = await Mac.start(dut)
    for number in range(2, 5):
        outward = [plain(200 + n) for n in range(6)]
        for frame in outward:
            mac.driver.queue(frame)
        await mac.driver.tx.doorbell()
        await mac.clocks(random.randrange(300, 600))
        mac.wire.partner.restart()
        await mac.clocks(500)
        assert not int(dut.pads_link_up.value)
        await linked(mac)
        assert mac.wire.partner.negotiations == number
        await mac.driver.reclaim_all()
        for frame in outward:
            assert await mac.wire.receive() == frame
        await keep_the_line_rate(mac, [MIN, 100, MIN + 1])


@cocotb.test()
async def negotiates_when_the_line_returns(dut):
    """The receive clock stops until the PCS detects it."""
    mac = await Mac.start(dut)
    receiving, _ = mac.phy_clocks
    for _ in range(2):
        mac.wire.send(add_fcs(plain(300)))
        await mac.clocks(100)
        receiving.stop()
        await mac.clocks(15_000)
        assert not int(dut.pads_link_up.value)
        receiving.start()
        await linked(mac)
        await mac.settle(300)
        while mac.driver.receive() is not None:
            pass
        await mac.driver.post_buffers()
        await keep_the_line_rate(mac, [MIN, 100, MIN + 1])


@cocotb.test()
async def idles_positively(dut):
    """IEEE 802.3 requires a negative disparity after each /I/ (36.2.4.12). LiteEth's PCS keeps it
    positive, which partners accept that check only the code-groups (docs/limits.md)."""
    mac = await Mac.start(dut)
    await mac.driver.send(plain(MIN))
    await mac.wire.receive()
    negative, positive = mac.wire.sink.idles
    assert negative == 0 and positive > 500
