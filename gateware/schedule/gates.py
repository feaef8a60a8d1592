# SPDX-License-Identifier: BSD-2-Clause
"""Time-aware gates (IEEE 802.1Q, 8.6.8.4): a list opens and closes the gates of the queues.

A queue's gate is closed, then open, then closed again: a `Window` follows the list, and runs ahead in it until it
knows when the open gate closes. A frame starts only if it will have left by then. All of this runs in a domain that
never stops, like launch.py.
"""

from migen import *

from litex.gen import *

from moderato.gateware.schedule.launch import LAUNCH_BITS

ENTRY_BITS    = 32
INTERVAL_BITS = 30 # ns; the bits above it are the open queues.
AHEAD_ORDER   = 15 # A window runs ahead for the time of 2**n octets: more than any frame takes.

# Window -------------------------------------------------------------------------------------------

class Window(LiteXModule):
    """Follows the gate of one queue.

    now     the LaunchClock.
    octet   ns of an octet on the wire.
    last    the list's last index.
    cycle   its cycle in ns.
    extend  no cycle begins at `until`: the gate stays as it is until `change`.
    begin   starts a list at `change`.
    rewind  finds the entry again, after a step of the clock.
    entry   that with `index`, if `turn` was set in the clock before.

    open    the gate's state until `until`, EARLIER clocks early. `left`: ns until then.
    """
    def __init__(self, now, bit, order):
        self.octet  = Signal(10)
        self.last   = Signal(order)
        self.cycle  = Signal(LAUNCH_BITS)
        self.change = Signal(LAUNCH_BITS)
        self.extend = Signal()
        self.begin  = Signal()
        self.first  = Signal(LAUNCH_BITS) # The cycle of the list that begins.
        self.rewind = Signal()
        self.turn   = Signal()
        self.entry  = Signal(ENTRY_BITS)

        self.index  = index  = Signal(order)
        self.open   = Signal()
        self.until  = until  = Signal(LAUNCH_BITS)
        self.left   = left   = Signal(LAUNCH_BITS)
        self.starts = Signal() # A cycle begins at `until`.

        # # #

        end     = Signal(LAUNCH_BITS) # Of the cycle in which `index` is.
        close   = Signal(LAUNCH_BITS) # End of the entry,
        final   = Signal()            # which is the cycle's last one.
        opens   = Signal()
        over    = Signal(LAUNCH_BITS) # Not negative: the entry fills the cycle.
        since   = Signal(LAUNCH_BITS) # Negative: `until` is over.
        come    = Signal()            # The same, a clock later.
        enough  = Signal()            # It is far ahead.
        self.comb += [
            since.eq(until - now.sooner[:LAUNCH_BITS]),
            over.eq(close - end),
            self.starts.eq(index == 0),
        ]
        self.sync += [
            left.eq(until - now.early[:LAUNCH_BITS]),
            come.eq(since[-1]),
            enough.eq(~left[-1] & (left[AHEAD_ORDER:] >= self.octet)),
        ]

        self.fsm = fsm = FSM(reset_state="FETCH")
        fsm.act("FETCH",
            If(self.turn, NextState("READ"))
        )
        fsm.act("READ",
            NextValue(opens, self.entry[INTERVAL_BITS + bit]),
            NextValue(close, until + self.entry[:INTERVAL_BITS]),
            NextState("CLIP"),
        )
        fsm.act("CLIP",
            NextValue(final, 0),
            If((index == self.last) | ~over[-1],
                NextValue(final, 1),
                NextValue(close, end),
            ),
            NextState("WAIT"),
        )
        fsm.act("WAIT",
            If(self.starts & self.extend,
                NextValue(until, self.change),
                NextState("EXTENDED")
            ).Elif(Mux(opens == self.open, ~enough, come),
                NextValue(self.open, opens),
                NextValue(until, close),
                NextValue(index, index + 1),
                If(final,
                    NextValue(index, 0),
                    NextValue(end, end + self.cycle),
                ),
                NextState("FETCH"),
            )
        )
        fsm.act("EXTENDED",
            If(~self.extend, # The takeover was cancelled.
                NextValue(until, end - self.cycle),
                NextState("FETCH"),
            )
        )
        fsm.act("BACK",
            NextState("BACK1")
        )
        fsm.act("BACK1",
            If(come,
                NextState("FETCH")
            ).Else(
                NextValue(until, until - self.cycle),
                NextValue(end, until),
                NextState("BACK"),
            )
        )
        for state in list(fsm.actions):
            fsm.act(state,
                If(self.begin,
                    NextValue(self.open, 0),
                    NextValue(until, self.change),
                    NextValue(end, self.change + self.first),
                    NextValue(index, 0),
                    NextState("FETCH"),
                ).Elif(self.rewind,
                    NextValue(self.open, 0),
                    NextValue(until, end - self.cycle),
                    NextValue(index, 0),
                    NextState("BACK"),
                )
            )

# Gates --------------------------------------------------------------------------------------------

class Gates(LiteXModule):
    """The gates of the queues whose Launches are `launches`.

    order  a list has up to 2**order entries.
    clock  the PTPClock.
    lead   Limits.lead.

    fits   a bit for each queue: a frame that starts now leaves while its gate is open. Valid with `known`.
    """
    def __init__(self, launches, clock, limits, order):
        now, count = launches.now, len(launches.each)
        self.start  = Signal()
        self.stop   = Signal()
        self.cancel = Signal()
        self.base   = Signal(len(clock.time))
        self.cycle  = Signal(LAUNCH_BITS)
        self.extension = Signal(LAUNCH_BITS)
        self.length = Signal(order + 1)
        self.write  = Signal() # Writes `entry` to the admin list.
        self.entry  = Signal(ENTRY_BITS)
        self.seek   = Signal() # Sets its index
        self.index  = Signal(order)

        self.running = running = Signal()
        self.pending = pending = Signal()
        self.fits    = Signal(count)

        # # #

        # The list that will be taken over.
        # ---------------------------------
        base      = Signal(len(clock.time))
        cycle     = Signal(LAUNCH_BITS)
        extension = Signal(LAUNCH_BITS)
        last      = Signal(order)
        armed     = Signal() # Its base time is ahead.
        wait      = Signal(2)
        ahead     = Signal((len(clock.time), True)) # ns until then.
        near      = Signal()
        takeover  = Signal()
        stepped   = Signal(3)
        self.comb += [
            near.eq(armed & (ahead[LAUNCH_BITS - 1:] == 0)),
            takeover.eq(armed & ~stepped[0] & ~self.stop & ~self.cancel & (ahead < limits.lead)),
        ]
        self.sync += [
            # A step of the clock arrives here three clocks later.
            stepped.eq(Cat(stepped[1:], clock.set | clock.step)),
            ahead.eq(base - now.sooner),
            wait.eq(Mux(wait == 0, 0, wait - 1)),
            If(self.start & ~pending,
                pending.eq(1),
                base.eq(self.base),
                cycle.eq(self.cycle),
                extension.eq(self.extension),
                last.eq(self.length - 1),
                wait.eq(3),
            ).Elif(pending & ~armed & (wait == 0),
                # A base time that is over moves by cycles.
                If(ahead[-1],
                    base.eq(base + cycle),
                    wait.eq(3),
                ).Else(
                    armed.eq(1),
                )
            ),
            If(stepped != 0, armed.eq(0), wait.eq(3)),
            If(takeover, running.eq(1)),
            If(takeover | self.stop | self.cancel, pending.eq(0), armed.eq(0)),
            If(self.stop, running.eq(0)),
        ]

        # Two lists: that in `bank` is obeyed.
        # -------------------------------------
        bank    = Signal()
        address = Signal(order)
        turn    = Signal()
        lists   = Memory(ENTRY_BITS, 2*2**order)
        writer  = lists.get_port(write_capable=True, mode=READ_FIRST)
        reader  = lists.get_port(mode=READ_FIRST)
        lists.attr = {("no_rw_check", 1)} # The list that is written is not read.
        self.specials += lists, writer, reader
        self.comb += [
            writer.adr.eq(Cat(address, ~bank)),
            writer.dat_w.eq(self.entry),
            writer.we.eq(self.write & ~pending),
        ]
        self.sync += [
            turn.eq(~turn),
            If(takeover, bank.eq(~bank)),
            If(self.write & ~pending, address.eq(address + 1)),
            If(self.seek, address.eq(self.index)),
        ]

        # Windows.
        # --------
        the_cycle = Signal(LAUNCH_BITS)
        the_last  = Signal(order)
        the_extension = Signal(LAUNCH_BITS)
        self.sync += If(takeover, the_cycle.eq(cycle), the_last.eq(last), the_extension.eq(extension))
        self.windows = [Window(now, n, order) for n in range(count)]
        self.submodules += self.windows
        self.comb += reader.adr.eq(Cat(Array([window.index for window in self.windows])[turn], bank))
        change = Signal(LAUNCH_BITS) # ns until the takeover.
        self.sync += change.eq(base[:LAUNCH_BITS] - now.early[:LAUNCH_BITS])
        for n, (window, launch) in enumerate(zip(self.windows, launches.each)):
            gap = Signal(LAUNCH_BITS) # From the end of a cycle to the takeover.
            self.comb += [
                window.octet.eq(launches.octet),
                window.last.eq(the_last),
                window.cycle.eq(the_cycle),
                window.change.eq(base[:LAUNCH_BITS]),
                window.first.eq(cycle),
                window.begin.eq(takeover),
                window.rewind.eq(stepped[0]),
                window.turn.eq(turn == n),
                window.entry.eq(reader.dat_r),
                gap.eq(base[:LAUNCH_BITS] - window.until),
            ]
            self.sync += [
                window.extend.eq(near & ~gap[-1] & (gap <= the_extension)),
                self.fits[n].eq(
                    (~running | (window.open & ~window.left[-1] & (window.left >= launch.cost))) &
                    # All gates close for a takeover.
                    (~near | (~change[-1] & (change >= launch.cost)))),
            ]

    def connect_registers(self, regs):
        value = regs.value
        self.comb += [
            self.start.eq(regs.commands("GATE_COMMAND", "START")),
            self.stop.eq(regs.commands("GATE_COMMAND", "STOP")),
            self.cancel.eq(regs.commands("GATE_COMMAND", "CANCEL")),
            self.base.eq(Cat(value["GATE_BASE_LOW"], value["GATE_BASE_HIGH"])),
            self.cycle.eq(value["GATE_CYCLE"]),
            self.extension.eq(value["GATE_EXTENSION"]),
            self.length.eq(value["GATE_LENGTH"]),
            self.write.eq(regs.strobe["GATE_ENTRY"]),
            self.seek.eq(regs.strobe["GATE_INDEX"]),
            self.entry.eq(regs.data),
            self.index.eq(regs.data),
            regs.field("GATE_STATUS", "RUNNING").eq(self.running),
            regs.field("GATE_STATUS", "PENDING").eq(self.pending),
        ]
