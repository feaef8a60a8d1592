# SPDX-License-Identifier: BSD-2-Clause
"""2.5 Gb/s at 125 MHz through eight bits with clocks of their own: LiteEth's 2500BASE-X has such."""

import cocotb

from line_rate_cases import LENGTHS, keep_the_rate

DUT = "mac_gmii_2500"


@cocotb.test()
@cocotb.parametrize(which=list(LENGTHS), slow=[0.0, 0.4])
async def keeps_the_line_rate(dut, which, slow):
    """No frame is lost, and the wire never waits for longer than an octet."""
    mac, octets = await keep_the_rate(dut, LENGTHS[which], slow)
    took = (mac.wire.last_end - mac.wire.first_start) / (mac.wire.octet_ns * 1000)
    assert octets - 2 <= took <= octets * 1.01, f"{took:.0f} octet times for {octets}"
