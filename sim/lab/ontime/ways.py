# SPDX-License-Identifier: BSD-2-Clause
"""The ways to send a frame at its launch time, and the guest's commands for each."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..run.variants import INTERFACES

INTERFACE, CLOCK = "eth0", "/dev/ptp0"
PRIORITY = 3  # of the socket
# Priority 3 is traffic class 1, in queue 1; everything else is in queue 0. Handle 100: has both queues.
CLASSES = (
    f"tc qdisc replace dev {INTERFACE} parent root handle 100 mqprio num_tc 2 "
    f"map {' '.join(str(int(priority == PRIORITY)) for priority in range(16))} queues 1@0 1@1 hw 0"
)
# Both ports alike, as the lab's counters need it. Threads poll: softirqs that forward at full load would
# leave no time for any program.
PORTS = [
    command
    for name in INTERFACES
    for command in (f"ethtool -L {name} combined 2", f"echo 1 > /sys/class/net/{name}/threaded")
]


@dataclass(frozen=True)
class Way:
    """`delta`: nanoseconds before the launch time at which etf hands a frame to the driver; None: no
    etf."""

    name: str
    says: str
    delta: int | None = None
    offload: bool = False
    sleeps: bool = False  # the program itself sleeps until the launch time

    def commands(self) -> list[str]:
        """The guest's commands, after PORTS and CLASSES."""
        if self.delta is None:
            return []
        etf = f"etf clockid CLOCK_TAI delta {self.delta}" + " offload" * self.offload
        return [f"tc qdisc replace dev {INTERFACE} parent 100:2 {etf}"]


WAYS: Mapping[str, Way] = {
    way.name: way
    for way in (
        Way("hardware", "etf gives the frame to the MAC, which holds it", 20_000_000, offload=True),
        Way("software", "etf without offload; the MAC sends at once", 500_000),
        Way("none", "the program sleeps until the launch time, then sends", sleeps=True),
    )
}
