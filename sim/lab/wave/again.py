# SPDX-License-Identifier: BSD-2-Clause
"""The command for a wave of a trial that another command ran."""

import shlex

from ..measure.results import Trial
from ..run.system import System
from ..run.variants import ALL, LITEETH


def command(one: Trial, system: System, trigger: str = "") -> str | None:
    """None: `moderato wave` does not have the variant."""
    if one.variant not in (*ALL, LITEETH):
        return None
    usual = System()
    given = [
        ("--variant", one.variant, LITEETH),
        ("--nic", system.nic, usual.nic),
        ("--kernel", system.kernel.name, usual.kernel.name),
        ("--hz", system.kernel.hz, usual.kernel.hz),
        ("--harts", system.harts, usual.harts),
        ("--spread", system.spread, usual.spread),
        ("--memory", system.memory, usual.memory),
        ("--clock", system.clock_mhz, usual.clock_mhz),
        *(("--ethtool", setting, None) for setting in system.ethtool),
        ("--frame-size", one.frame_bytes, 64),
        ("--load", one.load_percent, 100),
        ("--frames", one.frames, None),
        ("--link", one.link_mbps, 100),
        ("--streams", one.traffic.streams, 1),
        ("--at", trigger, ""),
        ("--output", "wave.fst", None),
    ]
    words = [
        word for option, value, default in given if value != default for word in (option, str(value))
    ]
    return shlex.join(["./moderato", "wave", *words, *["--one-way"] * one.traffic.one_way])
