# SPDX-License-Identifier: BSD-2-Clause
"""One queue: a ring in each direction, their moderation, their interrupts and their registers."""

from migen import *

from litex.gen import *

from moderato.gateware.interrupts.moderation import Moderation
from moderato.gateware.interrupts.pacing     import Pacing
from moderato.gateware.rings.gather_ring     import GatherRing
from moderato.gateware.rings.rx_ring         import RxRing
from moderato.gateware.rings.tx_ring         import TxRing

# Queue --------------------------------------------------------------------------------------------

class Queue(LiteXModule):
    """Queue `number` of a MAC with `options`. The names of its registers begin with RX and TX, or with RX1 and
    TX1 for queue 1.

    regs      the RegisterFile.
    received  the RxRing's view of the Rx FIFO (queues.py).
    to_send   the TxRing's view of the Tx FIFO and
    checksum  of the TxChecksum, if there is one.
    stamps    the queue's RingStamps, if there are any.
    datapath, moderation
              put a module into the clock domain of that part (see ModeratoMAC).

    lines     interrupts by name: rx, tx; rx1, tx1.
    reads, writes
              ports for the DMA: descriptors before data, so that a ring never waits for its next frame.
    counters  pulses by the name of their counter.
    drops     likewise, pulses that may come in every clock.
    causes    counters of interrupt causes: one list for each direction, in which one pulses at a time.
    """
    def __init__(self, number, options, regs, received, to_send, checksum, stamps, datapath, moderation):
        suffix = str(number) if number else ""
        self.rx_prefix, self.tx_prefix = rx, tx = f"RX{suffix}", f"TX{suffix}"
        ring = GatherRing if options.gather else TxRing
        self.rx_ring = rx_ring = datapath(RxRing(received))
        self.tx_ring = tx_ring = datapath(ring(to_send, options, checksum, stamps))
        self.rx_moderation = rx_moderation = moderation(Moderation())
        self.tx_moderation = tx_moderation = moderation(Moderation())
        self.datapath_awake   = Signal()
        self.moderation_awake = Signal()

        # # #

        # Rings.
        # ------
        rx_ring.connect_registers(regs, rx)
        tx_ring.connect_registers(regs, tx)
        self.comb += [
            regs.field("STATUS", f"{rx}_IDLE").eq(rx_ring.idle & ~received.held),
            regs.field("STATUS", f"{tx}_IDLE").eq(tx_ring.idle),
        ]
        if options.vlan:
            self.comb += tx_ring.insert.eq(regs.field("VLAN", "INSERT"))
        self.reads  = [rx_ring.fetcher.port, tx_ring.fetcher.port, tx_ring.data]
        self.writes = [rx_ring.data, rx_ring.completions.port, tx_ring.completions.port]

        # Moderation.
        # -----------
        rx_moderation.connect_registers(regs, rx, rx_ring)
        tx_moderation.connect_registers(regs, tx, tx_ring)
        rx_timer, pacing_awake = regs.value[f"{rx}_ABSOLUTE_TIMER"], 0
        if options.pacing:
            self.pacing = pacing = moderation(Pacing())
            pacing.connect_registers(regs, rx, rx_moderation, rx_ring)
            rx_timer, pacing_awake = pacing.delay, pacing.awake
        self.comb += [
            rx_moderation.absolute_timer.eq(rx_timer),
            tx_moderation.absolute_timer.eq(regs.value[f"{tx}_ABSOLUTE_TIMER"]),
        ]
        self.lines = {f"rx{suffix}": rx_moderation.line, f"tx{suffix}": tx_moderation.line}

        # Counters.
        # ---------
        self.counters = rx_moderation.counters(rx) | tx_moderation.counters(tx)
        self.causes   = [rx_moderation.causes(rx), tx_moderation.causes(tx)]
        self.drops    = {
            f"{rx}_DROP_BUFFER": rx_ring.drop_buffer,
            f"{tx}_DROP_LENGTH": tx_ring.drop_length,
            f"{rx}_DROP_RING":   rx_ring.drop_ring,
        }

        # Wake-up: whether anything may change at the coming edge.
        # --------------------------------------------------------
        self.comb += [
            self.datapath_awake.eq(rx_ring.awake | tx_ring.awake | rx_moderation.raised | tx_moderation.raised),
            self.moderation_awake.eq(rx_moderation.awake | tx_moderation.awake | pacing_awake),
        ]
