# SPDX-License-Identifier: BSD-2-Clause
"""The MAC with clock gates for both parts, which must change only the number of edges: the cases
of the whole MAC in which its parts stop and wake."""

import cocotb

from bench.simulation import TWINS
from bench.models.frames import plain
from bench.mac import Mac, edges
from bench.wires.wire import add_fcs
from cases import basics, simulated_phy
from cases.basics import MAX, MIN

DUT   = "mac_gated"
CASES = [
    basics.both_directions_at_once,
    basics.bus_errors_are_counted,
    basics.descriptors_ask_for_interrupts,
    basics.driver_is_ahead_of_the_acknowledgement,
    basics.every_completion_is_reported,
    basics.filters_destinations,
    basics.interrupt_comes_after_its_completion,
    basics.one_direction_alone,
    basics.receives_minimum_gap_bursts,
    basics.starved_bus_with_shortest_frames,
    basics.restarts_under_traffic,
    basics.transmits_bursts,
    basics.urgent_frames_do_not_wait,
    simulated_phy.delays_grow_while_the_cpu_is_busy,
    simulated_phy.idle_waits_for_memory,
    simulated_phy.registers_are_as_in_the_table,
    simulated_phy.stops_while_the_link_is_down,
]
SLOW  = f"{TWINS}|delays|number=[^1]|restarts"


@cocotb.test()
async def sleeps_without_traffic(dut):
    """Ready to receive and to send, with every timer set: not a single edge."""
    timers = {f"{prefix}_{name}": 100 for prefix in ("RX", "TX")
              for name in ("FRAMES", "PACKET_TIMER", "ABSOLUTE_TIMER", "GAP")}
    mac = await Mac.start(dut, **timers)
    await mac.clocks(500)  # descriptors are fetched, the timers end
    assert await edges(dut, 2000) == {"datapath": 0, "moderation": 0}
    frame = plain(100)
    mac.wire.send(add_fcs(frame))
    await mac.expect([frame])
    await mac.clocks(500)
    assert await edges(dut, 2000) == {"datapath": 0, "moderation": 0}


@cocotb.test()
async def sleeps_within_frames(dut):
    """At 100 Mb/s, a word arrives and leaves every 32 clocks."""
    mac = await Mac.start(dut, link=100)
    for frame in (plain(MAX), plain(MIN)) * 2:
        mac.wire.send(add_fcs(frame))
        await mac.driver.send(frame)
    counts = await edges(dut, 20_000)
    assert 2*500 < counts["datapath"] < 20_000 // 2 and 4 <= counts["moderation"] < 100, counts
