# SPDX-License-Identifier: BSD-2-Clause
"""RGMII on ECP5 at 10, 100 and 1000 Mb/s, with RX_ER: LiteEth's clocks and transmitter, our own receiver,
and PHYRates."""

from migen import *

from litex.gen import *

from litex.build.io import DDRInput
from litex.soc.interconnect import stream

from liteeth.common import eth_phy_description
from liteeth.phy.common import LiteEthPHYMDIO
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMIICRG, LiteEthPHYRGMIITX

from moderato.gateware.phy.rates import PHYRates

TAP = 25e-12 # Seconds of delay in a step of DELAYG.

# PHY ----------------------------------------------------------------------------------------------

class RGMIIECP5(PHYRates):
    """Like LiteEth's LiteEthPHYRGMII, but also takes the system clock's frequency in Hz.

    tx_delay, rx_delay   delays in seconds of the Tx clock, and of Rx data and control, in the FPGA.
    """
    def __init__(self, clock_pads, pads, sys_clk_freq, with_hw_init_reset=True, tx_delay=2e-9, rx_delay=2e-9):
        self.crg = LiteEthPHYRGMIICRG(clock_pads, pads, with_hw_init_reset, tx_delay)
        if hasattr(pads, "mdc"):
            self.mdio = LiteEthPHYMDIO(pads)
        PHYRates.__init__(self, Pins(pads, rx_delay), sys_clk_freq)


class Pins(LiteXModule):
    def __init__(self, pads, rx_delay):
        self.tx = ClockDomainsRenamer("eth_tx")(LiteEthPHYRGMIITX(pads))
        self.rx = ClockDomainsRenamer("eth_rx")(RGMIIReceiver(pads, rx_delay))
        self.sink, self.source = self.tx.sink, self.rx.source

# Receive ------------------------------------------------------------------------------------------

class RGMIIReceiver(LiteXModule):
    """The pins' values in each clock of a frame. RX_CTL is RX_DV on the rising edge, and RX_DV xor RX_ER on the
    falling one (RGMII 2.0, 3.4)."""
    def __init__(self, pads, rx_delay):
        self.source = source = stream.Endpoint(eth_phy_description(8))

        # # #

        taps = int(rx_delay/TAP)
        if not 0 <= taps < 128:
            raise ValueError(f"rx_delay must be 0 to {127*TAP*1e9:.3f} ns, not {rx_delay*1e9:.3f} ns.")
        control, data = Signal(2), Signal(8)
        for pad, rising, falling in [(pads.rx_ctl, control[0], control[1]),
            *((pads.rx_data[n], data[n], data[n + 4]) for n in range(4))]:
            delayed = Signal()
            self.specials += [
                Instance("DELAYG",
                    p_DEL_MODE  = "SCLK_ALIGNED",
                    p_DEL_VALUE = taps,
                    i_A         = pad,
                    o_Z         = delayed,
                ),
                DDRInput(clk=ClockSignal(), i=delayed, o1=rising, o2=falling),
            ]
        # The next clock shows whether a word was the frame's last one.
        word = stream.Endpoint(eth_phy_description(8))
        self.sync += [
            word.valid.eq(control[0]),
            word.data.eq(data),
            word.error.eq(control[0] ^ control[1]),
            source.valid.eq(word.valid),
            source.data.eq(word.data),
            source.error.eq(word.error),
            source.last.eq(word.valid & ~control[0]),
        ]
