# SPDX-License-Identifier: BSD-2-Clause
"""RGMII at 10 and 100 Mb/s, between the MAC and a PHY that supports only 1000 Mb/s.

At 1000 Mb/s, RGMII carries an octet in each clock, half on each edge. At 100 and 10 Mb/s it carries a nibble in
each clock, the lower one first, and the PHY's clock has 25 or 2.5 MHz. So the clock shows the rate, and these
two rates need no distinction here.
"""

from migen import *

from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description
from liteeth.phy.gmii_mii import LiteEthGMIIMIIModeDetection

SFD = 0xD # The upper nibble of the start-of-frame delimiter. All nibbles before it are 0x5.

# PHY Rates ----------------------------------------------------------------------------------------

class PHYRates(LiteXModule):
    """A PHY of 8 bits for the MAC.

    phy            an RGMII PHY like LiteEth's: `source` and `sink` carry both nibbles of a clock, that of
                   the rising edge in the lower half. Its clocks come from the PHY chip.
    phy_cd         prefix of its clock domains.
    sys_clk_freq   Hz, to measure the PHY's clock.
    nibbles        the PHY's clock is that of 10 or 100 Mb/s. It takes 3072 of its clocks to notice a change
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

        # The PHY chip chooses the rate: our reset does not change it, and a reset during a measurement would
        # give a wrong result.
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
    """Aligns octets to the end of the start-of-frame delimiter, however much of the preamble is left. Half an
    octet at the end of a frame is dropped, and the FCS checks the octets before it (IEEE 802.3, 4.2.4.2.1).

    nibbles   the PHY delivers nibbles, not octets.
    """
    def __init__(self):
        self.nibbles = nibbles = Signal()
        self.sink    = sink    = stream.Endpoint(eth_phy_description(8))
        self.source  = source  = stream.Endpoint(eth_phy_description(8))

        # # #

        lower   = stream.Endpoint([("nibble", 4), ("error", 1)]) # Valid: the upper nibble is missing.
        started = Signal()                                       # The delimiter has passed.
        held    = stream.Endpoint(eth_phy_description(8))        # An octet that may be the last one.
        ended   = Signal()                                       # It is the last one.

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
    """Puts each nibble on both edges of a clock.

    nibbles   send nibbles, not octets.
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
