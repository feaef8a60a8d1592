# SPDX-License-Identifier: BSD-2-Clause
"""The ways to send a frame at its launch time, and the guest's commands for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..run.variants import INTERFACES

INTERFACE, CLOCK = "eth0", "/dev/ptp0"
PRIORITY = 3  # of the socket
# Priority 3 is traffic class 1, in queue 1; everything else is in queue 0. Handle 100: has both queues.
TRAFFIC = (
    f"num_tc 2 map {' '.join(str(int(priority == PRIORITY)) for priority in range(16))} queues 1@0 1@1"
)
CLASSES = f"tc qdisc replace dev {INTERFACE} parent root handle 100 mqprio {TRAFFIC} hw 0"
# Both ports alike, as the lab's counters need it. Threads poll: softirqs that forward at full load would
# leave no time for any program.
PORTS = [
    command
    for name in INTERFACES
    for command in (f"ethtool -L {name} combined 2", f"echo 1 > /sys/class/net/{name}/threaded")
]


@dataclass(frozen=True)
class Gates:
    """A list of gates, which begins at whole multiples of its cycle: bits of open queues, and
    nanoseconds."""

    entries: Sequence[tuple[int, int]]

    @property
    def cycle(self) -> int:
        return sum(interval for _, interval in self.entries)

    @property
    def command(self) -> str:
        entries = (f"sched-entry S {queues:#x} {interval}" for queues, interval in self.entries)
        return (
            f"tc qdisc del dev {INTERFACE} root; tc qdisc add dev {INTERFACE} parent root "
            f"handle 100 taprio {TRAFFIC} base-time 0 {' '.join(entries)} flags 0x2"
        )

    def opens(self, queue: int) -> Sequence[tuple[int, int]]:
        """When the queue's gate is open: begin and end, in nanoseconds from the cycle's begin. An
        interval that follows an open one is a part of it."""
        found: list[tuple[int, int]] = []
        at = 0
        for queues, interval in self.entries:
            if queues >> queue & 1:
                if found and found[-1][1] == at:
                    at_first = found.pop()[0]
                else:
                    at_first = at
                found.append((at_first, at + interval))
            at += interval
        return found


@dataclass(frozen=True)
class Way:
    """`delta`: nanoseconds before the launch time at which etf hands a frame to the driver; None: no
    etf. gates: of the queues, by taprio, in place of mqprio."""

    name: str
    says: str
    delta: int | None = None
    offload: bool = False
    sleeps: bool = False  # the program itself sleeps until the launch time
    gates: Gates | None = None

    def commands(self) -> list[str]:
        """The guest's commands, after PORTS and CLASSES."""
        if self.gates:
            return [self.gates.command]
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
        Way(
            "gates",
            "the same; taprio gives its queue 0.1 ms of each millisecond, and the other one 0.4 ms",
            sleeps=True,
            gates=Gates([(0b10, 100_000), (0b01, 400_000), (0b00, 500_000)]),
        ),
    )
}
