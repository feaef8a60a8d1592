# SPDX-License-Identifier: BSD-2-Clause
"""A ring of descriptors, for either direction: it takes descriptors in order and completes each one.

    descriptors ─ DescriptorFetcher ─ the ring's own part ─ Completions ─ status
"""

from migen import *

from litex.gen import *

from moderato.gateware.registers.table   import INDEX_BITS
from moderato.gateware.rings.completions import Completions
from moderato.gateware.rings.descriptor  import DescriptorFetcher

# Ring ---------------------------------------------------------------------------------------------

class Ring(LiteXModule):
    """Every ring's `fsm` has the states STOPPED, where indices are 0; WAIT, for the next descriptor; and DRAIN,
    after the end of `enable`, until nothing is in progress. A subclass adds its own states, and decides when to
    leave STOPPED and WAIT.

    If a descriptor read or a status write fails, the ring is `halted`: it takes no further descriptor until it is
    disabled.

    descriptor  layout of a descriptor (records.py).
    job         layout of the record of a descriptor in progress; job and fields as in Completions.
    stamps      the RingStamps of frames that request one, or None.
    """
    def __init__(self, descriptor, job, fields=(), stamps=None):
        # Settings.
        self.enable = Signal()
        self.base   = Signal(32)
        self.order  = Signal(4)

        # Results.
        self.idle   = Signal()
        self.halted = Signal()
        self.awake  = Signal()

        self.fetcher     = fetcher     = DescriptorFetcher(descriptor)
        self.completions = completions = Completions(job, fields, stamped=stamps is not None,
            lossy=stamps is not None and hasattr(stamps.source, "lost"))
        self.fsm         = fsm         = FSM(reset_state="STOPPED")

        # # #

        fsm.act("STOPPED", completions.restart.eq(1))
        fsm.act("DRAIN", If(completions.idle & fetcher.idle, NextState("STOPPED")))
        self.comb += [
            fetcher.enable.eq(self.enable),
            fetcher.base.eq(self.base),
            fetcher.order.eq(self.order),
            completions.base.eq(self.base),
            completions.order.eq(self.order),
            self.halted.eq(fetcher.failed | completions.failed),
        ]
        # Time stamps. A ring that stops does not wait for them: the link may be down.
        if stamps is not None:
            self.comb += [
                stamps.source.connect(completions.stamps),
                stamps.give_up.eq(~self.enable),
            ]

    def busy(self):
        """Whether the ring does anything but wait."""
        return self.fetcher.awake | ~self.completions.idle | \
            ~Mux(self.enable, self.fsm.ongoing("WAIT"), self.fsm.ongoing("STOPPED"))

    def connect_registers(self, regs, prefix):
        """Connects the registers of a direction, named `prefix`_..."""
        value = regs.value
        self.comb += [
            self.enable.eq(regs.field("CTRL", f"{prefix}_ENABLE")),
            self.base.eq(value[f"{prefix}_RING_BASE"]),
            self.order.eq(value[f"{prefix}_RING_ORDER"]),
            self.fetcher.doorbell.eq(regs.strobe[f"{prefix}_DOORBELL"]),
            self.fetcher.doorbell_index.eq(regs.data[:INDEX_BITS]),
            regs.field("STATUS", f"{prefix}_HALTED").eq(self.halted),
        ]
