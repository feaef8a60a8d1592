# SPDX-License-Identifier: BSD-2-Clause
"""Cycle-exact golden model of the interrupt moderation, written from its description.

It stores times and lists where the hardware has counters, so that the two share no arithmetic.
"""

from dataclasses import dataclass, field

from moderato.gateware.registers.table import INDEX_BITS, TIMER_BITS

MODULO = 1 << INDEX_BITS
AHEAD = 16  # a driver that has seen fewer early completions than this is ahead


@dataclass
class Inputs:
    """The device's inputs in one clock."""
    frames:         int = 0
    packet_timer:   int = 0
    absolute_timer: int = 0
    gap:            int = 0
    completion:     int = 0
    request:        int = 0
    silent:         int = 0
    rearm:          int = 0
    rearm_index:    int = 0
    disarm:         int = 0
    clear:          int = 0
    halted:         int = 0


@dataclass
class ModerationModel:
    """`outputs(inputs)` predicts this clock; `step(inputs)` advances to the next."""
    now:             int  = 0
    completed:       int  = 0
    unreported:      int  = 0
    armed:           bool = False
    line:            bool = False
    requests:        list = field(default_factory=list)  # indices of unseen requests
    loud:            list = field(default_factory=list)  # and of unseen completions that count
    seen:            set  = field(default_factory=set)   # indices of completions that the driver
                                                         # saw, in memory, before they count
    # Times. When the time since then exceeds the timer, they advance with `now`: the device does
    # not remember the time beyond a setting.
    last_completion: int  = -1
    waiting_since:   int  = -1  # the first unreported completion, or the re-arm that found it
    last_raise:      int  = -(1 << TIMER_BITS)

    def cause(self, i: Inputs) -> str | None:
        """The cause of an interrupt in this clock, or None."""
        if not self.armed or i.rearm or i.disarm or i.clear or self.now - self.last_raise <= i.gap:
            return None
        if self.requests:
            return "request"
        if i.frames and self.unreported >= i.frames:
            return "frames"
        if self.unreported:
            if i.absolute_timer and self.now - self.waiting_since > i.absolute_timer:
                return "absolute"
            if i.packet_timer and self.now - self.last_completion > i.packet_timer:
                return "packet"
        return "halt" if i.halted else None

    def outputs(self, i: Inputs) -> dict:
        cause = self.cause(i)
        return {"line": self.line, "armed": self.armed, "cause": cause, "completed": self.completed,
                "unreported": self.unreported}

    def step(self, i: Inputs):
        raised = self.cause(i)
        self.last_completion += self.now - self.last_completion > i.packet_timer
        self.waiting_since   += self.now - self.waiting_since > i.absolute_timer
        self.last_raise      += self.now - self.last_raise > i.gap
        if raised:
            self.line, self.armed, self.last_raise = True, False, self.now
        if i.disarm or i.rearm:
            self.line, self.armed = False, bool(i.rearm)
        if i.completion:
            self.last_completion = self.now
            if self.completed in self.seen:
                self.seen.remove(self.completed)
            else:
                self._count(i)
            self.completed = (self.completed + 1) % MODULO
        if i.rearm:
            self._recount(i.rearm_index)
        if i.clear:
            self.line, self.armed, self.completed, self.unreported = False, False, 0, 0
            self.requests.clear()
            self.loud.clear()
            self.seen.clear()
        self.now += 1

    def _count(self, i):
        if i.request:
            self.requests.append(self.completed)
        if not i.silent:
            self.loud.append(self.completed)
            if not self.unreported:
                self.waiting_since = self.now
            self.unreported = min(self.unreported + 1, MODULO - 1)

    def _recount(self, index):
        ahead = (index - self.completed) % MODULO
        self.requests, self.loud = ([one for one in unseen if (one - index) % MODULO < MODULO // 2]
                                    for unseen in (self.requests, self.loud))
        # Silent completions cannot be distinguished from others among them.
        self.unreported = MODULO - ahead if self.loud and ahead >= AHEAD else 0
        self.seen = {(index - 1 - n) % MODULO for n in range(ahead)} if ahead < AHEAD else set()
        self.waiting_since = self.now
