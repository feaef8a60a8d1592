# SPDX-License-Identifier: BSD-2-Clause
"""A command's use of the descriptors, terminal and environment that its caller gave it."""

import ast
import contextlib
import fcntl
import os
import pty
import shlex
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import namespaces
import pytest

from moderato.sim.lab.run import runner
from moderato.toolchain.project import ROOT

WAIT = 60  # seconds after which a command counts as endless
SOURCES = sorted(
    file
    for folder in ("sim/lab", "soc", "toolchain", "boards", "integrate", "gateware", "examples")
    for file in (ROOT / folder).rglob("*.py")
    if "tests" not in file.parts
)

# A command of the lab with the fake machine.
STARTER = """
import sys
from pathlib import Path, PosixPath
from moderato.sim.lab import cli
from moderato.sim.lab.live import live
from moderato.sim.lab.measure import forward, replay
from moderato.sim.lab.rfc2544 import matrix as rfc2544
from moderato.sim.lab.run import console, shell
from moderato.sim.lab.run.machine import Machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.strategies import comparison as strategies
from moderato.sim.lab.tcp import transfers as tcp
from moderato.soc.linux.kernel import Choice
for module in forward, live, replay, rfc2544, shell, strategies, tcp:
    module.machine = lambda *_, **__: {machine!r}
tcp.program = console.userspace.busybox = lambda *_, **__: Path({program!r})
tcp.symbols.of_guest = lambda _: []
sys.exit(cli.main(sys.argv[1:]))
"""
COMMANDS = {
    "forward --variant napi --frame-size 64 --frames 2000 --json {folder}/out": 0,
    "forward --variant nosuch": 2,
    "tcp --variant napi --direction in --json {folder}/out": 0,
    "receiver --user-buffer 4096": 0,
    "strategies --strategy napi --situation ping": 0,
    "rfc2544 --variant napi --frame-size 64 --results {folder}/out": 0,
    "shell -c true": 7,  # the fake guest's status
    "live --record {folder}/out -c 'exit 7'": 7,
    "about": 0,
    "about --json {folder}/out": 0,
}
ALL = "<&- >&- 2>&-"
CLOSED = ["<&-", ">&-", "2>&-", ALL]


@pytest.fixture
def lab(machine, tmp_path):
    """The words of a Python program that runs a command of the lab."""
    program = tmp_path / "program"
    program.write_text("program")
    return [sys.executable, "-c", STARTER.format(machine=machine, program=str(program))]


def closed(words: list, which: str) -> subprocess.CompletedProcess:
    """Run a command with some descriptors closed."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {which}', "sh", *words],
        timeout=WAIT,
        text=True,
        stdin=subprocess.PIPE,
        capture_output=True,
    )


# Descriptors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command, which",
    [
        (command, which)
        for command in COMMANDS
        for which in CLOSED
        if which == ALL or command.startswith(("forward", "live"))
    ],
)
def test_closed_descriptors(lab, tmp_path, command, which):
    """The command's status and files are the same as with all descriptors open."""
    if command.startswith("live"):
        namespaces.need()
    words = lab + shlex.split(command.format(folder=tmp_path))
    done = closed(words, which)
    assert done.returncode == COMMANDS[command], done.stderr
    assert "Traceback" not in done.stderr
    if "{folder}" in command:
        assert (tmp_path / "out").stat().st_size > 100


@pytest.mark.parametrize("which", CLOSED)
@pytest.mark.parametrize(
    "words, status",
    [
        ("--version", 0),
        ("live --help", 0),
        ("nosuch", 2),
        ("forward --variant nosuch", 2),
        ("setup foo", 2),
    ],
)
def test_closed_descriptors_of_the_launcher(words, status, which):
    done = closed([ROOT / "moderato", *words.split()], which)
    assert done.returncode == status, done.stderr
    assert bool(done.stdout) == (status == 0 and ">&-" not in which.split())
    assert bool(done.stderr) == (status == 2 and "2>&-" not in which)


# The terminal -------------------------------------------------------------------------------------


def on_terminal(words: list, **environment: str) -> str:
    """The output of a command on a terminal."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as shown:
        process = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **environment}
        )
        os.close(theirs)
        printed = b""
        try:
            while piece := shown.read(1 << 16):
                printed += piece
        except OSError:  # the last process has closed it
            pass
        assert process.wait(WAIT) == COMMANDS.get(shlex.join(words[3:]), 0), printed
    return printed.decode()


@pytest.mark.parametrize(
    "command", ["forward --variant napi --frame-size 64,128 --frames 2000", "shell -c true"]
)
@pytest.mark.parametrize(
    "environment, escapes",
    [
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ],
)
def test_escape_sequences(lab, command, environment, escapes):
    shown = on_terminal(lab + shlex.split(command), **environment)
    assert ("\033" in shown) == escapes, shown


def state(pid: int) -> str:
    """The state in ps(1): T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def until(reached) -> bool:
    end = time.monotonic() + WAIT
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)
    return True


def descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task").glob("*/children")
    found = [int(word) for file in children for word in file.read_text().split()]
    return found + [each for child in found for each in descendants(child)]


@contextlib.contextmanager
def stopped_at_the_end(process: subprocess.Popen) -> Iterator[subprocess.Popen]:
    """The process with all its children; ends them at the end."""
    try:
        yield process
    finally:
        for pid in (process.pid, *descendants(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


@pytest.mark.parametrize(
    "command, begun, runs",
    [
        ("forward --variant napi --frame-size 64 --frames 2000", "variants ready", "moderato-sim"),
        ("live -c 'echo begun; sleep 98765.25'", "begun", "moderato-sim"),
        ("live -c 'echo begun; sleep 98765.75'", "begun", "sleep"),
        ("live -c 'sleep 98765.25; echo'", "checkpoint-serving: done", "sleep"),
    ],
)
def test_ctrl_z_stops_all_processes(lab, command, begun, runs):
    """And `fg` continues them."""
    if command.startswith("live"):
        namespaces.need()
    ours, theirs = pty.openpty()
    line = f"set -m; {shlex.join([*lab, *shlex.split(command)])}; read; fg; exit"
    with (
        os.fdopen(ours, "r+b", buffering=0) as keys,
        stopped_at_the_end(
            subprocess.Popen(
                ["bash", "--norc", "-i", "-c", line],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env={**os.environ, "FAKE_STALL": "1", "TERM": "dumb"},
                preexec_fn=lambda: (os.setsid(), fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)),
            )
        ) as shell,
    ):
        os.close(theirs)
        shown = b""
        while begun.encode() not in shown:
            shown += keys.read(1 << 16)

        def running() -> list[int]:
            return [
                pid
                for pid in descendants(shell.pid)
                if runs
                in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").partition("-c ")[0]
            ]

        until(running)
        (pid,) = running()
        keys.write(b"\x1a")
        until(lambda: state(pid) == "T")
        keys.write(b"\n")
        until(lambda: state(pid) != "T")
        keys.write(b"\3")
        until(lambda: not Path(f"/proc/{pid}").exists())


# Signals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_status_of_a_signal(lab, number):
    process = subprocess.Popen(
        [*lab, "forward", "--variant", "napi", "--frame-size", "64"],
        env={**os.environ, "FAKE_STALL": "1"},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    for line in process.stderr:
        if "ready" in line:
            break
    process.send_signal(number)
    assert process.communicate(timeout=WAIT)[1].endswith("moderato: stopped\n")
    assert process.returncode == 128 + number


def test_stop_while_a_thread_starts(monkeypatch):
    """An executor does not wait for a thread whose start was interrupted; its job would continue."""
    threads, begun, start = [], [], threading.Thread.start

    def interrupted(thread: threading.Thread):
        threads.append(thread)
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.run_all([("job", begun.append)])
    for thread in threads:
        thread.join()
    assert threads and not begun


# The environment ----------------------------------------------------------------------------------

# Python's variables that a user may have set, and with which Python ends, waits or prints something
# else.
PYTHONS = {
    "PYTHONPATH": "{folder}",
    "PYTHONHOME": "{folder}",
    "PYTHONSTARTUP": "{folder}",
    "PYTHONOPTIMIZE": "2",
    "PYTHONINSPECT": "1",
    "PYTHONWARNINGS": "error",
    "PYTHONIOENCODING": "nosuch",
    "PYTHONPLATLIBDIR": "nosuch",
    "PYTHONVERBOSE": "1",
    "PYTHONLATER": "a *\nPYTHON-X=b",
}


@pytest.mark.parametrize(
    "words, status",
    [
        ("--version", 0),
        ("help forward", 0),
        ("forward --variant nosuch", 2),
        ("test --co -q sim/tests/test_columns.py", 0),
    ],
)
def test_variables_of_the_user_s_python(tmp_path, words, status):
    """They have no effect, and no package in the user's path replaces one of ours."""
    for module in ("argparse", "signal", "sitecustomize", "pytest"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('imported')")
    theirs = {name: value.format(folder=tmp_path) for name, value in PYTHONS.items()}
    done = subprocess.run(
        [ROOT / "moderato", *words.split()],
        capture_output=True,
        text=True,
        timeout=WAIT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **theirs},
    )
    assert done.returncode == status, done.stderr
    assert "import" not in done.stderr and len(done.stderr.splitlines()) == (status == 2)


# Exceptions ---------------------------------------------------------------------------------------


def test_messages_contain_no_exception_class():
    """A user does not know KeyError or repr(); errors.reason() makes a message for users."""
    assert SOURCES
    found = []
    for file in SOURCES:
        for handler in ast.walk(ast.parse(file.read_text())):
            if isinstance(handler, ast.ExceptHandler) and handler.name:
                found += [
                    f"{file.relative_to(ROOT)}:{node.lineno}"
                    for node in ast.walk(handler)
                    if _names_class(node, handler.name)
                ]
    assert found == []


def _names_class(node: ast.AST, name: str) -> bool:
    """Whether an expression is {name!r}, repr(name) or type(name)."""
    match node:
        case ast.FormattedValue(value=ast.Name(id=used), conversion=114):
            return used == name
        case ast.Call(func=ast.Name(id="repr" | "type"), args=[ast.Name(id=used)]):
            return used == name
    return False
