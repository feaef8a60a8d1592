# SPDX-License-Identifier: BSD-2-Clause
"""The user's settings: `--ethtool 'ARGS'`, run in the guest for each port."""

import re
import shlex
from collections.abc import Sequence

from ..show.errors import LabError
from .session import Session
from .variants import INTERFACES

# ethtool's status -1 is no error: the setting is already there, or ethtool mistakes it for no request.
# The value that is read back decides.
UNCHANGED = re.compile(r"\bno \w+ parameters changed\b")

# Options whose words are names with values, and the option that prints the values.
SHOWN_BY = {
    option: shown
    for shown, options in {
        "-a": ("-A", "--pause"),
        "-c": ("-C", "--coalesce"),
        "-g": ("-G", "--set-ring"),
        "-k": ("-K", "--features", "--offload"),
        "-l": ("-L", "--set-channels"),
        "--show-priv-flags": ("--set-priv-flags",),
    }.items()
    for option in options
}
# Options with other kinds of words; only their status shows success.
OTHERS = (
    "-N",
    "-U",
    "--config-nfc",
    "--config-ntuple",
    "-X",
    "--set-rxfh-indir",
    "--rxfh",
    "-s",
    "--change",
    "--set-eee",
    "-Q",
    "--per-queue",
)
# Short names of values, and the names that ethtool prints.
NAMES = {
    "-a": {"autoneg": "autonegotiate"},
    "-k": {
        "rx": "rx-checksumming",
        "tx": "tx-checksumming",
        "sg": "scatter-gather",
        "tso": "tcp-segmentation-offload",
        "gso": "generic-segmentation-offload",
        "gro": "generic-receive-offload",
        "lro": "large-receive-offload",
        "rxvlan": "rx-vlan-offload",
        "txvlan": "tx-vlan-offload",
        "ntuple": "ntuple-filters",
        "rxhash": "receive-hashing",
    },
}


def pairs(setting: str) -> list[tuple[str, str]]:
    """Names with their values, if the option has such; else empty."""
    option, *words = shlex.split(setting)
    return list(zip(words[::2], words[1::2])) if option in SHOWN_BY else []


def commands(setting: str) -> list[str]:
    """Commands for the guest's shell, for each port: one that sets the value, one that prints it.
    `setting` has ethtool's words without the interface."""
    option, *words = shlex.split(setting)
    return [
        shlex.join(each)
        for interface in INTERFACES
        for each in (
            ["ethtool", option, interface, *words],
            *([["ethtool", SHOWN_BY[option], interface]] if option in SHOWN_BY else []),
        )
    ]


def choose(session: Session, setting: str):
    """Apply a setting. If it fails, raises LabError with ethtool's own message, or with the value that
    is set instead."""
    wanted = pairs(setting)
    for command in commands(setting):
        if wanted and command.split()[1] in SHOWN_BY.values():
            require(setting, wanted, command, session.check(command))
            continue
        status, output = session.type(command)
        if status and not UNCHANGED.search(output):
            said = " ".join(output.split()) or f"no message, status {status}"
            raise LabError(
                f"--ethtool {shlex.quote(setting)} was rejected; `{command}` in the guest: {said}"
            )


def require(setting: str, wanted: Sequence[tuple[str, str]], command: str, output: str):
    """Raises LabError if `output`, which `command` prints, has another value than the wanted one. If a
    name is missing there, only the kernel knows it, and it was set: ethtool rejects unknown names."""
    there = shown(output)
    names = NAMES.get(command.split()[1], {})
    for name, value in dict(wanted).items():
        now = there.get(names.get(name, name))
        if now is not None and number(now) != number(value):
            raise LabError(
                f"--ethtool {shlex.quote(setting)} did not take effect: `{command}` in the "
                f"guest shows {name} {now}"
            )


def shown(output: str) -> dict[str, str]:
    """The values that ethtool prints, by the names that it accepts; for rings and channels, the current
    values."""
    text = output.rpartition("Current hardware settings:")[2]
    text = re.sub(r"Adaptive RX: (\S+) +TX: ", r"adaptive-rx: \1\nadaptive-tx: ", text)
    found = re.findall(r"^[ \t]*([^:\n]+?) *:[ \t]+(\S+)", text, re.MULTILINE)
    return {
        name.lower().replace(" ", "-").replace("-frame-", "-frames-"): value for name, value in found
    }


def number(word: str) -> int | str:
    """A word of ethtool's as a number, if it is one."""
    try:
        return int(word, 0)
    except ValueError:
        return word


def said(conditions: dict) -> str:
    """The settings among a result's conditions, as the end of a sentence; empty if there are none."""
    return "".join(f"; ethtool {setting}" for setting in conditions.get("ethtool", []))
