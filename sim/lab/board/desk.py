# SPDX-License-Identifier: BSD-2-Clause
"""A booted board: its shell, and the host's interfaces that its ports are connected to."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..run.stations import ROUTER, TESTER
from ..show.errors import LabError
from . import counters, settings, wire
from .built import Built
from .serial_line import SerialLine
from .shell import Shell

ANSWER = 1.0  # seconds


@dataclass(frozen=True)
class Desk:
    """wires: of ports 0 and 1, as far as named and usable; unusable: why the others are not."""

    built: Built
    shell: Shell
    wires: dict[int, wire.Wire]
    unusable: dict[int, str]

    def start(self):
        """Load the driver, and set the bench's addresses."""
        self.shell.check(counters.DRIVER)
        self.shell.check(counters.NETWORK)

    def router(self, port: int) -> str | None:
        """The MAC address that answers ARP for the board at this port; None: no answer."""
        at = self.wires[port]
        found = at.ask(ROUTER[port].ipv4, TESTER[port].mac, TESTER[port].ipv4, ANSWER * self.built.slow)
        return found[0] if found else None

    def require_ports(self):
        """Raises LabError if a port does not answer, or the cables are swapped."""
        for port, why in self.unusable.items():
            raise LabError(f"port {port}: {why}")
        addresses = self.addresses()
        for port in self.wires:
            if fault := port_fault(port, self.router(port), addresses, self.wires[port].name):
                raise LabError(f"port {port}: {fault[0]}; {fault[1]}")

    def addresses(self) -> list[str]:
        """The MAC addresses of the board's ports."""
        files = (f"/sys/class/net/{name}/address" for name in self.built.interfaces)
        return self.shell.check(f"cat {' '.join(files)}").split()


def port_fault(
    port: int, answer: str | None, addresses: list[str], interface: str
) -> tuple[str, str] | None:
    """What is wrong at a port whose ARP request got this answer, and the next step."""
    if answer is None:
        return (
            f"nothing answers at {interface}",
            "look at the link's LEDs; try another cable, and check which of the board's ports it is in",
        )
    if answer == addresses[port]:
        return None
    if answer in addresses:
        return (
            f"{interface} is connected to the board's port {addresses.index(answer)}",
            "swap the cables, or --port0 and --port1",
        )
    return (
        f"another station answers at {interface} for {ROUTER[port].ipv4} ({answer})",
        "connect the board to this interface alone, without a switch",
    )


@contextlib.contextmanager
def opened(built: Built, device: str, interfaces: dict[int, str], timeout: float) -> Iterator[Desk]:
    """A desk while the block runs, with the interfaces that can be used. Then the board has its
    settings of before."""
    with contextlib.ExitStack() as stack:
        wires, unusable = {}, {}
        for port, name in interfaces.items():
            try:
                wires[port] = stack.enter_context(wire.Wire(name))
            except LabError as error:
                unusable[port] = str(error)
        line = stack.enter_context(SerialLine(device, built.soc["baud_rate"]))
        shell = Shell(line, timeout * built.slow)
        shell.connect()
        stack.callback(shell.close)
        stack.enter_context(settings.restored(shell, built.interfaces))
        yield Desk(built, shell, wires, unusable)
