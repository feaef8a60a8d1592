# SPDX-License-Identifier: BSD-2-Clause
"""Checkpoints on disk. Each is made once, and cached by the content of all its inputs.

booted   the kernel is up, the driver is not loaded
loaded   the driver is loaded, both interfaces are up; static neighbours, or ARP
ready    the variant and the user's settings are chosen; trials start here
carrying a program is in the guest; transfers start here
console  the console's tools are in the guest; `moderato shell` starts here
serving  the guest serves its page; `moderato live` starts here
on desk  the driver is a file of the guest, as on a board; `moderato board simulate` starts here
boxed    the guest is one of two boxes, joined by a wire
"""

import functools
import json
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain.cache import artifact

from . import ethtool, guest, runner
from .machine import KERNELS, Machine
from .session import FUNCTION, PROMPT, TIMEOUT, CheckpointError, Session
from .stations import BEYOND, ROUTER, TESTER, WIRE
from .variants import ALL, LITEETH

_repair = threading.Lock()


@dataclass(frozen=True)
class State:
    """A checkpoint, and how to make it again."""

    machine: Machine
    folder: Path
    make: Callable[[], "State"]

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def conditions(self) -> dict:
        """A result's conditions; `checkpoint` also identifies all settings."""
        return self.machine.conditions | {"checkpoint": self.folder.name[:12]}

    def counters(self) -> guest.Counters:
        """The guest's counters in this state; *booted* has none."""
        return guest.Counters(**json.loads((self.folder / "counters.json").read_text()))

    def cycle(self) -> int:
        """This state's cycle since reset."""
        with self.open() as session:
            return session.call("run", cycles=0)["cycle"]

    def open(self, **options) -> Session:
        """A simulation that starts here. Replaces an unusable checkpoint."""
        try:
            return Session(self.machine.simulator, restore=self.checkpoint, **options)
        except CheckpointError as error:
            self._remake(error)
            return Session(self.machine.simulator, restore=self.checkpoint, **options)

    def _remake(self, error: CheckpointError):
        with _repair:  # several trials may find the same damage
            try:
                Session(self.machine.simulator, restore=self.checkpoint).end()
            except CheckpointError:
                print(f"moderato: {error}; making it again", file=sys.stderr)
                shutil.rmtree(self.folder)
                self.make()


# Levels -------------------------------------------------------------------------------------------


def booted(machine: Machine) -> State:
    """From reset to the shell."""
    needs = KERNELS[machine.system.kernel.name]

    def build(folder: Path):
        with Session(machine.simulator, load=machine.images, console=folder / "console.log") as session:
            session.call("expect", text="MODERATO-BOOTED", max_cycles=needs.boot_cycles)
            session.call("expect", text=PROMPT, max_cycles=needs.boot_cycles)
            session.greet()
            session.call("save", file=str(folder / "checkpoint"))

    inputs = [machine.build_id, FUNCTION]
    for file, address in machine.images:
        inputs += [file, hex(address)]
    return _state(machine, "booted", inputs, build, needs.boot_note, functools.partial(booted, machine))


def loaded(machine: Machine, static: bool) -> State:
    """The driver is loaded, addresses are set; `static`: also the bench's neighbours."""
    before = booted(machine)
    module = f"/tmp/{machine.driver.name}"
    commands = [
        f"mailbox > {module}",
        f"insmod {module}",
        f"rm {module}",
        "/etc/moderato/up static" if static else "/etc/moderato/up",
    ]

    def build(folder: Path):
        with before.open(console=folder / "console.log") as session:
            session.call("mailbox", file=str(machine.driver), address=machine.mailbox)
            _prepare(session, commands, folder)

    return _state(
        machine,
        "loaded",
        [before.folder.name, machine.driver, *commands],
        build,
        "half a minute",
        functools.partial(loaded, machine, static),
    )


def ready(machine: Machine, variant: str | None, static: bool = True) -> State:
    """A variant is chosen. None, or a variant without a choice, leaves the driver's default."""
    spread, own = machine.system.commands(), machine.system.ethtool
    if variant in (None, LITEETH):
        if not spread and not own:
            return loaded(machine, static)
        return chosen(machine, "default", spread, static, own)
    return chosen(machine, variant, [*ALL[variant].commands(), *spread], static, own)


def chosen(
    machine: Machine, name: str, commands: Sequence[str], static: bool = True, own: Sequence[str] = ()
) -> State:
    """Settings are chosen by commands, under the name `name`; `own`: the user's settings, after
    those."""
    before = loaded(machine, static)

    def build(folder: Path):
        with before.open(console=folder / "console.log") as session:
            for command in commands:
                session.check(command)
            for setting in own:
                ethtool.choose(session, setting)
            _prepare(session, [], folder)

    after = [command for setting in own for command in ethtool.commands(setting)]
    return _state(
        machine,
        f"ready-{name}",
        [before.folder.name, *commands, *after],
        build,
        "half a minute",
        functools.partial(chosen, machine, name, commands, static, own),
    )


def carrying(before: State, path: str, program: Path, commands: Sequence[str] = ()) -> State:
    """A program of this project is in the guest at `path`, and settings are chosen by commands."""
    commands = [f"mailbox > {path}", f"chmod +x {path}", *commands]

    def build(folder: Path):
        with before.open(console=folder / "console.log") as session:
            session.call("mailbox", file=str(program), address=before.machine.mailbox)
            _prepare(session, commands, folder)

    return _state(
        before.machine,
        f"carrying-{program.name}",
        [before.folder.name, program, *commands],
        build,
        "half a minute",
        functools.partial(carrying, before, path, program, commands[2:]),
    )


def at_console(before: State, package: Path) -> State:
    """The content of console.package() is in the guest, and its shell has started again."""

    def build(folder: Path):
        with before.open(console=folder / "console.log") as session:
            session.call("mailbox", file=str(package), address=before.machine.mailbox)
            session.check("mailbox | tar -x -C /")
            session.call("send", text="exec /bin/sh -i\n")
            session.call("expect", text=PROMPT, max_cycles=TIMEOUT)
            session.greet()
            _prepare(session, [], folder)

    return _state(
        before.machine,
        "console",
        [before.folder.name, package],
        build,
        "half a minute",
        functools.partial(at_console, before, package),
    )


# TCP ports; at 23 a telnet client expects more than a shell. Without job control (+m), which would wait
# for the terminal.
SHELL_PORT = 2323


def serving(before: State) -> State:
    """The guest serves its page (soc/linux/console/www) and a shell; the console stays usable."""
    commands = ["httpd -h /www", f"nc -ll -p {SHELL_PORT} -e sh +m -i &"]

    def build(folder: Path):
        with before.open(console=folder / "console.log") as session:
            _prepare(session, commands, folder)

    return _state(
        before.machine,
        "serving",
        [before.folder.name, *commands],
        build,
        "half a minute",
        functools.partial(serving, before),
    )


def on_desk(machine: Machine) -> State:
    """The driver is where a board has it, and not loaded."""
    before = booted(machine)
    command = f"mkdir -p /lib/modules; mailbox > /lib/modules/{machine.driver.name}"

    def build(folder: Path):
        with before.open(console=folder / "console.log") as session:
            session.call("mailbox", file=str(machine.driver), address=machine.mailbox)
            session.check(command)
            session.call("save", file=str(folder / "checkpoint"))

    return _state(
        machine,
        "desk",
        [before.folder.name, machine.driver, command],
        build,
        "half a minute",
        functools.partial(on_desk, machine),
    )


def boxed(before: State) -> tuple[State, State]:
    """Two boxes, for a wire from port 1 of the first to port 0 of the second. They differ only in their
    addresses, and are at the same cycle."""
    second = _boxed(before, 1, SECOND)
    return _boxed(before, 0, FIRST, second), second


FIRST = (
    f"ip neigh del {TESTER[1].ipv4} dev eth1",
    f"ip addr del {ROUTER[1].ipv4}/24 dev eth1",
    f"ip addr add {WIRE[0].ipv4}/24 dev eth1",
    f"ip route add 198.19.0.0/24 via {WIRE[1].ipv4}",
)
SECOND = (
    f"ip link set eth0 down; ip link set eth0 address {WIRE[1].mac}; ip link set eth0 up",
    f"ip link set eth1 down; ip link set eth1 address {BEYOND.mac}; ip link set eth1 up",
    f"ip addr del {ROUTER[0].ipv4}/24 dev eth0",
    f"ip addr add {WIRE[1].ipv4}/24 dev eth0",
    f"ip route add 198.18.0.0/24 via {WIRE[0].ipv4}",
)
SLACK = 20_000_000  # cycles in which the first box, which has less to do, reaches the second's cycle


def _boxed(before: State, number: int, commands: Sequence[str], other: State | None = None) -> State:
    """other: the box whose cycle this one has to reach."""

    def build(folder: Path):
        with before.open(console=folder / "console.log") as session:
            for command in commands:
                session.check(command)
            counters = guest.parse(session.check(guest.COMMAND))
            now = session.call("run", cycles=SETTLE)["cycle"]
            session.call("run", cycles=other.cycle() - now if other else SLACK)
            (folder / "counters.json").write_text(json.dumps(vars(counters)))
            session.call("save", file=str(folder / "checkpoint"))

    return _state(
        before.machine,
        f"box-{number}",
        [before.folder.name, *commands, *([other.folder.name] if other else [])],
        build,
        "half a minute",
        functools.partial(_boxed, before, number, commands, other),
    )


def prepare(machine: Machine, variants: Sequence[str]) -> dict[str, State]:
    """The ready states of variants; missing ones are made in parallel."""
    loaded(machine, static=True)  # all of them start from it

    jobs = [(variant, functools.partial(_ready, machine, variant)) for variant in variants]
    return dict(zip(variants, runner.run_all(jobs, "variants ready")))


def _ready(machine: Machine, variant: str, _) -> State:
    return ready(machine, variant)


def _prepare(session: Session, commands: Sequence[str], folder: Path):
    """Run commands in the guest, store its counters, save a checkpoint."""
    for command in commands:
        session.check(command)
    counters = guest.parse(session.check(guest.COMMAND))
    session.call("run", cycles=SETTLE)
    (folder / "counters.json").write_text(json.dumps(vars(counters)))
    session.call("save", file=str(folder / "checkpoint"))


# Long enough for the driver's deferred work after changed settings.
SETTLE = 2_000_000


def _state(machine, name, inputs, build, note, make) -> State:
    return State(machine, artifact(f"checkpoint-{name}", inputs, build, note), make)
