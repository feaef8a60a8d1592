# SPDX-License-Identifier: BSD-2-Clause
"""The guest's work while a wave is written: a trial's frames, or a command."""

import os
from dataclasses import dataclass

from ..measure import trial
from ..measure.forward import report_problems
from ..measure.results import Trial
from ..run import state
from ..run.console import package
from ..run.machine import Machine
from ..run.session import Session
from ..run.shell import TIMEOUT

LINK_MBPS = 100  # while a command runs


@dataclass(frozen=True)
class Forwarding:
    trial: Trial

    @property
    def name(self) -> str:
        return self.trial.name

    @property
    def seconds(self) -> float:
        """Simulated time, if it is known in advance."""
        return self.trial.seconds

    @property
    def link_mbps(self) -> int:
        return self.trial.link_mbps

    def ready(self, of: Machine) -> state.State:
        """The state in which it starts."""
        return state.prepare(of, [self.trial.variant])[self.trial.variant]

    def begin(self, ready: state.State, session: Session):
        """The part before the cycles that a wave can show."""
        return trial.begin(self.trial, ready, session)

    def run(self, ready: state.State, session: Session, captures: str = "") -> dict:
        """Returns a report with `end_cycle`. captures: a folder for captures of all ports."""
        of = ready.machine
        fields = trial.request(self.trial, of.sys_clk_hz, of.system.ethtool)
        return session.call("trial", **fields, **({"pcap": captures} if captures else {}))

    def end(self, ready: state.State, session: Session, reply: dict, before) -> int:
        """Returns the exit status. `before`: the value of `begin`."""
        return report_problems([trial.conclude(self.trial, ready, session, reply, 0, before)])


@dataclass(frozen=True)
class Executing:
    """A command, in the shell of `moderato shell`."""

    command: str
    variant: str
    seconds: float = 0
    link_mbps: int = LINK_MBPS

    @property
    def name(self) -> str:
        return f"`{self.command}`"

    @property
    def script(self) -> bytes:
        return os.fsencode(self.command) + b"\n"

    def ready(self, of: Machine) -> state.State:
        return state.at_console(state.ready(of, self.variant), package(of.system.nic))

    def begin(self, ready: state.State, session: Session):
        session.put(self.script, ready.machine.mailbox)

    def run(self, ready: state.State, session: Session, captures: str = "") -> dict:
        """Returns its status; there are no captures."""
        status = session.run(self.script, TIMEOUT, lambda *_: None)
        return {"status": status, "end_cycle": session.call("run", cycles=0)["cycle"]}

    def end(self, ready: state.State, session: Session, reply: dict, before) -> int:
        return reply["status"]
