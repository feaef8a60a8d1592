# SPDX-License-Identifier: BSD-2-Clause
"""An interrupt line of the MAC, with LiteX's EventManager."""

from litex.gen import LiteXModule
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import Constant


class InterruptLine(LiteXModule):
    """`line` through LiteX's event registers.

    Unlike other events, this one is enabled after reset. The Linux driver does not use these registers:
    the MAC's own registers arm and mask interrupts (REARM, DISARM). Other software may write 0 to
    `ev_enable`.
    """

    def __init__(self, line, name):
        self.ev = EventManager()
        event = EventSourceLevel(name=name, description=f"The MAC's {name} interrupt is active.")
        setattr(self.ev, name, event)
        self.ev.finalize()
        self.ev.enable.storage.reset = Constant(1)

        # # #

        self.comb += event.trigger.eq(line)
