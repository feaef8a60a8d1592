# SPDX-License-Identifier: BSD-2-Clause
"""The end of a frame whose next octet is missing: no wire waits for it."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description

# Underrun -----------------------------------------------------------------------------------------

class Underrun(LiteXModule):
    """Stands before the stage that inserts the preamble. The system clock keeps up with the wire
    (mac.py's min_sys_clk_freq()); it is missed when it stands, as in a reset of its PLL.

    inside   the preamble is over, and the frame not.
    drop     what comes now is of a frame whose end was sent.
    starved  the frame ends here: with a word too many, so that its FCS is wrong.
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
