# SPDX-License-Identifier: BSD-2-Clause
"""Two queues whose frames may be in pieces: all kinds of frames of two queues, and pieces of both
at once."""

import random

import cocotb

from bench.simulation import TWINS
from cases import two_queues
from cases.basics import MIN
from cases.pieces import LIMIT, cut, post
from cases.segments import hand_over, packet, room
from cases.two_queues import Queues, marked
from moderato.gateware.registers.table import DESCRIPTOR_BYTES

DUT   = "mac_queues_gather"
CASES = [
    two_queues.fills_all_frame_records,
    two_queues.both_queues_both_ways,
    two_queues.both_send,
    two_queues.each_has_its_stamps,
    two_queues.invalid_lengths_affect_one_queue,
    two_queues.one_queue_halts,
    two_queues.senders_at_the_line_rate,
    two_queues.senders_stop_in_turn,
    two_queues.the_last_frames_leave,
    two_queues.turns_are_fair,
]
SLOW  = rf"{TWINS}|^(both|each|fills|one|turns)"  # also in the row sim-queues


@cocotb.test()
@cocotb.parametrize(slow=[0.0, 0.5])
async def pieces_of_both(dut, slow):
    """Frames and segments of both queues: none enters between the pieces of another one."""
    both = await Queues.start(dut, slow)
    sent = [[], []]

    async def feed(queue, driver):
        for _ in range(40):
            await room(both.side(queue), 12)
            if random.random() < 0.4:
                p = packet(random.randrange(1, 1500), random.randrange(100, 600))
                sent[queue] += p.right
                hand_over(both.side(queue), p)
            else:
                frame = marked(queue, random.choice((MIN, 300, 1514)))
                sent[queue].append(frame)
                await post(both.side(queue), cut(frame, 8))
        await driver.tx.doorbell()

    feeding = [cocotb.start_soon(feed(*pair)) for pair in enumerate(both.drivers)]
    while not all(task.done() for task in feeding) or any(sent):
        frame = await both.wire.receive()
        queue, = (n for n in range(2) if sent[n] and sent[n][0] == frame)
        sent[queue].pop(0)
    for driver in both.drivers:
        assert not any(await driver.reclaim_all())


@cocotb.test()
@cocotb.parametrize(first=[0, 1], ends=["rest", "stop", "fault", "descriptor", "status"])
async def other_queue_survives_partial_frame(dut, first, ends):
    """A partial frame blocks the FIFO until its rest is complete or invalid, until its queue stops,
    or until the queue halts because memory fails the rest's descriptor or status. Then the other
    queue's frames leave."""
    both = await Queues.start(dut)
    driver, other = both.drivers[first], both.drivers[1 - first]
    for _ in range(6):
        frame, kept = marked(first, random.randrange(100, 300)), marked(1 - first, 200)
        driver.queue_pieces([(frame[:50], 3)], more=True)
        await driver.tx.doorbell()
        await both.mac.clocks(300)
        await other.send(kept)
        await both.mac.clocks(1000)
        assert not both.wire.waiting()
        if ends == "rest":
            driver.queue_pieces([(frame[50:], 5)])
            await driver.tx.doorbell()
            assert await both.wire.receive() == frame
        elif ends == "stop":
            await driver.stop()
        elif ends in ("descriptor", "status"):
            ring = range(driver.tx.base, driver.tx.base + driver.tx.size*DESCRIPTOR_BYTES)
            both.mac.memory.refuse(**{"reads" if ends == "descriptor" else "writes":
                                      lambda address, ring=ring: address in ring})
            driver.queue_pieces([(frame[50:60], 5)], more=True)
            await driver.tx.doorbell()
        else:
            driver.queue_pieces([(bytes(LIMIT), 0)])
            await driver.tx.doorbell()
        assert await both.wire.receive() == kept
        if ends in ("descriptor", "status"):
            assert await both.regs.read("STATUS", f"{driver.tx.prefix}_HALTED")
            both.mac.memory.refuse()
            await driver.stop()
        if ends in ("stop", "descriptor", "status"):
            await driver.start()
        else:
            assert await driver.reclaim_all() == [False, ends == "fault"]
        assert await other.reclaim_all() == [False]
