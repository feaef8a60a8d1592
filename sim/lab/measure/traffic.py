# SPDX-License-Identifier: BSD-2-Clause
"""The distribution of the tester's frames over ports and streams."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

SEED = 1
QUIET = 0.01  # seconds without a frame or an event that end a trial,
TIMEOUT = 5  # and the time limit for that
_WAIT = re.compile(r"\b[rt]x-usecs\S* (\d+)")


def quiet(sys_clk_hz: int, settings: Iterable[str] = ()) -> int:
    """Clocks of QUIET, plus the longest time for which these ethtool settings can delay a frame: a
    waiting frame causes no event. The driver rejects times over 24 bits of clocks, which are far less
    than TIMEOUT."""
    waits = [int(microseconds) / 1e6 for each in settings for microseconds in _WAIT.findall(each)]
    return round(sys_clk_hz * (QUIET + max(waits, default=0)))


def timeout(sys_clk_hz: int) -> int:
    """Clocks of TIMEOUT."""
    return TIMEOUT * sys_clk_hz


def reporter(
    progress: Callable[[float], None], sys_clk_hz: int, seconds: float
) -> Callable[[dict], None]:
    """A Session's callback, which reports the share done of a trial that offers for `seconds`."""
    whole = sys_clk_hz * (seconds + 2 * QUIET)
    return lambda done: progress(min(1.0, done["cycles"] / whole))


@dataclass(frozen=True)
class Traffic:
    """Frames enter at each port, or with `one_way` at port 0 only. `streams`: number of UDP source
    ports, which alternate.

    in_order: a reordered frame makes a trial unsound; otherwise reordered frames are only counted.
    """

    streams: int = 1
    one_way: bool = False
    in_order: bool = True

    @classmethod
    def of(cls, record: dict) -> "Traffic":
        """The reverse of as_record()."""
        return cls(record.get("flows", 1), record.get("one_way", False), record.get("in_order", True))

    def as_record(self) -> dict:
        """Its fields, by the names of published results."""
        return {"flows": self.streams, "one_way": self.one_way, "in_order": self.in_order}

    @property
    def ports(self) -> int:
        """The number of ports where frames enter."""
        return 1 if self.one_way else 2

    def offers(self, offer: dict, clocks: float) -> list[dict]:
        """The `ports` of moderato-sim's trial. The second port's frames start `clocks` later."""
        if self.streams > 1:
            offer = offer | {"streams": self.streams}
        return [offer | {"phase": round(clocks * port)} for port in range(self.ports)]

    @property
    def words(self) -> str:
        """Unusual settings, for tables and names of folders."""
        return " ".join([f"{self.streams} streams"] * (self.streams > 1) + ["one way"] * self.one_way)


def entered(report: dict) -> list[dict]:
    """The ports of moderato-sim's report at which frames entered."""
    return [port for port in report["ports"] if "offered" in port]
