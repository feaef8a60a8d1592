# SPDX-License-Identifier: BSD-2-Clause
"""Moderato: an Ethernet MAC with descriptor rings in memory and interrupt moderation in hardware.

    PHY ─ MACCore ── Receive ── FrameFIFO ─ RxRing ─┐
        preamble,    FCS, filter                    ├─ DMA ─ AXI4 ─ memory
    PHY ─ MACCore ── Transmit ─ FrameFIFO ─ TxRing ─┘
        gap, clocks  padding, FCS              └─ completions ─ Moderation ─ interrupt lines
"""

from functools import reduce
from operator  import and_, or_

from migen import *

from litex.gen import *

from litex.soc.interconnect import axi

from moderato.gateware               import registers
from moderato.gateware.checksum      import TxChecksum
from moderato.gateware.completions   import IN_FLIGHT
from moderato.gateware.dma           import DMAReader, DMAWriter
from moderato.gateware.frame_fifo    import FrameFIFO
from moderato.gateware.gather_ring   import GatherRing
from moderato.gateware.mac_core      import MACCore
from moderato.gateware.moderation    import Moderation
from moderato.gateware.pacing        import Pacing
from moderato.gateware.pause         import PauseTimer
from moderato.gateware.pause_source  import PauseSource
from moderato.gateware.ptp_clock     import PeriodicOutput, PTPClock
from moderato.gateware.queues        import OneByOne, RxQueues, TxQueues
from moderato.gateware.receive       import (Receive, rx_frame_param, rx_merge_param, rx_queue_param, rx_stamp_param,
    rx_sum_param, rx_tag_param)
from moderato.gateware.register_file import RegisterFile
from moderato.gateware.rmon          import Destination, lengths
from moderato.gateware.rx_ring       import RxRing
from moderato.gateware.statistics    import Statistics
from moderato.gateware.timestamp     import RxStamp, TxStamps
from moderato.gateware.transmit      import Transmit
from moderato.gateware.tx_ring       import TxRing, tx_frame_param, tx_place_param, tx_stamp_param, tx_tag_param

# Moderato MAC -------------------------------------------------------------------------------------

# Of the system clock, for each octet time of the wire. receive.py takes 22 for a frame whose turn is 87
# octets, and fewer an octet for all others. transmit.py makes up to four without a word shortly before a
# frame's end: that many octets must wait in mac_core.py's FIFO by then, or the frame would break off.
# Many pieces of a short frame, and short segments, take more (docs/segmentation.md): they leave later.
CLOCKS_PER_OCTET = 0.3

# Of FIFOs with room for a jumbo frame, and for what comes or leaves until it has moved on.
JUMBO_ORDER = 14


def min_sys_clk_freq(phy):
    """The slowest system clock, in Hz, that keeps up with the PHY; 0 if the PHY tells no rate."""
    return phy.dw/8*getattr(phy, "rx_clk_freq", 0)*CLOCKS_PER_OCTET


PARTS = ("datapath", "moderation") # Each can have a clock domain of its own: PART_cd, PART_awake.


class ModeratoMAC(LiteXModule):
    """The MAC.

    phy            a LiteEth PHY, 8, 16 or 32 bits wide.
    sys_clk_freq   Hz, told to the driver for its timers. Must carry the PHY's rate (min_sys_clk_freq).
    phy_cd         prefix of the PHY's clock domains (phy_cd_rx, phy_cd_tx); "sys" puts all in sys.
    rx_fifo_order, tx_fifo_order
                   the frame FIFOs hold 2**order bytes; a frame must fit.
    jumbo          they hold 16 KiB each: enough for the line rate with frames of up to 9022 octets.
    max_frames     and so many frames each, more than four.
    urgent         frames that match a rule raise their interrupt at once (urgent.py).
    pacing         Rx moderation can adapt itself (pacing.py).
    rx_checksum    received frames are summed (checksum.py).
    tx_checksum    checksums are inserted into sent frames.
    unicast        so many addresses beside the station's own are accepted, up to 8 (filter.py).
    pause          pause frames can be obeyed and sent (pause.py, pause_source.py).
    rmon           frames are counted by length and destination, too (rmon.py).
    vlan           VLAN tags can be taken out, put in, and filtered by (vlan.py).
    timestamp      a clock, and frames stamped with it (ptp_clock.py, timestamp.py).
    queues         so many in each direction, 1 or 2, each with a ring, moderation and an interrupt; which
                   one a received frame is for, a hash of its flow says (queues.py, rss.py).
    gather         sent frames can be in several pieces (gather_ring.py).
    segment        and TCP packets are cut into segments (segmenter.py); needs tx_checksum, too.
    merge          received TCP segments that continue the frame before are marked (merge.py); needs
                   rx_checksum, too.

    datapath_cd, moderation_cd
                   clock domains of the two parts: "sys", or one with the same clock whose edges may
                   be left out where `datapath_awake` or `moderation_awake` is 0, for nothing would
                   come of them.

    bus            registers, 32-bit Wishbone, 4 KiB.
    dma            AXI4 master, 64-bit, INCR bursts that stay in a 64-byte line, one ID.
    irq_rx, irq_tx level interrupts, of queue 0.
    irqs           all of them, by name: those as rx and tx, of queue 1 as rx1 and tx1.
    events         one-clock pulses in the order of registers.EVENTS.
    time_output    the periodic output of the clock.
    datapath_awake, moderation_awake
                   what such a gate goes by. A PHY with clocks of its own keeps the datapath awake.
    """
    def __init__(self, phy, sys_clk_freq, phy_cd="eth", rx_fifo_order=13, tx_fifo_order=12,
        max_frames=64, urgent=False, pacing=False, rx_checksum=False, tx_checksum=False,
        unicast=0, pause=False, jumbo=False, rmon=False, vlan=False, timestamp=False, queues=1,
        gather=False, segment=False, merge=False,
        datapath_cd="sys", moderation_cd="sys"):
        if jumbo:
            rx_fifo_order, tx_fifo_order = max(rx_fifo_order, JUMBO_ORDER), max(tx_fifo_order, JUMBO_ORDER)
        for name, order in (("rx_fifo_order", rx_fifo_order), ("tx_fifo_order", tx_fifo_order)):
            if not 11 <= order <= 14:
                raise ValueError(f"{name} must be 11 (2 KiB, one frame) to 14 (16 KiB), not {order}.")
        if not 0 <= unicast <= registers.MAX_UNICAST:
            raise ValueError(f"unicast must be 0 to {registers.MAX_UNICAST} addresses, not {unicast}.")
        if not 1 <= queues <= registers.MAX_QUEUES:
            raise ValueError(f"queues must be 1 or {registers.MAX_QUEUES}, not {queues}.")
        if segment and not (gather and tx_checksum):
            raise ValueError("segment needs gather and tx_checksum.")
        if merge and not rx_checksum:
            raise ValueError("merge needs rx_checksum.")
        if max_frames <= IN_FLIGHT:
            raise ValueError(f"max_frames must be more than the {IN_FLIGHT} frames that may be under way, not "
                f"{max_frames}: nothing would ever be sent.")
        if sys_clk_freq < min_sys_clk_freq(phy):
            raise ValueError(f"sys_clk_freq must be {min_sys_clk_freq(phy)/1e6:.1f} MHz at least for the rate "
                f"of {type(phy).__name__}, not {sys_clk_freq/1e6:.1f} MHz.")
        self.dma    = bus = axi.AXIInterface(data_width=64, address_width=32, id_width=1)
        self.irq_rx = Signal()
        self.irq_tx = Signal()
        self.irqs   = {"rx": self.irq_rx, "tx": self.irq_tx}
        self.events = Signal(len(registers.EVENTS))
        self.time_output = Signal()

        self.datapath_awake   = Signal()
        self.moderation_awake = Signal()

        # # #

        datapath = ClockDomainsRenamer(datapath_cd)

        # Registers.
        # ----------
        features = sum(number << self._bits("FEATURES", field).lsb for field, number in (
            ("RX_CHECKSUM", int(rx_checksum)),
            ("TX_CHECKSUM", int(tx_checksum)),
            ("PAUSE",       int(pause)),
            ("JUMBO",       int(jumbo)),
            ("RMON",        int(rmon)),
            ("VLAN",        int(vlan)),
            ("VLAN_FILTER", int(vlan)),
            ("UNICAST",     unicast),
            ("TIMESTAMP",   int(timestamp)),
            ("QUEUES",      queues - 1),
            ("GATHER",      int(gather)),
            ("SEGMENT",     int(segment)),
            ("MERGE",       int(merge)),
        ))
        self.registers = regs = datapath(RegisterFile([
            *[option for option, wanted in (("urgent", urgent), ("pacing", pacing), ("pause", pause),
                ("rmon", rmon), ("vlan", vlan), ("timestamp", timestamp), ("features", features),
                ("queues", queues > 1), ("queues_pacing", queues > 1 and pacing)) if wanted],
            *[f"unicast_{n}" for n in range(unicast)]]))
        self.bus       = regs.bus
        value = regs.value

        # MAC core.
        # ---------
        rx_stamp = tx_stamps = None
        if timestamp:
            rx_stamp, tx_stamps = self._add_clock(phy, phy_cd, datapath, max_frames, queues)
        self.core = core = datapath(MACCore(phy, phy_cd, tx_stamps.mark_bits if timestamp else 0))

        # Receive.
        # --------
        rx_param = rx_frame_param + (rx_sum_param if rx_checksum else []) + (rx_tag_param if vlan else []) + \
            (rx_stamp_param if timestamp else []) + (rx_merge_param if merge else [])
        self.rx_fifo = datapath(FrameFIFO(rx_fifo_order, rx_param + (rx_queue_param if queues > 1 else []), max_frames))
        self.receive = receive = datapath(Receive(self.rx_fifo, registers.URGENT_COMPARISONS if urgent else 0,
            rx_checksum, unicast, pause, vlan, rx_stamp.stamp if timestamp else None, queues > 1,
            merge))
        rx_queues = [self.rx_fifo]
        if queues > 1:
            self.rx_queues = datapath(RxQueues(self.rx_fifo, rx_param))
            rx_queues = self.rx_queues.queues
        self.rx_ring = rx_ring = datapath(RxRing(rx_queues[0]))
        self.rx_rings = [rx_ring]
        rx_enable     = self._field("CTRL", "RX_ENABLE")
        if queues > 1:
            self.rx1_ring = datapath(RxRing(rx_queues[1]))
            self.rx_rings.append(self.rx1_ring)
            self._add_rss()
            rx_enable = rx_enable | self._field("CTRL", "RX1_ENABLE")
        self.comb += [
            core.source.connect(receive.sink),
            receive.enable.eq(rx_enable),
            receive.max_frame.eq(value["MAX_FRAME"]),
            receive.filter.station.eq(Cat(value["MAC_LOW"], value["MAC_HIGH"])),
            receive.filter.hash.eq(Cat(value["HASH_LOW"], value["HASH_HIGH"])),
            receive.filter.promiscuous.eq(self._field("CTRL", "PROMISCUOUS")),
            receive.filter.allmulti.eq(self._field("CTRL", "ALLMULTI")),
        ]
        for n, further in enumerate(receive.filter.further):
            self.comb += [
                further.on.eq(self._field(f"UNICAST_HIGH_{n}", "ON")),
                further.address.eq(Cat(value[f"UNICAST_LOW_{n}"], self._field(f"UNICAST_HIGH_{n}", "OCTETS"))),
            ]
        if urgent:
            self.comb += receive.urgent.together.eq(self._field("URGENT", "TOGETHER"))
        for n, comparison in enumerate(receive.urgent.comparisons):
            self.comb += [
                comparison.on.eq(self._field("URGENT", f"ON_{n}")),
                comparison.word.eq(self._field("URGENT", f"WORD_{n}")),
                comparison.value.eq(value[f"URGENT_VALUE_{n}"]),
                comparison.mask.eq(value[f"URGENT_MASK_{n}"]),
            ]

        # Transmit.
        # ---------
        tx_param, checksum, checksums = tx_frame_param, None, None
        if tx_checksum:
            self.tx_checksum    = checksum = datapath(TxChecksum(max_frames))
            tx_param, checksums = tx_frame_param + tx_place_param, checksum.source
        tx_param      = tx_param + (tx_tag_param if vlan else []) + (tx_stamp_param(queues) if timestamp else [])
        self.tx_fifo  = datapath(FrameFIFO(tx_fifo_order, tx_param, max_frames))

        def tx_ring(fifo, most, checksum, n=0):
            stamps = tx_stamps.rings[n] if timestamp else None
            if gather:
                return GatherRing(fifo, tx_fifo_order, most, checksum, vlan, stamps, segment)
            return TxRing(fifo, tx_fifo_order, most, checksum, vlan, stamps)

        if queues > 1:
            self.tx_queues = datapath(TxQueues(self.tx_fifo, tx_param, max_frames, checksum, tx_ring))
            self.tx_rings  = self.tx_queues.rings
            self.tx1_ring  = self.tx_rings[1]
        else:
            self.tx_rings = [datapath(tx_ring(self.tx_fifo, max_frames, checksum))]
        self.tx_ring = tx_ring = self.tx_rings[0]
        tx_frames = self.tx_fifo
        if pause:
            self.pause_source = tx_frames = datapath(PauseSource(self.tx_fifo, tx_param, checksums))
            checksums = tx_frames.checksums
        self.transmit = transmit = datapath(Transmit(tx_frames, checksums, vlan))
        self.comb += transmit.source.connect(core.sink)
        if timestamp:
            self.comb += [
                receive.stamping.eq(self._field("TIME_CTRL", "RX")),
                tx_stamps.asks.eq(tx_frames.head.stamp),
                tx_stamps.sent.eq(transmit.sent),
                core.mark.eq(tx_stamps.mark),
                tx_stamps.marked.eq(core.marked),
            ]

        # VLANs.
        # ------
        if vlan:
            self.comb += [
                receive.tag.strip.eq(self._field("VLAN", "STRIP")),
                receive.select.eq(self._field("VLAN", "FILTER")),
                receive.members.write.eq(regs.strobe["VLAN_TABLE"]),
                Cat(receive.members.members, receive.members.row).eq(regs.data),
                [ring.insert.eq(self._field("VLAN", "INSERT")) for ring in self.tx_rings],
            ]

        # Pause.
        # ------
        transmit_awake = transmit.awake
        if timestamp:
            transmit_awake = transmit_awake | tx_stamps.awake
        if pause:
            transmit_awake = transmit_awake | self._add_pause(datapath, max_frames)

        # DMA: descriptors before data, so that a ring never waits for its next frame.
        # ----------------------------------------------------------------------------
        reads  = [rx_ring.fetcher.port, tx_ring.fetcher.port, tx_ring.data]
        writes = [rx_ring.data, rx_ring.completions.port, tx_ring.completions.port]
        if queues > 1:
            rx1, tx1 = self.rx1_ring, self.tx1_ring
            reads  += [rx1.fetcher.port, tx1.fetcher.port, tx1.data]
            writes += [rx1.data, rx1.completions.port, tx1.completions.port]
        self.reader = datapath(DMAReader(bus, reads))
        self.writer = datapath(DMAWriter(bus, writes))

        # Moderation.
        # -----------
        self.rx_moderation = self._add_direction("RX", rx_ring, moderation_cd)
        self.tx_moderation = self._add_direction("TX", tx_ring, moderation_cd)
        rx_absolute_timer = value["RX_ABSOLUTE_TIMER"]
        pacing_awake = 0
        if pacing:
            self.pacing = ClockDomainsRenamer(moderation_cd)(Pacing())
            rx_absolute_timer, pacing_awake = self._connect_pacing("RX", self.pacing, self.rx_moderation, rx_ring)
        self.comb += [
            self.rx_moderation.absolute_timer.eq(rx_absolute_timer),
            self.tx_moderation.absolute_timer.eq(value["TX_ABSOLUTE_TIMER"]),
            self.irq_rx.eq(self.rx_moderation.line),
            self.irq_tx.eq(self.tx_moderation.line),
        ]
        if queues > 1:
            further_awake = self._add_moderations_1(moderation_cd, pacing)
            pacing_awake  = pacing_awake | further_awake

        # What software reads.
        # --------------------
        rx_idle = rx_ring.idle
        if queues > 1:
            rx_idle, rx1_idle = [ring.idle & (queue.frames == 0) for ring, queue in zip(self.rx_rings, rx_queues)]
            self.comb += [
                self._field("STATUS", "RX1_IDLE").eq(rx1_idle),
                self._field("STATUS", "TX1_IDLE").eq(self.tx1_ring.idle),
                self._field("STATUS", "RX1_HALTED").eq(self.rx1_ring.halted),
                self._field("STATUS", "TX1_HALTED").eq(self.tx1_ring.halted),
            ]
        self.comb += [
            value["ID"].eq(registers.ID),
            value["VERSION"].eq((registers.MAJOR << 16) | (registers.MINOR if features else registers.PLAIN_MINOR)),
            value["CLOCK_HZ"].eq(int(sys_clk_freq)),
            value["CAPABILITY"].eq(sum(number << self._bits("CAPABILITY", field).lsb for field, number in (
                ("MAX_RING_ORDER", registers.MAX_RING_ORDER),
                ("TIMER_BITS",     registers.TIMER_BITS),
                ("RX_FIFO_ORDER",  rx_fifo_order),
                ("TX_FIFO_ORDER",  tx_fifo_order),
                ("URGENT",         int(urgent)),
                ("PACING",         int(pacing)),
                ("RATES",          int(getattr(phy, "rates", False))),
            ))),
            self._field("STATUS", "RX_IDLE").eq(rx_idle),
            self._field("STATUS", "TX_IDLE").eq(tx_ring.idle),
            self._field("STATUS", "RX_HALTED").eq(rx_ring.halted),
            self._field("STATUS", "TX_HALTED").eq(tx_ring.halted),
        ]
        if features:
            self.comb += value["FEATURES"].eq(features)
        if pause:
            self.comb += [
                self._field("STATUS", "TX_PAUSED").eq(self.pause_timer.running),
                self._field("STATUS", "RX_PAUSED").eq(self.pause_source.stopped),
            ]

        # Statistics: what can't wait stands first.
        # -----------------------------------------
        drops = {
            "RX_DROP_BUFFER": rx_ring.drop_buffer,
            "TX_DROP_LENGTH": tx_ring.drop_length,
            "RX_DROP_RING":   rx_ring.drop_ring,
        }
        if queues > 1:
            drops |= {
                "RX1_DROP_BUFFER": self.rx1_ring.drop_buffer,
                "TX1_DROP_LENGTH": self.tx1_ring.drop_length,
                "RX1_DROP_RING":   self.rx1_ring.drop_ring,
            }
        self.statistics = statistics = datapath(Statistics(regs, {
            "RX_FCS_ERRORS":  receive.fcs_error,
            "RX_UNDERSIZE":   receive.undersize,
            "RX_OVERSIZE":    receive.oversize,
            "RX_FILTERED":    receive.filtered,
            "RX_DROP_FIFO":   receive.fifo_full,
            "RX_GOOD_FRAMES": receive.good,
            "RX_GOOD_OCTETS": (receive.good, receive.octets),
            "TX_GOOD_FRAMES": transmit.sent,
            "TX_GOOD_OCTETS": (transmit.sent, transmit.octets),
            **({
                "RX_PAUSE_FRAMES":    receive.paused,
                "RX_CONTROL_UNKNOWN": receive.unknown,
                "TX_PAUSE_FRAMES":    transmit.sent & self.pause_source.own,
            } if pause else {}),
            **({"RX_VLAN_FILTERED": receive.foreign} if vlan else {}),
            **(self._add_rmon(datapath, pause, vlan) if rmon else {}),
            **self._interrupts("RX", self.rx_moderation),
            **self._interrupts("TX", self.tx_moderation),
            **({
                **self._interrupts("RX1", self.rx1_moderation),
                **self._interrupts("TX1", self.tx1_moderation),
            } if queues > 1 else {}),
            **drops,
            "DMA_ERRORS":     self.reader.error + self.writer.error,
        }, bursts={*drops, "DMA_ERRORS"}))

        # Events.
        # -------
        events = {
            "rx_interrupt":   self.rx_moderation.raised,
            "tx_interrupt":   self.tx_moderation.raised,
            "rx_completed":   rx_ring.completions.completion,
            "tx_completed":   tx_ring.completions.completion,
            "rx_drop_ring":   rx_ring.drop_ring | rx_ring.drop_buffer,
            "rx_drop_fifo":   receive.fifo_full,
            "rx_drop_error":  receive.fcs_error | receive.undersize | receive.oversize,
            "rx_drop_filter": receive.filtered | receive.foreign if vlan else receive.filtered,
        }
        if queues > 1:
            self._add_events(events, datapath)
        self.comb += self.events.eq(Cat(*[events[name] for name in registers.EVENTS]))

        # What may happen at the coming edge.
        # -----------------------------------
        if queues > 1:
            transmit_awake = transmit_awake | self._datapath_1_awake()
        self.comb += [
            self.datapath_awake.eq(ResetSignal() | regs.awake | core.awake |
                receive.awake | rx_ring.awake | transmit_awake | tx_ring.awake |
                self.reader.awake | self.writer.awake | statistics.awake |
                self.rx_moderation.raised | self.tx_moderation.raised),
            self.moderation_awake.eq(ResetSignal() |
                self.rx_moderation.awake | self.tx_moderation.awake | pacing_awake),
        ]

    def get_csrs(self):
        return [] # Everything is in the register file.

    @staticmethod
    def _bits(register, field):
        """The entry of a field in the register table."""
        [reg] = [r for r in registers.registers() if r.name == register]
        [bits] = [f for f in reg.fields if f.name == field]
        return bits

    def _field(self, register, field):
        """The signal of a field in the register file."""
        bits = self._bits(register, field)
        return self.registers.value[register][bits.lsb:bits.lsb + bits.width]

    def _add_direction(self, prefix, ring, cd):
        """Connects a ring and its moderation to the registers of their direction."""
        value, strobe, data = self.registers.value, self.registers.strobe, self.registers.data
        moderation = ClockDomainsRenamer(cd)(Moderation())
        self.comb += [
            # Ring.
            ring.enable.eq(self._field("CTRL", f"{prefix}_ENABLE")),
            ring.base.eq(value[f"{prefix}_RING_BASE"]),
            ring.order.eq(value[f"{prefix}_RING_ORDER"]),
            ring.fetcher.doorbell.eq(strobe[f"{prefix}_DOORBELL"]),
            ring.fetcher.doorbell_index.eq(data[:registers.INDEX_BITS]),

            # Moderation.
            moderation.completion.eq(ring.completions.completion),
            moderation.request.eq(ring.completions.request),
            moderation.silent.eq(ring.completions.silent),
            moderation.clear.eq(ring.idle),
            moderation.halted.eq(ring.halted & self._field("CTRL", "HALT_INTERRUPT")),
            moderation.rearm.eq(strobe[f"{prefix}_REARM"]),
            moderation.rearm_index.eq(data[:registers.INDEX_BITS]),
            moderation.disarm.eq(strobe[f"{prefix}_DISARM"]),
            moderation.frames.eq(value[f"{prefix}_FRAMES"]),
            moderation.packet_timer.eq(value[f"{prefix}_PACKET_TIMER"]),
            moderation.gap.eq(value[f"{prefix}_GAP"]),

            # State.
            value[f"{prefix}_COMPLETED"].eq(moderation.completed),
            self._field(f"{prefix}_MODERATION", "UNREPORTED").eq(moderation.unreported),
            self._field(f"{prefix}_MODERATION", "ARMED").eq(moderation.armed),
            self._field(f"{prefix}_MODERATION", "LINE").eq(moderation.line),
        ]
        return moderation

    def _add_clock(self, phy, phy_cd, datapath, max_frames, queues):
        """The clock, which goes on while the datapath's stands still; returns what stamps frames."""
        value, strobe, data = self.registers.value, self.registers.strobe, self.registers.data
        self.clock  = clock  = PTPClock()
        self.output = output = PeriodicOutput()
        now = Cat(value["TIME_LOW"], value["TIME_HIGH"])

        def commanded(name):
            return strobe["TIME_COMMAND"] & data[self._bits("TIME_COMMAND", name).lsb]

        self.comb += [
            clock.increment.eq(Cat(value["TIME_INCREMENT"], value["TIME_INCREMENT_NS"])),
            clock.tune.eq(strobe["TIME_INCREMENT"]),
            clock.value.eq(now),
            clock.set.eq(commanded("SET")),
            clock.step.eq(commanded("STEP")),
            clock.latch.eq(commanded("READ")),
            Cat(value["TIME_NOW_LOW"], value["TIME_NOW_HIGH"]).eq(clock.latched),
            output.time.eq(clock.time),
            output.on.eq(self._field("TIME_CTRL", "OUTPUT")),
            output.start.eq(commanded("START")),
            output.begin.eq(now),
            output.period.eq(value["TIME_PERIOD"]),
            output.width.eq(value["TIME_WIDTH"]),
            self.time_output.eq(output.level),
        ]
        rx, tx = ("sys", "sys") if phy_cd == "sys" else (f"{phy_cd}_rx", f"{phy_cd}_tx")
        self.rx_stamp  = datapath(ClockDomainsRenamer({"wire": rx})(RxStamp(clock, phy.source, phy_cd == "sys")))
        self.tx_stamps = datapath(ClockDomainsRenamer({"wire": tx})(TxStamps(clock, phy.sink, phy_cd == "sys",
            max_frames, queues)))
        return self.rx_stamp, self.tx_stamps

    def _add_rss(self):
        """Connects what chooses the queue of a received frame."""
        value, strobe, rss = self.registers.value, self.registers.strobe, self.receive.rss
        keys = [strobe[f"RSS_KEY_{n}"] for n in range(registers.RSS_KEY_WORDS)]
        self.comb += [
            rss.types.eq(value["RSS_TYPES"]),
            rss.indirection.eq(Cat(*[value[f"RSS_TABLE_{n}"] for n in range(2**registers.RSS_TABLE_BITS//32)])),
            rss.on.eq(Cat(self._field("CTRL", "RX_ENABLE"), self._field("CTRL", "RX1_ENABLE"))),
            rss.key_write.eq(reduce(or_, keys)),
            [If(key, rss.key_word.eq(n)) for n, key in enumerate(keys)],
            rss.key_data.eq(self.registers.data),
        ]

    def _connect_pacing(self, prefix, pacing, moderation, ring):
        """Connects what adapts an Rx moderation; returns its absolute timer, and when it is awake."""
        value = self.registers.value
        self.comb += [
            pacing.least.eq(value[f"{prefix}_ABSOLUTE_TIMER"]),
            pacing.longest.eq(value[f"{prefix}_PACING_LONGEST"]),
            pacing.busy.eq(~moderation.armed),
            pacing.clear.eq(ring.idle),
            value[f"{prefix}_PACING"].eq(pacing.level),
        ]
        return pacing.delay, pacing.awake

    def _add_moderations_1(self, cd, pacing):
        """Those of queue 1, and its interrupts; returns when they are awake."""
        value = self.registers.value
        self.rx1_moderation = rx = self._add_direction("RX1", self.rx1_ring, cd)
        self.tx1_moderation = tx = self._add_direction("TX1", self.tx1_ring, cd)
        absolute_timer, awake = value["RX1_ABSOLUTE_TIMER"], rx.awake | tx.awake
        if pacing:
            self.pacing1 = ClockDomainsRenamer(cd)(Pacing())
            absolute_timer, pacing_awake = self._connect_pacing("RX1", self.pacing1, rx, self.rx1_ring)
            awake = awake | pacing_awake
        self.irqs |= {"rx1": Signal(name="irq_rx1"), "tx1": Signal(name="irq_tx1")}
        self.comb += [
            rx.absolute_timer.eq(absolute_timer),
            tx.absolute_timer.eq(value["TX1_ABSOLUTE_TIMER"]),
            self.irqs["rx1"].eq(rx.line),
            self.irqs["tx1"].eq(tx.line),
        ]
        return awake

    def _add_events(self, events, datapath):
        """Of both queues in one: but for interrupts, only one comes in a clock, with a frame from the FIFO or
        an answer of the bus."""
        self.rx_interrupts = datapath(OneByOne(self.rx_moderation.raised, self.rx1_moderation.raised))
        self.tx_interrupts = datapath(OneByOne(self.tx_moderation.raised, self.tx1_moderation.raised))
        events["rx_interrupt"]  = self.rx_interrupts.pulse
        events["tx_interrupt"]  = self.tx_interrupts.pulse
        events["rx_completed"] |= self.rx1_ring.completions.completion
        events["tx_completed"] |= self.tx1_ring.completions.completion
        events["rx_drop_ring"] |= self.rx1_ring.drop_ring | self.rx1_ring.drop_buffer

    def _datapath_1_awake(self):
        """Whether what is of queue 1 is."""
        return self.rx1_ring.awake | self.tx1_ring.awake | self.rx_interrupts.awake | self.tx_interrupts.awake | \
            self.rx1_moderation.raised | self.tx1_moderation.raised

    def _add_pause(self, datapath, max_frames):
        """Connects both sides of pause to the registers; returns when it is awake."""
        value, fifo, source = self.registers.value, self.rx_fifo, self.pause_source
        self.pause_timer = timer = datapath(PauseTimer())
        low  = [self._field("PAUSE_FIFO", edge)[3:] for edge in ("STOP", "GO")]
        left = [self._field("PAUSE_RING", edge)     for edge in ("STOP", "GO")]
        takes, short, ample = [], [], []
        for prefix, ring in zip(("RX", "RX1"), self.rx_rings):
            takes.append(self._field("PAUSE", "TX") & self._field("CTRL", f"{prefix}_ENABLE") & ~ring.halted)
            short.append(ring.fetcher.available < left[0])
            ample.append(ring.fetcher.available >= left[1])
        if len(takes) > 1: # One that takes nothing says nothing.
            short = [take & few     for take, few in zip(takes, short)]
            ample = [~take | enough for take, enough in zip(takes, ample)]
        self.comb += [
            # Those of the other end.
            self.receive.obey.eq(self._field("PAUSE", "RX")),
            timer.enable.eq(self._field("PAUSE", "RX")),
            timer.quantum.eq(value["PAUSE_QUANTUM"]),
            timer.start.eq(self.receive.pauses),
            timer.quanta.eq(self.receive.control.quanta),
            source.hold.eq(timer.running),

            # Ours. A ring that is stopped or halted drops what comes: no pause would help.
            source.enable.eq(reduce(or_, takes)),
            source.full.eq((fifo.space < low[0]) | (fifo.frames >= max_frames//3) |
                reduce(or_, short)),
            source.roomy.eq((fifo.space >= low[1]) & (fifo.frames <= max_frames//6) &
                reduce(and_, ample)),
            source.quanta.eq(value["PAUSE_QUANTA"]),
            source.quantum.eq(value["PAUSE_QUANTUM"]),
            source.station.eq(Cat(value["MAC_LOW"], value["MAC_HIGH"])),
        ]
        return timer.running | source.awake

    def _add_rmon(self, datapath, pause, vlan):
        """What rmon.py makes counters of: names and pulses."""
        receive, transmit = self.receive, self.transmit
        self.tx_destination = to = datapath(Destination(transmit.source))
        fates = [receive.good, receive.fcs_error, receive.filtered, receive.fifo_full]
        if pause:
            fates += [receive.paused, receive.unknown]
        if vlan:
            fates += [receive.foreign]
        counted = {
            "RX_FRAGMENTS": receive.undersize & receive.damaged,
            "RX_JABBERS":   receive.oversize & receive.damaged,
            "RX_MULTICAST": receive.good & receive.filter.multicast & ~receive.filter.broadcast,
            "RX_BROADCAST": receive.good & receive.filter.broadcast,
            "TX_MULTICAST": transmit.sent & to.multicast,
            "TX_BROADCAST": transmit.sent & to.broadcast,
        }
        for direction, pulse, octets in (
                ("RX", reduce(or_, fates), receive.octets), ("TX", transmit.sent, transmit.octets)):
            for (first, _), hit in zip(registers.RMON_RANGES, lengths(octets)):
                counted[f"{direction}_OCTETS_{first}"] = pulse & hit
        return counted

    @staticmethod
    def _interrupts(prefix, moderation):
        """What the interrupts of a direction count as."""
        return {
            f"{prefix}_INTERRUPTS":          moderation.raised,
            f"{prefix}_INTERRUPTS_FRAMES":   moderation.by_frames,
            f"{prefix}_INTERRUPTS_PACKET":   moderation.by_packet,
            f"{prefix}_INTERRUPTS_ABSOLUTE": moderation.by_absolute,
            f"{prefix}_INTERRUPTS_REQUEST":  moderation.by_request,
            f"{prefix}_INTERRUPTS_HALTED":   moderation.by_halt,
        }
