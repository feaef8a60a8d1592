# SPDX-License-Identifier: BSD-2-Clause
"""Settings of one's own: `--ethtool 'ARGS'`, run in the guest for each port."""

import re
import shlex

from ..show.errors import LabError
from .session import Session
from .variants import INTERFACES

# What was asked for is set already: ethtool ends with a status, which is no refusal.
UNCHANGED = re.compile(r"\bno \w+ parameters changed\b")


def commands(setting: str) -> list[str]:
    """For the guest's shell. `setting` has ethtool's words without the interface."""
    option, *words = shlex.split(setting)
    return [shlex.join(["ethtool", option, interface, *words]) for interface in INTERFACES]


def choose(session: Session, setting: str):
    """Make a setting; LabError with ethtool's own message if it is refused."""
    for command in commands(setting):
        status, output = session.type(command)
        if status and not UNCHANGED.search(output):
            said = " ".join(output.split()) or f"no message, status {status}"
            raise LabError(f"--ethtool {shlex.quote(setting)} was refused; `{command}` in the "
                           f"guest: {said}")


def said(conditions: dict) -> str:
    """The settings among a result's conditions, to end a sentence with; nothing if there are none.
    """
    return "".join(f"; ethtool {setting}" for setting in conditions.get("ethtool", []))
