# SPDX-License-Identifier: BSD-2-Clause
"""The board's settings that commands change: each command leaves them as they were."""

import contextlib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..run import ethtool
from ..run.stations import ROUTER, TESTER
from ..run.variants import INTERFACES
from ..show.errors import LabError
from .shell import Shell

LOADED = "[ -e /sys/class/net/eth0 ]"
FORWARDING = "/proc/sys/net/ipv4/ip_forward"
READ = f"cat {FORWARDING}; ip -o link; ip -o addr; ip neigh"
READ_PORT = "ethtool -k {0} | grep generic-receive; ethtool -c {0}; ethtool --show-priv-flags {0}; :"
WORDS = re.compile(r"adaptive-[rt]x|[rt]x-(frames|usecs(-irq|-low|-high)?)")  # of a strategy
TRIES = 2  # the board may be gone


@dataclass(frozen=True)
class Port:
    """What `counters.NETWORK` and a variant set."""

    up: bool
    address: bool
    neighbour: bool
    gro: str
    coalesce: dict[str, str]
    flags: dict[str, str]


@dataclass(frozen=True)
class Settings:
    """ports: empty without the driver."""

    forwarding: str
    ports: list[Port]

    def commands(self, now: "Settings") -> list[str]:
        """What restores them, if the board has those of `now`."""
        commands = []
        if self.forwarding != now.forwarding:
            commands.append(f"echo {self.forwarding} > {FORWARDING}")
        if now.ports and not self.ports:
            return [*commands, "rmmod moderato"]
        for number, (before, after) in enumerate(zip(self.ports, now.ports)):
            commands += _port(number, before, after)
        return commands


def _port(number: int, before: Port, now: Port) -> Iterator[str]:
    name = INTERFACES[number]
    if words := _differing(before.coalesce, now.coalesce):
        yield f"ethtool -C {name} {words}"
    if words := _differing(before.flags, now.flags):
        yield f"ethtool --set-priv-flags {name} {words}"
    if before.gro != now.gro:
        yield f"ethtool -K {name} gro {before.gro}"
    if now.neighbour and not before.neighbour:
        yield f"ip neigh del {TESTER[number].ipv4} dev {name}"
    if now.address and not before.address:
        yield f"ip addr del {ROUTER[number].ipv4}/24 dev {name}"
    if now.up and not before.up:
        yield f"ip link set {name} down"


def _differing(before: dict[str, str], now: dict[str, str]) -> str:
    return " ".join(f"{name} {value}" for name, value in before.items() if now.get(name) != value)


def read(shell: Shell, interfaces: Sequence[str]) -> Settings:
    common = shell.run(READ, TRIES)[1]
    forwarding = common.partition("\n")[0]
    if shell.run(LOADED, TRIES)[0]:
        return Settings(forwarding, [])
    ports = []
    for number, name in enumerate(interfaces):
        said = shell.run(READ_PORT.format(name), TRIES)[1]
        shown = ethtool.shown(said.partition("Private flags")[0])
        ports.append(
            Port(
                up=bool(re.search(rf"^\d+: {name}: <[^>]*\bUP\b", common, re.M)),
                address=f" {name}    inet {ROUTER[number].ipv4}/24 " in common,
                neighbour=bool(
                    re.search(rf"^{TESTER[number].ipv4} dev {name} .*PERMANENT", common, re.M)
                ),
                gro=shown.get("generic-receive-offload", ""),
                coalesce={key: value for key, value in shown.items() if WORDS.fullmatch(key)},
                flags=ethtool.shown(said.partition("Private flags")[2]),
            )
        )
    return Settings(forwarding, ports)


@contextlib.contextmanager
def restored(shell: Shell, interfaces: Sequence[str]) -> Iterator[None]:
    """Restores them after the block, also if a signal ends it."""
    before = read(shell, interfaces)
    try:
        yield
    finally:
        if not shell.restarted:
            _restore(shell, before, interfaces)


def _restore(shell: Shell, before: Settings, interfaces: Sequence[str]):
    try:
        shell.recover()
        for command in before.commands(read(shell, interfaces)):
            shell.run(command, TRIES)
    except LabError as error:
        print(f"moderato: the board keeps the settings of this command: {error}", file=sys.stderr)
