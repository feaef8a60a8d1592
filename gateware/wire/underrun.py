# SPDX-License-Identifier: BSD-2-Clause
"""Ends a frame whose next octet is missing, because the wire does not wait."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description

# Underrun -----------------------------------------------------------------------------------------

class Underrun(LiteXModule):
    """Precedes the stage that inserts the preamble. The system clock keeps up with the wire (mac.py's
    min_sys_clk_freq()), so octets are missing only when it stops, as in a reset of its PLL.

    inside   within a frame, after the preamble.
    drop     the current word belongs to a frame that has already been ended.
    starved  the frame ends here, with an extra word, so that its FCS is wrong.
    """
    def __init__(self, dw):
        self.sink    = sink   = stream.Endpoint(eth_phy_description(dw))
        self.source  = source = stream.Endpoint(eth_phy_description(dw))
        self.inside  = Signal()
        self.drop    = Signal()
        self.starved = Signal()

        # # #

        self.comb += [
            sink.connect(source),
            source.valid.eq(self.inside | (sink.valid & ~self.drop)),
            source.last.eq(sink.last | ~sink.valid),
            self.starved.eq(self.inside & ~sink.valid),
        ]
