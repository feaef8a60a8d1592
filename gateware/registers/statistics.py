# SPDX-License-Identifier: BSD-2-Clause
"""Counters: 32 bits, wrapping; the driver widens them.

One memory with one adder holds all of them. Registers with an adder each would be the largest part of the MAC
on an FPGA.
"""

from functools import reduce
from operator  import or_

from migen import *

from litex.gen import *

BURST_BITS = 6 # Width of the number of events that wait to be counted.

# Statistics ---------------------------------------------------------------------------------------

class Statistics(LiteXModule):
    """Counts events in the counters of the register file.

    events  by the name of a counter: a pulse that adds 1, or (pulse, amount).
    bursts  by name, events that may come in every clock: the number of events in this clock.
    either  groups of names that never pulse together, such as the fates of a frame. They share one place in the
            queue, that of the first name.

    An event waits for the adder, which takes one in each clock, except while the bus reads a counter (every third
    clock at most). So a counter is up to date some clocks after its event. The first ones in `events` have
    priority. Several events of `bursts` can wait, but only one of each other name: these must be some clocks
    apart, at least as far as frames on a wire for the first ones.

    awake   as in ModeratoMAC, but the caller adds pulses from another clock domain.
    """
    def __init__(self, regs, events, bursts, either=()):
        self.awake = Signal()

        # # #

        names = regs.counters
        assert set(names) == set(events)
        events = {name: event if isinstance(event, tuple) else (event, None)
            for name, event in events.items()}

        # Groups: where their latest one counts.
        # --------------------------------------
        places = {name: names.index(name) for name in events}
        for group in either:
            pulses = {name: events[name][0] for name in events if name in group}
            chief, *others = pulses
            comes  = reduce(or_, pulses.values())
            place  = Signal(max=len(names))
            self.sync += If(comes,
                place.eq(reduce(or_, [Mux(pulse, names.index(name), 0) for name, pulse in pulses.items()])),
            )
            places[chief], events[chief] = place, (comes, None)
            for name in others:
                del events[name]

        # Events that wait.
        # -----------------
        waiting = [Signal(BURST_BITS if name in bursts else 1 if amount is None else len(amount))
            for name, (_, amount) in events.items()]
        taken   = Signal(len(events))
        for n, (name, (pulse, amount)) in enumerate(events.items()):
            left = Mux(taken[n], 0, waiting[n])
            self.sync += waiting[n].eq(left + pulse if name in bursts else
                Mux(pulse, 1 if amount is None else amount, left))

        # The first of them.
        # ------------------
        some     = Signal(len(events))
        first    = Signal(len(events)) # One-hot.
        counter  = Signal(max=len(names))
        number   = Signal(max(map(len, waiting)))
        busy     = Signal()
        clearing = Signal(reset=1) # The memory, after a reset.
        self.comb += [
            some.eq(Cat(*[some_waiting != 0 for some_waiting in waiting])),
            first.eq(some & -some),
            If(~clearing & ~regs.counting, taken.eq(first)),
        ]
        self.sync += [
            If(clearing,
                counter.eq(counter + 1),
                If(counter == len(names) - 1, clearing.eq(0)),
            ).Elif(regs.counting,
                busy.eq(0),
                counter.eq(regs.counter),
            ).Else(
                busy.eq(some != 0),
                counter.eq(reduce(or_, [Mux(first[n], places[name], 0)
                    for n, name in enumerate(events)])),
                number.eq(reduce(or_, [Mux(first[n], some_waiting, 0)
                    for n, some_waiting in enumerate(waiting)])),
            ),
        ]

        # Adder.
        # ------
        storage    = Memory(32, len(names))
        write_port = storage.get_port(write_capable=True)
        read_port  = storage.get_port(async_read=True)
        self.specials += storage, write_port, read_port
        self.comb += [
            read_port.adr.eq(counter),
            If(~clearing, regs.count.eq(read_port.dat_r)),
            write_port.adr.eq(counter),
            write_port.dat_w.eq(Mux(clearing, 0, read_port.dat_r + number)),
            write_port.we.eq(clearing | busy),
            self.awake.eq(clearing | busy | (some != 0)),
        ]
