# SPDX-License-Identifier: BSD-2-Clause
"""Tasks of the runner: a trial of one setting in one situation."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from ..measure import trial
from ..measure.results import Trial
from ..measure.traffic import reporter
from ..run import guest
from ..run.session import Session
from ..run.state import State
from .settings import SETTINGS
from .situations import KIND


@dataclass(frozen=True)
class Task:
    """`before`: the guest's counters in the state where the trial starts."""

    setting: str
    situation: str
    trial: Trial
    before: guest.Counters

    @property
    def name(self) -> str:
        return f"{self.setting} {self.situation} {self.trial.frame_bytes}"

    def key(self, ready: State) -> str:
        """A hash of all that the record depends on: the checkpoint's content, and the load."""
        content = json.dumps([ready.folder.name, self.name, asdict(self.trial)], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    def run(self, session: Session, sys_clk_hz: int, progress: Callable[[float], None]) -> dict:
        """The record: the same object as in `forward --json`, with setting and situation."""
        begun = time.monotonic()
        session.progress = reporter(progress, sys_clk_hz, self.trial.seconds)
        reply = session.call("trial", **trial.request(self.trial, sys_clk_hz))
        result = trial.evaluate(
            self.trial,
            sys_clk_hz,
            reply,
            self.before,
            *trial.read_counters(session),
            time.monotonic() - begun,
        )
        figures = result.as_json()
        del figures["conditions"]  # the runner adds them
        return {
            "name": self.name,
            "kind": KIND,
            "setting": self.setting,
            "situation": self.situation,
            "problems": result.problems,
            **figures,
            "variant": SETTINGS[self.setting].variant,
            "lost": sum(port["lost"] for port in figures["ports"]),
        }


def run(task, session: Session, sys_clk_hz: int, progress: Callable[[float], None]) -> dict:
    """Run a task of this module: a trial or round trips. For the runner."""
    return task.run(session, sys_clk_hz, progress)
