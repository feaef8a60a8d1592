# SPDX-License-Identifier: BSD-2-Clause
"""A PHY for simulation, in the system clock domain, paced to the link's rate.

It is 32 bits wide, so that 1 Gb/s (1.25 octets a clock at 100 MHz) fits. Preamble, FCS and gap take the time
that IEEE 802.3 requires.
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common import eth_interpacket_gap, eth_phy_description

# Pads ---------------------------------------------------------------------------------------------

def sim_phy_pads(events):
    """Layout of the pads towards the simulator: [(name, width), ...].

    rx_*  from the tester: with rx_valid, a word of a frame has arrived (preamble to FCS, first octet in bits
          7:0). rx_bytes is the number of its octets, 4 except in the last word. The tester keeps the pace.
          rx_error reports an error of the PHY.
    tx_*  to the tester, likewise, in the clock in which the word's first octet goes on the wire.
    """
    return [
        ("rx_valid",   1), ("rx_data", 32), ("rx_last", 1), ("rx_bytes", 3), ("rx_error", 1),
        ("tx_valid",   1), ("tx_data", 32), ("tx_last", 1), ("tx_bytes", 3),
        ("link_mbps", 10),
        ("events", events),
    ]

# Simulation PHY -----------------------------------------------------------------------------------

class SimPHY(LiteXModule):
    """The PHY; `pads` is a Record or request of sim_phy_pads().

    rx_cd  clock domain of the registers towards the MAC, its `datapath_cd`; they change only while `awake`.

    An octet takes 8*sys_clk_freq/(link_mbps*1e6) clocks. A credit keeps this pace exactly: it gains link_mbps in
    each clock and pays 8*sys_clk_freq/1e6 for each octet.
    """
    dw                      = 32
    cd                      = "sys"
    rx_clk_freq             = 1e9/dw # Words a second.
    integrated_ifg_inserter = True # The gap is paced here: LiteEthMACGap counts clocks.

    def __init__(self, pads, sys_clk_freq, rx_cd="sys"):
        if sys_clk_freq % 1e6:
            raise ValueError(f"sys_clk_freq must be a whole number of MHz, not {sys_clk_freq} Hz.")
        self.sink   = sink   = stream.Endpoint(eth_phy_description(32))
        self.source = source = stream.Endpoint(eth_phy_description(32))
        self.awake  = Signal()

        # # #

        # Rx.
        # ---
        rx_sync = getattr(self.sync, rx_cd)
        rx_sync += source.valid.eq(pads.rx_valid)
        rx_sync += If(pads.rx_valid,
            source.data.eq(pads.rx_data),
            source.last.eq(pads.rx_last),
            source.error.eq(Replicate(pads.rx_error, 4)),
            source.last_be.eq(0),
            If(pads.rx_last, Case(pads.rx_bytes, {n: source.last_be.eq(1 << n - 1) for n in range(1, 5)})),
        )
        self.comb += self.awake.eq(pads.rx_valid | source.valid)

        # Tx: a word may leave when the words before it are paid.
        # --------------------------------------------------------------
        octet_cost = int(8*sys_clk_freq/1e6)
        octets     = Signal(max=5 + eth_interpacket_gap)
        debt       = Signal(max=octet_cost*(5 + eth_interpacket_gap))
        pay        = Signal()
        self.comb += [
            Case(sink.last_be, {
                0b0001:    pads.tx_bytes.eq(1),
                0b0010:    pads.tx_bytes.eq(2),
                0b0100:    pads.tx_bytes.eq(3),
                "default": pads.tx_bytes.eq(4),
            }),
            # A frame's last word also pays for the gap after it.
            octets.eq(pads.tx_bytes + Mux(sink.last, eth_interpacket_gap, 0)),
            sink.ready.eq(debt < pads.link_mbps),
            pads.tx_valid.eq(sink.valid & sink.ready),
            pads.tx_data.eq(sink.data),
            pads.tx_last.eq(sink.last),
        ]
        self.sync += If(pads.tx_valid,
            # The rest of this clock's credit counts only between words of a busy line.
            debt.eq(debt + octets*octet_cost - pads.link_mbps)
        ).Elif(debt >= pads.link_mbps,
            debt.eq(debt - pads.link_mbps)
        ).Else(
            debt.eq(0)
        )
