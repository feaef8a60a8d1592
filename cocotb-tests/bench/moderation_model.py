# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the interrupt moderation, exact to the clock, written from its description.

It keeps points in time and lists where the hardware keeps counters, so that the two share no
arithmetic.
"""

from dataclasses import dataclass, field

from moderato.gateware.registers import INDEX_BITS

MODULO = 1 << INDEX_BITS
LONG_AGO = -(1 << 32)


@dataclass
class Inputs:
    """What the device sees in one clock."""
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


@dataclass
class ModerationModel:
    """`outputs(inputs)` predicts this clock, `step(inputs)` goes on to the next."""
    now:             int  = 0
    completed:       int  = 0
    unreported:      int  = 0
    armed:           bool = False
    line:            bool = False
    requests:        list = field(default_factory=list)  # indices of unseen requests
    last_completion: int  = LONG_AGO
    waiting_since:   int  = 0  # the first unreported completion, or the re-arm that uncovered it
    last_raise:      int  = LONG_AGO

    def cause(self, i: Inputs) -> str | None:
        """Why an interrupt is raised in this clock; None if it is not."""
        if not self.armed or i.rearm or i.disarm or i.clear or self.now - self.last_raise <= i.gap:
            return None
        if self.requests:
            return "request"
        if i.frames and self.unreported >= i.frames:
            return "frames"
        if not self.unreported:
            return None
        if i.absolute_timer and self.now - self.waiting_since > i.absolute_timer:
            return "absolute"
        if i.packet_timer and self.now - self.last_completion > i.packet_timer:
            return "packet"
        return None

    def outputs(self, i: Inputs) -> dict:
        cause = self.cause(i)
        return {"line": self.line, "armed": self.armed, "cause": cause, "completed": self.completed,
                "unreported": self.unreported}

    def step(self, i: Inputs):
        if self.cause(i):
            self.line, self.armed, self.last_raise = True, False, self.now
        if i.disarm or i.rearm:
            self.line, self.armed = False, bool(i.rearm)
        if i.completion:
            if i.request:
                self.requests.append(self.completed)
            self.completed = (self.completed + 1) % MODULO
            self.last_completion = self.now
            if not i.silent:
                if not self.unreported:
                    self.waiting_since = self.now
                self.unreported = min(self.unreported + 1, MODULO - 1)
        if i.rearm:
            self.unreported = (self.completed - i.rearm_index) % MODULO
            self.waiting_since = self.now
            self.requests = [index for index in self.requests
                             if (index - i.rearm_index) % MODULO < MODULO // 2]
        if i.clear:
            self.line, self.armed, self.completed, self.unreported = False, False, 0, 0
            self.requests.clear()
        self.now += 1
