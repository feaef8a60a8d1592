# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags of jumbo frames on LiteEth's GMII, by cocotbext-eth: with a tag, the number of octets
has 15 bits."""

import cocotb
import pytest

from bench.models.frames import JUMBO as MAX
from bench.models.frames import plain, tagged
from bench.mac import Mac
from bench.wires.wire import add_fcs
from cases.tags import INSERT, STRIP, as_sent, expect, send, some_tci

DUT = "mac_vlan_jumbo"
BUFFER = MAX + 18
LONGEST = 2**14 - 8  # that the Tx FIFO holds


@cocotb.test()
@pytest.mark.slow
async def jumbo_frames_have_tags(dut):
    """In both directions, with short ones; MAX_FRAME limits the frame without its tag."""
    mac = await Mac.start(dut, driver={"buffer": BUFFER, "rx_order": 4, "tx_order": 4},
                          MAX_FRAME=MAX + 4, VLAN=STRIP | INSERT)
    frames = [plain(length) for length in (MAX, 60, MAX - 1, MAX - 2, 1514, MAX - 3, MAX, 60)]
    tags = [some_tci() for _ in frames]
    for frame, tci in zip(frames, tags, strict=True):
        mac.wire.send(add_fcs(tagged(frame, tci)))
    mac.wire.send(add_fcs(tagged(plain(MAX + 1), 1)))
    sending = cocotb.start_soon(send(mac, [(frame, 2, None, tci, as_sent(frame, tci))
                                           for frame, tci in zip(frames, tags, strict=True)]))
    await expect(mac, [tagged(frame, tci) for frame, tci in zip(frames, tags, strict=True)])
    await sending
    await mac.settle(MAX)
    assert await mac.regs.read("RX_OVERSIZE") == 1


@cocotb.test()
async def the_longest_frame_of_all(dut):
    """The longest frame of the Tx FIFO, and of MAX_FRAME: with its tag, 2**14 octets and more."""
    longest = 2**14 - 1
    mac = await Mac.start(dut, driver={"buffer": 2**14 + 64, "rx_order": 2, "tx_order": 2},
                          MAX_FRAME=longest, VLAN=STRIP | INSERT)
    frame = plain(LONGEST)
    await send(mac, [(frame, 0, None, 7, as_sent(frame, 7))])
    assert await mac.regs.read("TX_GOOD_OCTETS") == LONGEST + 8
    received = tagged(plain(longest - 4), 9)
    mac.wire.send(add_fcs(received))
    await expect(mac, [received])
    assert await mac.regs.read("RX_GOOD_OCTETS") == longest + 4
    mac.wire.send(add_fcs(tagged(plain(longest - 3), 9)))
    await mac.settle(longest)
    assert await mac.regs.read("RX_OVERSIZE") == 1
