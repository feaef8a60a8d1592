# SPDX-License-Identifier: BSD-2-Clause
"""What a check found: a line each, and for a failed one the next step to try."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

PASS, FAIL, SKIP = "pass", "FAIL", "skip"
# Of `moderato board check`, in its order.
PARTS = (
    "serial line",
    "image",
    "driver",
    "clock",
    "temperature",
    "memory",
    "PHY",
    "link",
    "port",
    "frames",
    "timer",
    "self-test",
    "PTP",
)
# Of `moderato board selftest`, in its order.
SELF_TEST = (
    "image",
    "serial line",
    "clock",
    "DRAM",
    "PHY",
    "MAC",
    "cable",
    "interrupt",
    "coherency",
    "timers",
)
# The next step of both, by what was found.
NO_LINK = "connect a cable; look at the port's LEDs"
NO_CHIP = "switch off and on; then check the chips' reset and MDIO in the board's file"
DAMAGED = "RGMII's delays: check phy_mode and phy_delays in the board's file, and the cable"
OTHER_CLOCK = "the bitstream's PLL and the device tree disagree; build, flash and boot again"
LOSSY_LINE = "use a shorter USB cable, and no hub"


@dataclass(frozen=True)
class Finding:
    """status: PASS, FAIL, or SKIP for what this board or this call cannot check; next: for FAIL."""

    name: str
    status: str
    found: str
    next: str = ""

    @property
    def line(self) -> str:
        text = f"{self.status}  {self.name:12} {self.found}"
        return text + (f"\n      {'':12} next: {self.next}" if self.next else "")

    def as_json(self) -> dict:
        return asdict(self)


def passed(name: str, found: str) -> Finding:
    return Finding(name, PASS, found)


def failed(name: str, found: str, next: str) -> Finding:
    return Finding(name, FAIL, found, next)


def skipped(name: str, found: str) -> Finding:
    return Finding(name, SKIP, found)


def status(findings: Iterable[Finding]) -> int:
    """The exit status of a command: 1 if something failed."""
    return int(any(finding.status == FAIL for finding in findings))
