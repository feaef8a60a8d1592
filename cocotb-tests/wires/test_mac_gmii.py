# SPDX-License-Identifier: BSD-2-Clause
"""The MAC on LiteEth's GMII, 125 MHz against a system clock of 100 MHz."""

import cocotb

from bench.simulation import TWINS
from bench.mac import Mac
from bench.models.frames import plain
from bench.wires.wire import GAP
from cases import any_wire, basics
from cases.basics import MIN

DUT   = "mac_gmii"
CASES = [any_wire, basics.starved_bus_drops_frames_whole, basics.transmits_bursts]
SLOW  = f"{TWINS}|alignment|lengths|starved|disabled=False"


@cocotb.test()
async def keeps_minimum_gap(dut):
    """Frames that wait for the wire follow each other as closely as IEEE 802.3 allows."""
    mac = await Mac.start(dut, driver={"tx_order": 5})
    frames = [plain(MIN + n % 5) for n in range(32)]
    for frame in frames:
        mac.driver.queue(frame)
    await mac.driver.tx.doorbell()
    for n, frame in enumerate(frames):
        assert await mac.wire.receive() == frame
        assert n == 0 or abs(mac.wire.waited - GAP) < 0.5, f"{mac.wire.waited} octets"
