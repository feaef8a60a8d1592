# SPDX-License-Identifier: BSD-2-Clause
"""RGMII at 10 and 100 Mb/s, between the MAC and a PHY that knows 1000 Mb/s alone.

RGMII carries an octet in each clock at 1000 Mb/s, half on each edge. Below, it carries a nibble, the
lower one first, in each of the 25 or 2.5 million clocks per second that the PHY gives. So the rate
shows in the clock, and both of these are the same for what is here.
"""

from migen import *

from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description
from liteeth.phy.gmii_mii import LiteEthGMIIMIIModeDetection

SFD = 0xD # The upper nibble of the start-of-frame delimiter; the preamble before it is all 0x5.

# PHY Rates ----------------------------------------------------------------------------------------

class PHYRates(LiteXModule):
    """A PHY of 8 bits for the MAC.

    phy            an RGMII PHY as LiteEth has them: `source` and `sink` carry what the pins do in each
                   clock, the rising edge's nibble below. Its clocks are those that the PHY gives.
    phy_cd         prefix of its clock domains.
    sys_clk_freq   Hz; the clock that the PHY's is compared with.
    nibbles        the PHY's clock is one of 10 or 100 Mb/s. Known 3072 of its clocks after it changed
                   (1.3 ms at 10 Mb/s); frames until then are lost.
    """
    dw          = 8
    rates       = True # For CAPABILITY.
    tx_clk_freq = 125e6
    rx_clk_freq = 125e6

    def __init__(self, phy, sys_clk_freq, phy_cd="eth"):
        self.phy     = phy
        self.nibbles = Signal()

        # # #

        # The rate is the PHY chip's: no reset of ours changes it, and one within a measurement would make
        # a wrong one of it.
        domains = {f"eth_{side}": f"{phy_cd}_{side}" for side in ("rx", "tx")}
        self.cd_measured = ClockDomain(reset_less=True)
        self.cd_measure  = ClockDomain(reset_less=True)
        self.comb += [
            self.cd_measured.clk.eq(ClockSignal(domains["eth_rx"])),
            self.cd_measure.clk.eq(ClockSignal()),
        ]
        self.detection = ClockDomainsRenamer({"eth_rx": "measured", "sys": "measure"})(
            LiteEthGMIIMIIModeDetection(sys_clk_freq))
        self.comb += self.nibbles.eq(self.detection.mode)

        self.rx = ClockDomainsRenamer(domains["eth_rx"])(OctetsFromNibbles())
        self.tx = ClockDomainsRenamer(domains["eth_tx"])(NibblesFromOctets())
        self.sink, self.source = self.tx.sink, self.rx.source
        self.comb += [
            phy.source.connect(self.rx.sink),
            self.tx.source.connect(phy.sink),
        ]
        self.specials += [
            MultiReg(self.nibbles, self.rx.nibbles, domains["eth_rx"]),
            MultiReg(self.nibbles, self.tx.nibbles, domains["eth_tx"]),
        ]

# Receive ------------------------------------------------------------------------------------------

class OctetsFromNibbles(LiteXModule):
    """Octets begin where the start-of-frame delimiter ends, whatever is left of the preamble. One that
    is cut off in its middle does not count: the FCS judges those before it (IEEE 802.3, 4.2.4.2.1).

    nibbles   come, and not octets.
    """
    def __init__(self):
        self.nibbles = nibbles = Signal()
        self.sink    = sink    = stream.Endpoint(eth_phy_description(8))
        self.source  = source  = stream.Endpoint(eth_phy_description(8))

        # # #

        lower   = stream.Endpoint([("nibble", 4), ("error", 1)]) # Valid: its octet is not complete.
        started = Signal()                                       # The delimiter is over.
        held    = stream.Endpoint(eth_phy_description(8))        # An octet that may be the last one.
        ended   = Signal()                                       # And is.

        nibble    = sink.data[:4]
        delimiter = ~started & (nibble == SFD)
        complete  = Signal()
        self.comb += [
            complete.eq(sink.valid & (lower.valid | delimiter)),
            sink.ready.eq(1),
            If(nibbles,
                source.valid.eq(held.valid & (complete | ended)),
                source.last.eq(ended),
                source.data.eq(held.data),
                source.error.eq(held.error),
            ).Else(
                sink.connect(source, omit={"ready"}),
            ),
        ]
        self.sync += [
            ended.eq(sink.valid & sink.last),
            If(ended, held.valid.eq(0)),
            If(sink.valid,
                started.eq((started | delimiter) & ~sink.last),
                lower.valid.eq(~complete),
                lower.nibble.eq(nibble),
                lower.error.eq(sink.error),
                If(complete,
                    held.valid.eq(1),
                    held.data.eq(Cat(lower.nibble, nibble)),
                    held.error.eq(lower.error | sink.error),
                ),
            ),
        ]

# Transmit -----------------------------------------------------------------------------------------

class NibblesFromOctets(LiteXModule):
    """Each nibble stands on both edges of its clock.

    nibbles   are to be sent, and not octets.
    """
    def __init__(self):
        self.nibbles = nibbles = Signal()
        self.sink    = sink    = stream.Endpoint(eth_phy_description(8))
        self.source  = source  = stream.Endpoint(eth_phy_description(8))

        # # #

        upper  = Signal()
        nibble = Mux(upper, sink.data[4:], sink.data[:4])
        self.comb += [
            sink.connect(source),
            If(nibbles,
                source.data.eq(Cat(nibble, nibble)),
                sink.ready.eq(upper),
            ),
        ]
        self.sync += upper.eq(nibbles & sink.valid & ~upper)
