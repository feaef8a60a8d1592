# SPDX-License-Identifier: BSD-2-Clause
"""A PHY's clocks stop in the middle of frames, and return."""

import cocotb
from cocotb.triggers import Timer

from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.basics import keep_the_line_rate

LENGTH = 300
STANDS = 3000  # system clocks
REJECTED = ("RX_FCS_ERRORS", "RX_UNDERSIZE", "RX_OVERSIZE")


def stops(clocks, lines):
    """Combinations of stopped clocks and the line's state: it stops as well, or has continued."""
    if len(clocks) == 1:
        return [(clocks, line) for line in lines]
    receiving, sending = clocks
    return [([sending], "stands"), *(([receiving], line) for line in lines), (clocks, "is cut")]


@cocotb.test()
@cocotb.parametrize(disabled=[False, True])
async def survives_stopped_clocks(dut, disabled):
    """Frames that are on the wire when a clock stops may be lost, and are counted. All others
    arrive undamaged.

    `disabled`: the MAC is disabled while the clocks are stopped, and becomes idle.
    """
    mac = await Mac.start(dut, driver={"rx_order": 5, "tx_order": 5})
    sent = []
    for clocks, line in stops(mac.phy_clocks, mac.wire.lines):
        received = [plain(LENGTH + n) for n in range(4)]
        for frame in received:
            mac.wire.send(add_fcs(frame))
        # More than the MAC's FIFO holds, so that its DMA stalls, too.
        outward = [plain(LENGTH + n) for n in range(20 if disabled else 4)]
        for n, frame in enumerate(outward):
            mac.driver.queue(frame, TIMESTAMP=n % 2)
        sent += outward
        before = await rejected(mac)
        await mac.driver.tx.doorbell()
        await Timer(int(1.3 * (LENGTH + 24) * mac.wire.octet_ns), "ns")  # in the second frame
        for clock in clocks:
            clock.stop()
        await mac.clocks(STANDS)
        if line != "stands":
            mac.wire.cut(joined=line == "is joined")
        if disabled:
            mac.driver.reclaim()
            assert mac.driver.tx.posted or mac.phy_clocks[-1] not in clocks
            await mac.driver.stop()
        for clock in clocks:
            clock.start()
        await mac.settle(4 * LENGTH)
        in_fifo = 450 * int(mac.wire.octet_ns) if disabled else 0  # clocks
        await mac.clocks(mac.wire.wake + in_fifo)
        got = drained(mac, received)
        if not (disabled or mac.wire.finds_rate):
            lost = {"stands": 0, "is cut": 1, "is joined": 2}[line]
            assert got == len(received) - lost
            assert await rejected(mac) - before == min(lost, 1), line
        if not disabled:
            await mac.driver.post_buffers()
            assert not any(await mac.driver.reclaim_all())
        if mac.wire.finds_rate:
            mac.wire.forget()
            sent.clear()
        while mac.wire.waiting():
            frame = await mac.wire.receive()
            assert frame in sent, "damaged, and its FCS is right"
            sent = sent[sent.index(frame) + 1:]
        assert disabled or not sent
        if disabled:
            await mac.driver.start()
        mac.wire.forget()
        await keep_the_line_rate(mac, [60, 100, 61])


async def rejected(mac):
    counters = await mac.regs.counters()
    return sum(counters[name] for name in REJECTED)


def drained(mac, frames):
    """Returns how many of them arrived, in order, and nothing else."""
    left, got = iter(frames), 0
    while (frame := mac.driver.receive()) is not None:
        assert any(frame.data == other for other in left), "damaged or reordered"
        got += 1
    return got
