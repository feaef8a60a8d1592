# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's selftests in Python. The guest has no interpreter, so they run here, unchanged, but test
the guest's kernel.

The guest's shell runs their commands. A program in the guest sends the netlink messages of the kernel's
own YNL (selftests/netlink.c). File names in /sys are those of the guest.

Two parts need a change. This YNL can't read the attributes that align 64-bit values, which only kernels
for CPUs such as ours send; here it reads them as flags. And busybox' ping takes whole seconds.
"""

import contextlib
import glob
import io
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from unittest import mock

import yaml

from moderato.soc.linux import userspace

SOURCE = "tools/testing/selftests/drivers/net"
RELAY = Path(__file__).parent / "selftests/netlink.c"
THEIRS = "lib", "net"  # modules of the selftests, to be imported again


class Guest:
    """A session whose shell has the relay. mailbox: the machine's."""

    def __init__(self, session, mailbox: int, folder: Path):
        self.session, self.mailbox = session, mailbox
        program = folder / "netlink"
        subprocess.run([userspace.toolchain().cc, "-Os", "-s", "-o", program, RELAY], check=True)
        self.send(program.read_bytes(), "/tmp/netlink")
        session.check("chmod +x /tmp/netlink")

    def send(self, octets: bytes, name: str):
        with tempfile.NamedTemporaryFile() as file:
            file.write(octets)
            file.flush()
            self.session.call("mailbox", file=file.name, address=self.mailbox)
            self.session.check(f"mailbox > {name}")

    def ask(self, protocol: int, request: bytes) -> list[bytes]:
        """The answer to one message on a netlink socket."""
        self.send(request, "/tmp/request")
        said = self.session.check(f"/tmp/netlink {protocol} < /tmp/request")
        return [bytes.fromhex(line) for line in said.split()]


class Netlink:
    """The part of socket.socket() that YNL uses. The relay sets its options."""

    def __init__(self, guest: Guest, protocol: int):
        self.guest, self.protocol, self.answers = guest, protocol, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def setsockopt(self, *_):
        pass

    def send(self, request: bytes, _flags: int):
        self.answers += self.guest.ask(self.protocol, request)

    def recv(self, _size: int, _flags: int = 0) -> bytes:
        if not self.answers:
            raise BlockingIOError
        return self.answers.pop(0)


class Command:
    """The part of subprocess.Popen() that the selftests' `cmd` uses, for a command that has ended in the
    guest."""

    def __init__(self, guest: Guest, command: str):
        self.args = command
        self.returncode, said = guest.session.type(command.replace("-W0.5", "-W1"))
        self.said = said.encode()
        self.stdout, self.stderr = io.BytesIO(), io.BytesIO()

    def communicate(self, _timeout: float):
        return self.said, b""


def remote(run: Callable[[str], tuple[int, str]]) -> types.ModuleType:
    """The selftests' module for a kind of peer. `run` executes its commands, and returns status and
    output."""

    class Remote:
        def __init__(self, _name, _folder):
            pass

        def cmd(self, command: str):
            session = types.SimpleNamespace(type=run)
            return Command(types.SimpleNamespace(session=session), command)

    module = types.ModuleType("lib.py.remote_tester")
    module.Remote = Remote
    return module


def without_pads(specification):
    """A netlink specification whose attributes of type `pad` are flags (those of a structure have a
    length)."""
    if isinstance(specification, dict):
        if specification.get("type") == "pad" and "len" not in specification:
            return specification | {"type": "flag"}
        return {key: without_pads(value) for key, value in specification.items()}
    if isinstance(specification, list):
        return list(map(without_pads, specification))
    return specification


@contextlib.contextmanager
def pretended(
    guest: Guest, folder: Path, environment: Mapping[str, str], peer: types.ModuleType | None
) -> Iterator[None]:
    """Code in this context runs on the guest's kernel."""
    ordinary, load = socket.socket, yaml.safe_load

    def opened(family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0, *others):
        return (
            Netlink(guest, protocol)
            if family == socket.AF_NETLINK
            else ordinary(family, kind, protocol, *others)
        )

    def names(pattern: str) -> list[str]:
        status, said = guest.session.type(f"ls -d {pattern}")
        return [] if status else said.split()

    with contextlib.ExitStack() as patches:
        for patch in (
            mock.patch.object(socket, "socket", opened),
            mock.patch.object(glob, "glob", names),
            mock.patch.object(yaml, "safe_load", lambda file: without_pads(load(file))),
            mock.patch.object(subprocess, "Popen", lambda command, **_: Command(guest, command)),
            mock.patch.object(sys, "dont_write_bytecode", True),
            mock.patch.object(sys, "path", [str(folder), *sys.path]),
            mock.patch.dict(os.environ, environment),
            mock.patch.dict(sys.modules),
        ):
            patches.enter_context(patch)
        for name in [name for name in sys.modules if name.split(".")[0] in THEIRS]:
            del sys.modules[name]
        if peer:
            sys.modules[peer.__name__] = peer
        yield


def run(
    guest: Guest,
    source: Path,
    name: str,
    environment: Mapping[str, str],
    peer: types.ModuleType | None = None,
) -> tuple[bool, str]:
    """Run a selftest of a kernel's source. Return whether it passed, and its report (KTAP)."""
    script, report = source / SOURCE / name, io.StringIO()
    with (
        pretended(guest, script.parent, environment, peer),
        mock.patch.object(sys, "argv", [str(script)]),
        contextlib.redirect_stdout(report),
    ):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            return end.code == 0, report.getvalue()
    raise AssertionError(f"{name} has no verdict: {report.getvalue()}")
