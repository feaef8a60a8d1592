# SPDX-License-Identifier: BSD-2-Clause
"""Flows to a wire that is slower than their source. With pause, no frame is lost. Driver and flows
take turns frame by frame, and software's frames do not wait for flows."""

import random

import cocotb
from cocotb.triggers import ClockCycles
from cocotb.utils import get_sim_time

from bench.models.frames import plain
from bench.wires.wire import add_fcs
from cases.flows import TCP, Flow, Router, ends, packet, padded, same
from cases.pausing import ASK, OBEY, pause


LENGTHS = [60, 600, 1514]


class Partner:
    """The other end of a wire: sends `frames` back to back, and obeys pauses at frame boundaries.
    `asked` counts pause frames."""

    def __init__(self, side, frames):
        self.side, self.asked, self.until = side, 0, 0
        self.done = cocotb.start_soon(self._send(frames))

    def look(self):
        while self.side.wire.frames:
            frame, _ = self.side.wire.frames.popleft()
            if frame[:6] + frame[12:16] == bytes.fromhex("0180c200000188080001"):
                self.asked += 1
                quanta = int.from_bytes(frame[16:18], "big")
                self.until = get_sim_time("ns") + quanta * 512*1000 / self.side.wire.link

    async def _send(self, frames):
        for frame in frames:
            self.look()
            while get_sim_time("ns") < self.until:
                await ClockCycles(self.side.end.sys_clk, 20)
                self.look()
            self.side.wire.send(add_fcs(padded(frame)))
            await self.side.wire.sent()


async def started(dut, links, jumbo=False, **settings):
    """A Router whose wires have these rates, with a flow from the first wire to the second."""
    if jumbo:
        settings["MAX_FRAME"] = jumbo + 4
    router = await Router.start(dut, ring=6, mtu=jumbo - 14 if jumbo else 1500, **settings)
    for side, link in zip(router.sides, links):
        side.wire.link = side.end.pads_link_mbps.value = link
        side.wire.octet_ns = 8000/link
    flow = Flow(TCP, ends(), random.randbytes(12), new=ends() if router.nat else None)
    await router.sides[0].add(flow)
    return router, flow


async def busy(side, count, length):
    """Hands this number of frames to the driver of this side."""
    frames = [plain(length) for _ in range(count)]
    for frame in frames:
        side.driver.queue(frame, random.randrange(8))
    await side.driver.tx.doorbell()
    return frames


async def pause_loses_nothing(dut, links, lengths, octets, beside=0, halted=False):
    """Forwards frames of these `lengths`, `octets` in total. The driver of the receiving side sends
    long frames, for which a pause frame waits. The other wire also carries `beside` frames of the
    driver."""
    longest = max(lengths)
    router, flow = await started(dut, links, longest if longest > 1514 else False, PAUSE=OBEY | ASK,
                                 post=not halted)
    one, other = router.sides
    for side, link in zip(router.sides, links):
        await side.regs.write("PAUSE_QUANTUM", -(-512*100 // link))
        await side.regs.write("PAUSE_QUANTA", 0xFFFF)
    if halted:  # With few descriptors, it would also request pauses forever.
        await one.driver.post_buffers(2)
        await one.regs.write("PAUSE_RING", 40 << 16 | 20)
        one.driver.memory.refuse(writes=lambda address: True)
        one.wire.send(add_fcs(plain(60)))
        await ClockCycles(dut.sys_clk, 3000)
        assert await one.regs.read("STATUS", "RX_HALTED")
    frames = []
    while sum(map(len, frames)) < octets:
        frames.append(packet(flow, random.choice(lengths)))
    own = max(longest, 1514)
    await busy(one, 0 if halted else 90_000 // own, own)
    others = await busy(other, beside, longest)
    partner = Partner(one, frames)
    await partner.done
    due = [flow.forwarded(padded(frame)) for frame in frames]
    wires, _ = await router.check(idle=160*8*longest//links[1] + 3000, exact=False)
    assert same([frame for frame in wires[1] if frame not in others], due)
    assert partner.asked >= 1
    assert await one.regs.read("RX_FLOW_DROPS") == await one.regs.read("RX_DROP_FIFO") == 0


@cocotb.test()
@cocotb.parametrize(length=[60, 1514])
async def pause_holds_the_sender(dut, length):
    """Segments of one 27 KB packet, or the shortest frames."""
    await pause_loses_nothing(dut, (1000, 100), [length], 27_000)


@cocotb.test()
async def pause_holds_the_sender_and_the_driver(dut):
    """Both wires have the same rate, but the driver sends as much as the flow."""
    await pause_loses_nothing(dut, (1000, 1000), LENGTHS, 40_000, beside=40)


@cocotb.test()
@cocotb.parametrize(link=[1000, 100])
async def pause_holds_the_sender_for_long(dut, link):
    await pause_loses_nothing(dut, (link, 10), LENGTHS, 30_000)


@cocotb.test()
async def pause_holds_the_sender_of_a_halted_ring(dut):
    """A halted ring drops its frames, while flows continue."""
    await pause_loses_nothing(dut, (1000, 100), [1514], 27_000, halted=True)


@cocotb.test()
@cocotb.parametrize(link=[10, 100, 1000], length=[60, 1514])
async def driver_and_flow_take_turns(dut, link, length):
    """Both always have a frame for the wire, the driver a long one: neither sends twice in a row."""
    router, flow = await started(dut, (1000, link))
    await take_turns(router, flow, length, 600 if link == 10 else 1514)


async def take_turns(router, flow, length, longest, count=4):
    """Forwards `count` frames of the flow, which fit its FIFO. The driver has more frames than
    that."""
    one, other = router.sides
    own = await busy(other, 60_000 // longest + 4*count, longest)
    await ClockCycles(router.dut.sys_clk, 3000)
    frames = [packet(flow, length) for _ in range(count)]
    due = [flow.forwarded(padded(frame)) for frame in frames]
    partner = Partner(one, frames)
    left = []
    while len([frame for frame in left if frame not in own]) < count:
        left.append(await other.wire.receive(us=20_000))
    await partner.done
    first = next(n for n, frame in enumerate(left) if frame not in own)
    mine = [frame in own for frame in left[first:]]
    assert mine == [n % 2 == 1 for n in range(2*count - 1)], f"{mine}: True are the driver's"
    assert left[first::2] == due


@cocotb.test()
async def slow_wire_does_not_delay_software(dut):
    """The other wire is paused, and the flow FIFO full: software gets its frames at once, and drops
    are counted."""
    router, flow = await started(dut, (1000, 1000), PAUSE=OBEY)
    one, other = router.sides
    other.wire.send(add_fcs(pause(0xFFFF)))
    await ClockCycles(dut.sys_clk, 1000)
    due = []
    for number in range(200):
        due.append(packet(flow, random.choice((60, 60, 600))))
        one.wire.send(add_fcs(padded(due[-1])))
        if number % 3 == 0:
            one.software.append(padded(packet(router.flow(), random.choice((60, 1514)))))
            one.wire.send(add_fcs(one.software[-1]))
    got = []
    while one.wire.queue:
        await ClockCycles(dut.sys_clk, 500)
        await router.drain(one, got)
    await ClockCycles(dut.sys_clk, 5000)
    await router.drain(one, got)
    assert same(got, one.software)
    assert await one.regs.read("RX_DROP_FIFO") == await one.regs.read("RX_DROP_RING") == 0
    drops = await one.regs.read("RX_FLOW_DROPS")
    assert drops > 50
    other.wire.send(add_fcs(pause(0)))
    wires, _ = await router.check(exact=False)
    left = wires[1]
    assert len(left) + drops == len(due)
    # Tail drop: frames with room are kept in order, and the first ones are complete.
    known = iter([flow.forwarded(padded(frame)) for frame in due])
    assert all(any(frame == other for other in known) for frame in left)
    assert left[:10] == [flow.forwarded(padded(frame)) for frame in due[:10]]
    assert await one.regs.read("RX_GOOD_FRAMES") == len(due) + len(got)


@cocotb.test()
async def removed_entry_drops_waiting_frames(dut):
    """While the other wire is paused, no command waits for it, whichever frame is the oldest one.
    After the pause, only frames of the remaining entries leave."""
    router, lasting = await started(dut, (1000, 1000), PAUSE=OBEY)
    one, other = router.sides
    flows = [lasting, *[router.flow() for _ in range(3)]]
    entries = [next(iter(one.entries)), *[await one.add(flow) for flow in flows[1:]]]
    for gone, again in (([1], False), ([2, 3], True), ([0], True)):
        other.wire.send(add_fcs(pause(0xFFFF)))
        await ClockCycles(dut.sys_clk, 1000)
        await other.driver.send(plain(1514))  # precedes the flows' frames
        drops = await one.regs.read("RX_FLOW_DROPS")
        moved = await one.regs.read("RX_FLOW_FRAMES")
        sent = [random.randrange(4) for _ in range(40)]  # the FIFO holds them
        for number in sent:
            one.send(packet(flows[number], random.choice((60, 300))), flows[number])
        await one.wire.sent()
        waiting, due = list(zip(sent, one.leaves)), []
        one.leaves.clear()
        for number in gone:
            # Frames in the Tx FIFO leave in any case. After a drop, it may have room for a short
            # frame.
            await ClockCycles(dut.sys_clk, 500)
            room = await one.regs.read("RX_FLOW_FRAMES") - moved - len(due)
            due += [frame for _, frame in waiting[:room]]
            waiting = [(other, frame) for other, frame in waiting[room:] if other != number]
            began = get_sim_time("ns")
            if again:
                flows[number] = Flow(flows[number].kind, flows[number].ends, random.randbytes(12))
                await one.add(flows[number], entries[number])
            else:
                await one.command(entries[number], REMOVE=True)
            assert get_sim_time("ns") - began < 10*1000
        due += [frame for _, frame in waiting]
        dropped = len(sent) - len(due)
        for number in gone:
            if again:
                one.send(packet(flows[number], 80), flows[number])
        due += one.leaves
        other.wire.send(add_fcs(pause(0)))
        wires, _ = await router.check(exact=False)
        assert same(wires[1][1:], due)
        assert await one.regs.read("RX_FLOW_DROPS") - drops == dropped > 0
        if not again:
            await one.add(flows[gone[0]], entries[gone[0]])


@cocotb.test()
async def drops_frame_longer_than_tx_fifo(dut):
    """A frame longer than the other MAC's Tx FIFO is dropped, and the next one leaves."""
    router, flow = await started(dut, (1000, 1000), MAX_FRAME=8000)
    one, _ = router.sides
    await one.enable(mtu=9000)
    for length in (4000, 5000, 100, 7000, 60):
        frame = packet(flow, length)
        if length < 4088:
            one.send(frame, flow)
        else:
            one.wire.send(add_fcs(frame))
    await router.check()
    assert await one.regs.read("RX_FLOW_DROPS") == 2
