# SPDX-License-Identifier: BSD-2-Clause
"""How the tester's frames are spread over ports and flows."""

from dataclasses import dataclass

SEED = 1
QUIET = 1_000_000       # clocks without a frame or an event: the trial is over
PATIENCE = 500_000_000  # clocks in which what is queued has to drain


@dataclass(frozen=True)
class Traffic:
    """Into each port, or `one_way` into port 0 only; `flows`: of UDP, which take turns.

    in_order: a frame that overtakes another one of its flow makes a trial unsound; else such frames
    are counted.
    """
    flows:    int = 1
    one_way:  bool = False
    in_order: bool = True

    @property
    def ports(self) -> int:
        """Into so many frames are offered."""
        return 1 if self.one_way else 2

    def offers(self, offer: dict, clocks: float) -> list[dict]:
        """The `ports` of moderato-sim's trial. The second port's frames start `clocks` later."""
        if self.flows > 1:
            offer = offer | {"conversations": self.flows}
        return [offer | {"phase": round(clocks * port)} for port in range(self.ports)]

    @property
    def words(self) -> str:
        """What is not as usual, for people and for names of folders."""
        return " ".join([f"{self.flows} flows"] * (self.flows > 1) + ["one way"] * self.one_way)


def entered(report: dict) -> list[dict]:
    """Of moderato-sim's report, the ports where frames entered."""
    return [port for port in report["ports"] if "offered" in port]
