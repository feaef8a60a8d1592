# SPDX-License-Identifier: BSD-2-Clause
"""An interrupt line of the MAC as LiteX wants it: with an EventManager."""

from litex.gen import LiteXModule
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import Constant


class InterruptLine(LiteXModule):
    """`line` behind LiteX's registers of an event.

    They let it pass from reset on, unlike others: the MAC's own registers arm and mask its interrupts
    (REARM, DISARM), with which its Linux driver does without these. Software that prefers LiteX's way
    may write 0 to `ev_enable` all the same.
    """

    def __init__(self, line, name):
        self.ev = EventManager()
        event = EventSourceLevel(name=name, description=f"The MAC's {name} interrupt stands.")
        setattr(self.ev, name, event)
        self.ev.finalize()
        self.ev.enable.storage.reset = Constant(1)

        # # #

        self.comb += event.trigger.eq(line)
