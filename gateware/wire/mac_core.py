# SPDX-License-Identifier: BSD-2-Clause
"""Between the PHY and the system clock: preamble, gap, width and clock domain.

LiteEth's stages in LiteEthMACCore's order, without three. transmit.py and receive.py insert and check the
FCS: there it is cheaper to build and to simulate, and a fragment shorter than an FCS can't stay in a
checker's FIFO. transmit.py also pads, because LiteEth's 32-bit stage sends stale octets. gap.py replaces the
gap: it counts octets, not clocks.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect import stream

from liteeth.common       import eth_phy_description
from liteeth.mac.last_be  import LiteEthMACRXLastBE, LiteEthMACTXLastBE
from liteeth.mac.preamble import LiteEthMACPreambleChecker, LiteEthMACPreambleInserter

from moderato.gateware.wire.async_fifo import AsyncFIFO
from moderato.gateware.wire.gap        import InterpacketGap
from moderato.gateware.wire.underrun   import Underrun

SYNC_DEPTH = 32 # Words, with one clock.
CDC_DEPTH  = 16 # Words, with two clocks: 0.5 us at 1 Gb/s, with half the LUTs.

# MAC Core -----------------------------------------------------------------------------------------

class MACCore(LiteXModule):
    """Streams of 32-bit words in the system clock domain, frames from destination address to FCS.

    phy     a LiteEth PHY, 8 to 32 bits wide.
    phy_cd  prefix of its clock domains, or "sys" for a PHY in the system clock domain. Such a PHY sets `awake`
            if its source changes at the coming edge.
    idle    there is `free`: nothing is on the wire or on the way to it, and the gap is over. If the gap is the PHY's
            own, only with one clock does `free` wait for it.
    mark    number of bits of `mark`, which accompanies each word of the sink. `marked`, in the PHY's clock
            domain, is that of the latest word that left for the PHY.
    """
    def __init__(self, phy, phy_cd="eth", mark=0, idle=False):
        if phy.dw not in (8, 16, 32):
            raise ValueError(f"The datapath takes PHYs of 8, 16 or 32 bits, not {phy.dw}.")
        self.sink   = stream.Endpoint(eth_phy_description(32))
        self.source = stream.Endpoint(eth_phy_description(32))
        self.awake  = Signal()

        # # #

        rx = "sys" if phy_cd == "sys" else f"{phy_cd}_rx"
        tx = "sys" if phy_cd == "sys" else f"{phy_cd}_tx"
        narrow, wide = eth_phy_description(phy.dw), eth_phy_description(32)

        self.rx_preamble  = ClockDomainsRenamer(rx)(LiteEthMACPreambleChecker(phy.dw))
        self.rx_last_be   = ClockDomainsRenamer(rx)(LiteEthMACRXLastBE(phy.dw))
        self.rx_converter = ClockDomainsRenamer(rx)(stream.StrideConverter(narrow, wide))
        self.rx_cdc       = self._crossing(wide, rx, "sys", waits=False)
        self.rx_pipeline  = stream.Pipeline(phy,
            self.rx_preamble,
            self.rx_last_be,
            self.rx_converter,
            self.rx_cdc,
        )
        self.comb += [
            # LiteX's converter keeps `last` through a reset, and does not keep last_be.
            self.rx_cdc.source.connect(self.source, omit={"last"}),
            self.source.last.eq(self.rx_cdc.source.last_be != 0),
        ]

        marked = stream.EndpointDescription(wide.payload_layout + [("mark", mark)]) if mark else wide
        self.tx_cdc       = self._crossing(marked, "sys", tx)
        self.tx_converter = ClockDomainsRenamer(tx)(stream.StrideConverter(wide, narrow))
        self.tx_last_be   = ClockDomainsRenamer(tx)(LiteEthMACTXLastBE(phy.dw))
        self.tx_preamble  = ClockDomainsRenamer(tx)(LiteEthMACPreambleInserter(phy.dw))
        tx_stages = [self.tx_cdc, self.tx_converter, self.tx_last_be, self.tx_preamble]
        if phy_cd != "sys":
            # `ready` of the gap passes all stages and would reach the pointer of the FIFO. With a register
            # here, eth_tx is faster, and Yosys needs fewer LUTs.
            self.tx_buffer = ClockDomainsRenamer(tx)(
                stream.Buffer(narrow, pipe_valid=True, pipe_ready=True))
            self.tx_underrun = underrun = Underrun(phy.dw)
            tx_stages.insert(2, self.tx_buffer)
            tx_stages.insert(4, underrun)
            self.comb += [
                underrun.inside.eq(self.tx_preamble.fsm.ongoing("COPY")),
                underrun.drop.eq(self.tx_cdc.broken),
                self.tx_cdc.starved.eq(underrun.starved),
            ]
            for stage in (self.tx_converter, self.tx_buffer): # They may hold octets of a dropped frame.
                ResetInserter()(stage)
                self.comb += stage.reset.eq(self.tx_cdc.broken)
        if not getattr(phy, "integrated_ifg_inserter", False):
            self.tx_gap = ClockDomainsRenamer(tx)(InterpacketGap(phy.dw))
            tx_stages.append(self.tx_gap)
        if mark:
            self.mark, self.marked = Signal(mark), Signal(mark)
            self.comb += [
                self.sink.connect(self.tx_cdc.sink),
                self.tx_cdc.sink.mark.eq(self.mark),
                self.tx_cdc.source.connect(self.tx_converter.sink, omit={"mark"}),
            ]
            tx_sync  = getattr(self.sync, tx)
            tx_sync += If(self.tx_cdc.source.valid, self.marked.eq(self.tx_cdc.source.mark))
            self.tx_pipeline = stream.Pipeline(*tx_stages[1:], phy)
        else:
            self.tx_pipeline = stream.Pipeline(self.sink, *tx_stages, phy)

        if phy_cd == "sys":
            # The PHY takes a word in few of the clocks in which it is offered one.
            self.comb += self.awake.eq(phy.awake |
                Mux(phy.sink.valid, phy.sink.ready, self.tx_cdc.source.valid))
        else:
            self.comb += self.awake.eq(1) # The FIFOs also run on the other side's clock.

        if idle:
            self.free = Signal()
            self._watch(phy, phy_cd == "sys", tx)

    def _watch(self, phy, one_clock, tx):
        """Drives `free`."""
        active = self.tx_cdc.source.valid | ~self.tx_preamble.fsm.ongoing("IDLE")
        if hasattr(self, "tx_gap"):
            active = active | ~self.tx_gap.fsm.ongoing("COPY")
        if one_clock:
            taken = 1 if hasattr(self, "tx_gap") else phy.sink.ready
            self.comb += self.free.eq(~self.sink.valid & ~active & taken)
            return
        # The reader's position comes here together with its activity, give or take a clock.
        self.tx_active = Signal(reset=1)
        here, quiet, before = Signal(), Signal(), Signal()
        tx_sync = getattr(self.sync, tx)
        tx_sync += self.tx_active.eq(active | self.tx_buffer.source.valid)
        self.specials += MultiReg(self.tx_active, here)
        self.comb += quiet.eq(~self.sink.valid & ~here & (self.tx_cdc.writer.gray == self.tx_cdc.taken))
        self.sync += [
            before.eq(quiet),
            self.free.eq(quiet & before),
        ]

    @staticmethod
    def _crossing(layout, cd_from, cd_to, waits=True):
        """A FIFO between two clock domains, or within one, which needs its depth as well."""
        if cd_from == cd_to:
            return stream.SyncFIFO(layout, SYNC_DEPTH)
        return ClockDomainsRenamer({"write": cd_from, "read": cd_to})(AsyncFIFO(layout, CDC_DEPTH, waits))
