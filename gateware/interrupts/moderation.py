# SPDX-License-Identifier: BSD-2-Clause
"""Interrupt moderation of one direction: when completions raise an interrupt.

One-shot: an interrupt masks itself, and only a re-arm allows the next one. The re-arm carries the driver's
consumer index. Completions at or after this index count as unreported at once. So a completion between the
driver's last look and its re-arm is never lost, and the driver needs no read back.

A driver may also be ahead: it sees a status in memory some clocks before the write's response makes it a
completion. After a re-arm with such an index, that many completions do not count.

Silent completions do not count, and neither does a re-arm that finds only silent ones. The hardware
remembers only the latest completion that was not silent. So a re-arm that finds one also counts the silent ones
between and after. FRAMES may then be reached early, but never by silent completions alone.
"""

from migen import *

from litex.gen import *

from moderato.gateware.registers.table import FRAMES_BITS, INDEX_BITS, TIMER_BITS

AHEAD_BITS = 4 # Completions that memory may show before they count: fewer than 2**AHEAD_BITS.

# Moderation ---------------------------------------------------------------------------------------

class Moderation(LiteXModule):
    """Raises the interrupt line by frame count, packet timer, absolute timer, request, or halt.

    Settings take effect at once; timers stop at their settings, so when one grows, the time since then does not
    count. 0 disables a condition:
        frames          raise at this many unreported completions.
        packet_timer    raise this many clocks after the latest completion.
        absolute_timer  raise this many clocks after the first unreported completion, or after the re-arm that
                        found it: the bound on latency (if `gap` allows it).
        gap             the least clocks between two interrupts.

    Events (one clock each):
        completion      a descriptor completed; with `request` it requests an interrupt at once, with
                        `silent` none.
        rearm           drop the line, arm, and recount from rearm_index.
        disarm          drop the line, stay masked.
        clear           the ring was reset: reset the state.
        halted          (a level) the ring is halted: an armed device raises.

    State and results: `line`, `armed`, `unreported`, `completed` (index of the next descriptor to
    complete), and one-clock pulses `raised` with its cause in by_request, by_frames, by_absolute,
    by_packet or by_halt (exactly one of them, the first that holds in this order).

    `awake`: something may change at the coming clock edge (see ModeratoMAC).
    """
    def __init__(self, timer_bits=TIMER_BITS, frames_bits=FRAMES_BITS, index_bits=INDEX_BITS):
        # Settings.
        self.frames         = Signal(frames_bits)
        self.packet_timer   = Signal(timer_bits)
        self.absolute_timer = Signal(timer_bits)
        self.gap            = Signal(timer_bits)

        # Events.
        self.completion  = Signal()
        self.request     = Signal()
        self.silent      = Signal()
        self.rearm       = Signal()
        self.rearm_index = Signal(index_bits)
        self.disarm      = Signal()
        self.clear       = Signal()
        self.halted      = Signal()

        # State.
        self.line       = Signal()
        self.armed      = Signal()
        self.completed  = Signal(index_bits)
        self.unreported = Signal(index_bits)

        # Pulses.
        self.raised      = Signal()
        self.by_request  = Signal()
        self.by_frames   = Signal()
        self.by_absolute = Signal()
        self.by_packet   = Signal()
        self.by_halt     = Signal()

        self.awake = Signal()

        # # #

        # Completions.
        # ------------
        # Only clocked statements use `completion`: it comes from the bus, which does not sleep, and a simulator
        # would evaluate combinational logic that uses it in every clock.
        ahead      = Signal(index_bits) # How far the driver is ahead, if nothing completes in this clock.
        ahead_then = Signal(index_bits) # Likewise, if something completes.
        seen       = Signal(AHEAD_BITS) # Coming completions that the driver has already seen.
        counts     = Signal()
        loud       = Signal()           # The last re-arm had not seen the latest completion that was not silent,
        loud_index = Signal(index_bits) # which is the one before this index.
        loud_ahead = Signal(index_bits) # How far the driver is ahead of it.
        self.comb += [
            ahead.eq(self.rearm_index - self.completed),
            ahead_then.eq(ahead - 1),
            counts.eq(self.completion & (seen == 0)),
            loud_ahead.eq(self.rearm_index - loud_index),
        ]

        self.sync += [
            If(self.completion,
                self.completed.eq(self.completed + 1)
            ),
            If(self.rearm,
                If(self.completion,
                    self._recount(ahead_then, seen, counts & ~self.silent | loud & loud_ahead[-1])
                ).Else(
                    self._recount(ahead, seen, loud & loud_ahead[-1])
                )
            ).Elif(counts & ~self.silent & (self.unreported != 2**index_bits - 1),
                self.unreported.eq(self.unreported + 1)
            ).Elif(self.completion & ~counts,
                seen.eq(seen - 1)
            ),
            If(counts & ~self.silent,
                loud.eq(1),
                loud_index.eq(self.completed + 1),
                If(self.rearm & ~ahead_then[-1], loud.eq(0)),
            ).Elif(self.rearm & ~loud_ahead[-1],
                loud.eq(0)
            ),
        ]

        # Requests: remembered by index, because a re-arm may or may not have seen the latest one.
        # ----------------------------------------------------------------------------------------
        requested     = Signal()
        request_index = Signal(index_bits) # The index after the latest request.
        request_ahead = Signal(index_bits) # How far the driver is ahead of it.
        self.comb += request_ahead.eq(self.rearm_index - request_index)
        self.sync += [
            If(counts & self.request,
                requested.eq(1),
                request_index.eq(self.completed + 1),
                If(self.rearm & ~ahead_then[-1], requested.eq(0)),
            ).Elif(self.rearm & ~request_ahead[-1],
                requested.eq(0)
            ),
        ]

        # Timers: they stop at their settings, so that a ring without traffic changes nothing.
        # -------------------------------------------------------------------------------
        packet_count   = Signal(timer_bits)
        absolute_count = Signal(timer_bits)
        gap_count      = Signal(timer_bits, reset=2**timer_bits - 1)
        packet_ticks   = Signal()
        absolute_ticks = Signal()
        gap_ticks      = Signal()
        outstanding    = Signal()
        self.comb += [
            outstanding.eq(self.unreported != 0),
            packet_ticks.eq(packet_count < self.packet_timer),
            absolute_ticks.eq(outstanding & (absolute_count < self.absolute_timer)),
            gap_ticks.eq(gap_count < self.gap),
        ]
        self.sync += [
            If(self.completion,
                packet_count.eq(0)
            ).Elif(packet_ticks,
                packet_count.eq(packet_count + 1)
            ),
            If(self.rearm | ~outstanding,
                absolute_count.eq(0)
            ).Elif(absolute_ticks,
                absolute_count.eq(absolute_count + 1)
            ),
            If(self.raised,
                gap_count.eq(0)
            ).Elif(gap_ticks,
                gap_count.eq(gap_count + 1)
            ),
        ]

        # Conditions.
        # -----------
        frames_due   = Signal()
        packet_due   = Signal()
        absolute_due = Signal()
        self.comb += [
            frames_due.eq((self.frames != 0) & (self.unreported >= self.frames)),
            packet_due.eq(outstanding & (self.packet_timer != 0) &
                ~packet_ticks),
            absolute_due.eq(outstanding & (self.absolute_timer != 0) &
                ~absolute_ticks),
            If(self.armed & ~gap_ticks & ~(self.rearm | self.disarm | self.clear),
                self.by_request.eq(requested),
                self.by_frames.eq(frames_due & ~requested),
                self.by_absolute.eq(absolute_due & ~frames_due & ~requested),
                self.by_packet.eq(packet_due & ~absolute_due & ~frames_due & ~requested),
                self.by_halt.eq(self.halted & ~packet_due & ~absolute_due & ~frames_due & ~requested),
            ),
            self.raised.eq(self.by_request | self.by_frames | self.by_absolute | self.by_packet |
                self.by_halt),
        ]

        # Line.
        # -----
        self.sync += [
            If(self.raised,
                self.line.eq(1),
                self.armed.eq(0),
            ),
            If(self.disarm,
                self.line.eq(0),
                self.armed.eq(0),
            ),
            If(self.rearm,
                self.line.eq(0),
                self.armed.eq(1),
            ),
            If(self.clear,
                self.line.eq(0),
                self.armed.eq(0),
                self.completed.eq(0),
                self.unreported.eq(0),
                seen.eq(0),
                loud.eq(0),
                requested.eq(0),
                absolute_count.eq(0),
            ),
        ]

        # What may change.
        # ----------------
        cleared = Signal()
        self.comb += [
            cleared.eq(~(self.line | self.armed | requested | loud | outstanding) &
                (self.completed == 0) & (seen == 0)),
            self.awake.eq(self.completion | self.rearm | self.disarm | self.raised |
                packet_ticks | absolute_ticks | gap_ticks | (self.clear & ~cleared)),
        ]

    def _recount(self, ahead, seen, loud):
        """The unreported completions after a re-arm by a driver that is this far ahead of the completions.

        loud: not all completions that it has not seen are silent.
        """
        return If((ahead != 0) & (ahead < 2**AHEAD_BITS),
            self.unreported.eq(0),
            seen.eq(ahead),
        ).Else(
            self.unreported.eq(Mux(loud, -ahead, 0)),
            seen.eq(0),
        )

    def connect_registers(self, regs, prefix, ring):
        """Connects the registers of a direction, named `prefix`_..., and its ring."""
        value = regs.value
        self.comb += [
            # Ring.
            self.completion.eq(ring.completions.completion),
            self.request.eq(ring.completions.request),
            self.silent.eq(ring.completions.silent),
            self.clear.eq(ring.idle),
            self.halted.eq(ring.halted & regs.field("CTRL", "HALT_INTERRUPT")),

            # Commands and settings.
            self.rearm.eq(regs.strobe[f"{prefix}_REARM"]),
            self.rearm_index.eq(regs.data[:INDEX_BITS]),
            self.disarm.eq(regs.strobe[f"{prefix}_DISARM"]),
            self.frames.eq(value[f"{prefix}_FRAMES"]),
            self.packet_timer.eq(value[f"{prefix}_PACKET_TIMER"]),
            self.gap.eq(value[f"{prefix}_GAP"]),

            # State.
            value[f"{prefix}_COMPLETED"].eq(self.completed),
            regs.field(f"{prefix}_MODERATION", "UNREPORTED").eq(self.unreported),
            regs.field(f"{prefix}_MODERATION", "ARMED").eq(self.armed),
            regs.field(f"{prefix}_MODERATION", "LINE").eq(self.line),
        ]

    def counters(self, prefix):
        """The counters of a direction's interrupts."""
        return {f"{prefix}_INTERRUPTS": self.raised} | self.causes(prefix)

    def causes(self, prefix):
        """The counters of causes: each interrupt has exactly one."""
        return {
            f"{prefix}_INTERRUPTS_FRAMES":   self.by_frames,
            f"{prefix}_INTERRUPTS_PACKET":   self.by_packet,
            f"{prefix}_INTERRUPTS_ABSOLUTE": self.by_absolute,
            f"{prefix}_INTERRUPTS_REQUEST":  self.by_request,
            f"{prefix}_INTERRUPTS_HALTED":   self.by_halt,
        }
