# SPDX-License-Identifier: BSD-2-Clause
"""Counters: 32 bits, wrapping; the driver widens them."""

from migen import *

from litex.gen import *

# Statistics ---------------------------------------------------------------------------------------

class Statistics(LiteXModule):
    """Adds to counters in the register file.

    value: name -> Signal of the register file.
    """
    def __init__(self, value):
        self.value = value

    def count(self, name, pulse, amount=1):
        """Adds `amount` to the counter `name` in each clock in which `pulse` is set."""
        counter = self.value[name]
        self.sync += If(pulse, counter.eq(counter + amount))
