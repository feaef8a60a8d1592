# SPDX-License-Identifier: BSD-2-Clause
"""The MAC without options: requests of options have no effect."""

import cocotb

from bench.models.frames import plain
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.basics import MIN, transmit
from moderato.gateware.registers.table import PLAIN_MINOR

DUT = "mac_plain"


@cocotb.test()
async def options_are_not_there(dut):
    mac = await Mac.start(dut)
    for name in ("URGENT", "PACING"):
        assert await mac.regs.read("CAPABILITY", name) == 0
    assert await mac.regs.read("FEATURES") == 0
    assert await mac.regs.read("VERSION", "MINOR") == PLAIN_MINOR


@cocotb.test()
async def ignores_requests_of_absent_options(dut):
    """Word 2 of a descriptor is written back as 0 in both directions (the driver's model checks)."""
    mac = await Mac.start(dut)
    frames = [plain(MIN + n) for n in range(20)]
    for frame in frames:
        mac.wire.send(add_fcs(frame))
        await mac.driver.send(frame, 1, (14, 40))
        await mac.expect([frame])
        assert await mac.wire.receive() == frame
    await transmit(mac, [(frame, 3) for frame in frames])
