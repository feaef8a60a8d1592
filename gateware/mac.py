# SPDX-License-Identifier: BSD-2-Clause
"""Moderato: an Ethernet MAC with descriptor rings in memory and interrupt moderation in hardware.

    PHY ─ MACCore ── Receive ── FrameFIFO ─ RxRing ─┐
        preamble,    FCS, filter                    ├─ DMA ─ AXI4 ─ memory
    PHY ─ MACCore ── Transmit ─ FrameFIFO ─ TxRing ─┘
        gap, clocks  padding, FCS              └─ completions ─ Moderation ─ interrupt lines
"""

from functools import reduce
from operator  import add, or_

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi

from moderato.gateware.bus.dma                 import DMAReader, DMAWriter
from moderato.gateware.frame.checksum          import TxChecksum
from moderato.gateware.frame.frame_fifo        import FrameFIFO
from moderato.gateware.frame.records           import rx_frame, tx_frame
from moderato.gateware.flows.flows             import Flows
from moderato.gateware.flows.table             import Ticker
from moderato.gateware.options                 import MACOptions
from moderato.gateware.queue                   import Queue
from moderato.gateware.receive.receive         import Receive
from moderato.gateware.registers               import table as registers
from moderato.gateware.registers.register_file import RegisterFile
from moderato.gateware.registers.rmon          import Rmon
from moderato.gateware.registers.statistics    import Statistics
from moderato.gateware.rings.queues            import OneByOne, RxQueues, TxQueues
from moderato.gateware.schedule.gates          import Gates
from moderato.gateware.schedule.launch         import Launches, Limits
from moderato.gateware.schedule.scheduler      import Scheduler
from moderato.gateware.schedule.shaper         import Shapers
from moderato.gateware.time.ptp_clock          import PeriodicOutput, PTPClock
from moderato.gateware.time.timestamp          import Stamps
from moderato.gateware.transmit.pause_source   import PauseSource
from moderato.gateware.transmit.transmit       import Transmit
from moderato.gateware.wire.mac_core           import MACCore

# Moderato MAC -------------------------------------------------------------------------------------

# System clocks that the MAC needs for each octet time of the wire. receive.py needs one for each word of a
# frame and two more: less than 0.25 for each octet. transmit.py sends no word in up to four clocks shortly
# before the end of a frame: mac_core.py's FIFO must hold that many octets by then, or the frame would break
# off. Short frames of many pieces, and short segments, need more (docs/offloads.md): they leave later.
CLOCKS_PER_OCTET = 0.3


def min_sys_clk_freq(phy):
    """The slowest system clock, in Hz, that keeps up with the PHY; 0 if the PHY does not state its rate."""
    return phy.dw/8*getattr(phy, "rx_clk_freq", 0)*CLOCKS_PER_OCTET


PARTS = ("datapath", "moderation") # Each can have a clock domain of its own: PART_cd, PART_awake.


class ModeratoMAC(LiteXModule):
    """The MAC.

    phy            a LiteEth PHY, 8, 16 or 32 bits wide.
    sys_clk_freq   Hz, which the driver reads for its timers. At least min_sys_clk_freq(phy).
    phy_cd         prefix of the PHY's clock domains (phy_cd_rx, phy_cd_tx); "sys" puts all in sys.
    datapath_cd, moderation_cd
                   clock domains of the two parts: "sys", or a gated copy of its clock. The gate may be
                   closed while `datapath_awake` or `moderation_awake` is 0.
    options        those of MACOptions.

    bus            registers, 32-bit Wishbone, 4 KiB.
    dma            AXI4 master, 64-bit, INCR bursts that stay in a 64-byte line, one ID.
    irqs           level interrupts by name: rx and tx of queue 0, rx1 and tx1 of queue 1.
    events         one-clock pulses in the order of registers.EVENTS.
    time_output    the periodic output of the clock.
    flows          (with a flow table; else None) what a FlowPair joins to another MAC, which sends frames here
                   only while `forwarding`.
    datapath_awake, moderation_awake
                   the enables of such gates. A PHY with clocks of its own keeps the datapath awake.
    """
    def __init__(self, phy, sys_clk_freq, phy_cd="eth", datapath_cd="sys", moderation_cd="sys", **options):
        options = MACOptions.of(**options)
        if sys_clk_freq < min_sys_clk_freq(phy):
            raise ValueError(f"sys_clk_freq must be {min_sys_clk_freq(phy)/1e6:.1f} MHz at least for the rate "
                f"of {type(phy).__name__}, not {sys_clk_freq/1e6:.1f} MHz.")
        self.dma         = bus = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
        self.events      = Signal(len(registers.EVENTS))
        self.time_output = Signal()

        self.datapath_awake   = Signal()
        self.moderation_awake = Signal()
        self.forwarding       = Signal()

        # # #

        datapath   = ClockDomainsRenamer(datapath_cd)
        moderation = ClockDomainsRenamer(moderation_cd)

        # Registers.
        # ----------
        self.registers = regs = datapath(RegisterFile(options.register_options))
        self.bus       = regs.bus
        self._describe(options, phy, sys_clk_freq)

        # Time: a clock that runs while the datapath's clock is gated, and the time stamps of frames.
        # --------------------------------------------------------------------------------------------
        rx_stamp, tx_stamps, ring_stamps = None, None, [None]*options.queues
        if options.timestamp:
            self.clock  = PTPClock()
            self.output = PeriodicOutput()
            self.stamps = datapath(Stamps(self.clock, phy, phy_cd, options.max_frames, options.queues,
                lossy=options.launch))
            rx_stamp, tx_stamps, ring_stamps = self.stamps.rx.stamp, self.stamps.tx, self.stamps.tx.rings
            self.clock.connect_registers(regs)
            self.output.connect_registers(regs)
            self.comb += [
                self.output.time.eq(self.clock.time),
                self.time_output.eq(self.output.level),
            ]

        # MAC core.
        # ---------
        self.core = core = datapath(MACCore(phy, phy_cd, tx_stamps.mark_bits if tx_stamps else 0,
            idle=options.launch))

        # Receive.
        # --------
        self.rx_fifo   = datapath(FrameFIFO(options.rx_order, rx_frame(options), options.max_frames))
        self.rx_queues = datapath(RxQueues(self.rx_fifo, options.queues))
        self.flows     = None
        if options.flows:
            self.flows  = datapath(Flows(options))
            self.ticker = Ticker()
            self.flows.connect_registers(regs, self.ticker)
        self.receive   = receive = datapath(Receive(self.rx_fifo, options, rx_stamp, self.flows))
        self.comb += core.source.connect(receive.sink)

        # Transmit.
        # ---------
        checksum = checksums = None
        if options.tx_checksum:
            self.tx_checksum = checksum = datapath(TxChecksum(options.max_frames))
            checksums = checksum.source
        self.tx_fifo   = tx_frames = datapath(FrameFIFO(options.tx_order, tx_frame(options), options.max_frames))
        self.tx_queues = datapath(TxQueues(self.tx_fifo, checksum,
            1 if options.scheduled else options.queues, options.flows > 0))
        sides = [self.tx_queues] # Those of the Tx FIFOs.
        if options.scheduled:
            sides += self._further_fifos(options, datapath)
            fifos = [side.fifo for side in sides]
            self.launches = self.gates = self.shapers = None
            if options.launch:
                limits = Limits(phy, phy_cd, sys_clk_freq, gated=options.gates > 0)
                self.launches = Launches(fifos, self.clock, limits)
            if options.gates:
                self.gates = Gates(self.launches, self.clock, limits, options.gates)
                self.gates.connect_registers(regs)
            if options.shaper:
                self.shapers = Shapers(fifos, self.gates)
                self.shapers.connect_registers(regs)
            self.scheduler = tx_frames = datapath(Scheduler(fifos, self.launches,
                checksum and [side.checksum.source for side in sides], self.gates, self.shapers))
            checksums = tx_frames.checksums
        if options.pause:
            self.pause_source = tx_frames = datapath(PauseSource(tx_frames, checksums))
            checksums = tx_frames.checksums
        self.transmit = transmit = datapath(Transmit(tx_frames, checksums))
        self.comb += transmit.source.connect(core.sink)
        if options.timestamp:
            tx_stamps.connect(tx_frames, transmit, core)

        # Queues: rings and moderation.
        # -----------------------------
        self.queues = queues = [Queue(number, options, regs, *parts, datapath, moderation)
            for number, parts in enumerate(zip(
                self.rx_queues.queues, sum([side.queues for side in sides], []),
                sum([side.checksums for side in sides], []), ring_stamps))]
        self.submodules += queues
        if options.scheduled:
            self._connect_scheduler(options, regs, tx_stamps)
        for n, side in enumerate(sides):
            side.join([queue.tx_ring for queue in (queues[n:n + 1] if options.scheduled else queues)])
        receive.connect_registers(regs, self._any(queue.rx_ring.enable for queue in queues))
        if options.pause:
            self.pause_source.connect_registers(regs, receive, self.rx_fifo,
                {queue.rx_prefix: queue.rx_ring for queue in queues}, self.flows)
        self.irqs = {}
        for queue in queues:
            for name, line in queue.lines.items():
                self.irqs[name] = Signal(name=f"irq_{name}")
                self.comb += self.irqs[name].eq(line)

        # DMA.
        # ----
        self.reader = datapath(DMAReader(bus, sum([queue.reads  for queue in queues], [])))
        self.writer = datapath(DMAWriter(bus, sum([queue.writes for queue in queues], [])))

        # Statistics: events that can't wait come first.
        # ----------------------------------------------
        counters = receive.counters | transmit.counters
        if options.pause:
            counters |= self.pause_source.counters(transmit)
        if options.rmon:
            self.rmon = datapath(Rmon(receive, transmit))
            counters |= self.rmon.counters
        if options.flows:
            counters |= self.flows.counters
        drops = self.flows.drops if options.flows else {}
        for queue in queues:
            counters |= queue.counters
            drops    |= queue.drops
        if options.launch:
            counters |= {"TX_LAUNCH_LATE": self.scheduler.late}
            drops    |= {"TX_LAUNCH_DROPS": reduce(add, self.scheduler.drops)}
        drops |= {"DMA_ERRORS": self.reader.error + self.writer.error}
        self.statistics = statistics = datapath(Statistics(regs, counters | drops, bursts=drops,
            either=[set(receive.counters) - {"RX_GOOD_OCTETS"}, *sum([queue.causes for queue in queues], [])]))

        # Events: all queues share them. Only one queue has an event in a clock, except for interrupts: an event
        # comes with a frame from the FIFO or with a response of the bus.
        # ------------------------------------------------------------------------------------------------------
        self.rx_interrupts = datapath(OneByOne(*[queue.rx_moderation.raised for queue in queues]))
        self.tx_interrupts = datapath(OneByOne(*[queue.tx_moderation.raised for queue in queues]))
        events = {
            "rx_interrupt":   self.rx_interrupts.pulse,
            "tx_interrupt":   self.tx_interrupts.pulse,
            "rx_completed":   self._any(queue.rx_ring.completions.completion for queue in queues),
            "tx_completed":   self._any(queue.tx_ring.completions.completion for queue in queues),
            "rx_drop_ring":   self._any(queue.rx_ring.drop_ring | queue.rx_ring.drop_buffer for queue in queues),
            "rx_drop_fifo":   receive.fifo_full,
            "rx_drop_error":  receive.fcs_error | receive.undersize | receive.oversize,
            "rx_drop_filter": receive.filtered | receive.tag.foreign if options.vlan else receive.filtered,
        }
        self.comb += self.events.eq(Cat(*[events[name] for name in registers.EVENTS]))

        # Wake-up: whether anything may change at the coming edge.
        # --------------------------------------------------------
        awake = [part.awake for part in (regs, core, self.rx_fifo, receive, self.tx_fifo, transmit, self.reader,
            self.writer, statistics, self.rx_interrupts, self.tx_interrupts)]
        awake += [queue.datapath_awake for queue in queues]
        if options.pause:
            awake.append(self.pause_source.awake)
        if options.scheduled:
            awake += [self.scheduler.awake, *[side.fifo.awake for side in sides[1:]]]
        if options.timestamp:
            awake.append(tx_stamps.awake)
        if options.flows:
            awake += [self.flows.awake, self.forwarding]
        self.comb += [
            self.datapath_awake.eq(ResetSignal() | self._any(awake)),
            self.moderation_awake.eq(ResetSignal() | self._any(queue.moderation_awake for queue in queues)),
        ]

    def _further_fifos(self, options, datapath):
        """The TxQueues of further Tx FIFOs: each has one ring."""
        sides = []
        for n in range(1, options.queues):
            checksum = datapath(TxChecksum(options.max_frames)) if options.tx_checksum else None
            fifo     = datapath(FrameFIFO(options.tx_order, tx_frame(options), options.max_frames))
            side     = datapath(TxQueues(fifo, checksum, 1))
            for name, part in {"checksum": checksum, "fifo": fifo, "queues": side}.items():
                if part is not None:
                    setattr(self, f"tx_{name}{n}", part)
            sides.append(side)
        return sides

    def _connect_scheduler(self, options, regs, stamps):
        scheduler, launches = self.scheduler, self.launches
        if launches:
            self.comb += [
                launches.now.ahead.eq(regs.value["LAUNCH_AHEAD"]),
                launches.octet.eq(regs.value["LINK_OCTET"]),
                launches.free.eq(self.core.free),
                scheduler.free.eq(self.core.free),
                scheduler.enables.eq(Cat(*[queue.tx_ring.enable for queue in self.queues])),
                stamps.drops.eq(scheduler.lost),
            ]
        if options.pause:
            self.comb += scheduler.may.eq(~self.pause_source.own & ~self.pause_source.hold)

    def get_csrs(self):
        return [] # Everything is in the register file.

    @staticmethod
    def _any(signals):
        return reduce(or_, signals)

    def _describe(self, options, phy, sys_clk_freq):
        """Connects the registers that describe the instance to software."""
        value, features = self.registers.value, registers.value("FEATURES", options.told("FEATURES"))
        self.comb += [
            value["ID"].eq(registers.ID),
            value["VERSION"].eq(registers.value("VERSION", {
                "MAJOR": registers.MAJOR,
                "MINOR": registers.MINOR if features else registers.PLAIN_MINOR,
            })),
            value["CLOCK_HZ"].eq(int(sys_clk_freq)),
            value["CAPABILITY"].eq(registers.value("CAPABILITY", {
                "MAX_RING_ORDER": registers.MAX_RING_ORDER,
                "TIMER_BITS":     registers.TIMER_BITS,
                "RX_FIFO_ORDER":  options.rx_order,
                "TX_FIFO_ORDER":  options.tx_order,
                "RATES":          int(getattr(phy, "rates", False)),
                **options.told("CAPABILITY"),
            })),
        ]
        if features:
            self.comb += value["FEATURES"].eq(features)
