# SPDX-License-Identifier: BSD-2-Clause
"""The gap between two frames on the wire, in octets at the PHY's own pace."""

from math import ceil

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_interpacket_gap, eth_phy_description

MAX_PACE = 63 # Clocks for each word; RMII at 10 Mb/s takes 40.

# Interpacket Gap ----------------------------------------------------------------------------------

class InterpacketGap(LiteXModule):
    """Holds frames back until IEEE 802.3's 96 bit times have passed since the one before.

    LiteEthMACGap counts clocks as octets, which gives half the gap on MII and a quarter on RMII. This module
    measures the pace: the clocks between the last two words that the PHY took.
    """
    def __init__(self, dw):
        self.sink   = sink   = stream.Endpoint(eth_phy_description(dw))
        self.source = source = stream.Endpoint(eth_phy_description(dw))

        # # #

        gap   = ceil(eth_interpacket_gap/(dw//8))
        since = Signal(max=MAX_PACE + 1, reset=1) # Clocks since a word was taken.
        pace  = Signal(max=MAX_PACE + 1, reset=MAX_PACE)
        words = Signal(max=gap + 1)

        self.fsm = fsm = FSM(reset_state="GAP") # A reset may have cut a frame.
        fsm.act("COPY",
            sink.connect(source),
            If(sink.valid & sink.ready,
                NextValue(pace, since),
                NextValue(since, 1),
                If(sink.last,
                    NextValue(words, 0),
                    NextState("GAP"),
                ),
            ).Elif(since != MAX_PACE,
                NextValue(since, since + 1),
            ),
        )
        fsm.act("GAP",
            If(since != pace,
                NextValue(since, since + 1),
            ).Else(
                NextValue(since, 1),
                NextValue(words, words + 1),
                If(words == gap - 1, NextState("COPY")),
            ),
        )
