# SPDX-License-Identifier: BSD-2-Clause
"""Runs tests on mutants, the most likely killers first, and keeps each outcome by content."""

import ast
import contextlib
import functools
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from bench.simulation import TESTS, named
from moderato.toolchain import verilator
from moderato.toolchain.cache import key
from moderato.toolchain.project import cache_root

from .overlay import GATEWARE, Mutant, overlay

PROOF = "formal:"         # prefix of a proof's name; other names are simulations
OTHERS = {"duts.py", "simulator.py"}  # of the bench: _device() selects the relevant parts
IMPORTS = re.compile(r"^(?:from|import) ([\w.]+)(?: import (\([^)]*\)|.*))?", re.M)

_children = set()         # running processes, which end with this one


class Unsound(Exception):
    """The tests fail on the unchanged gateware; the message names them."""


@dataclass(frozen=True)
class Outcome:
    """kind: passed, failed, elaboration (the change does not elaborate), build, ended (the
    simulator crashed, or took too long)."""
    kind:    str
    case:    str | None
    message: str | None
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """The verdict on a mutant; `name` is the decisive simulation, or proof."""
    mutant:  Mutant
    name:    str
    outcome: Outcome
    seconds: float

    @property
    def killed(self):
        return self.outcome.kind != "passed"


# Outcomes by content ------------------------------------------------------------------------------

@functools.cache
def _device(device: str) -> str:
    """The source of a device in bench/devices/duts.py, with everything there that it uses."""
    text = (TESTS / "bench" / "devices" / "duts.py").read_text()
    parts = {}
    for node in ast.parse(text).body:
        names = [target.id for target in getattr(node, "targets", [])] or [getattr(node, "name", "")]
        parts |= dict.fromkeys(names, node)
    waiting = [device]
    for name in waiting:
        used = {node.id for node in ast.walk(parts[name]) if isinstance(node, ast.Name)}
        waiting += sorted(used & parts.keys() - set(waiting))
    return "\n".join(ast.get_source_segment(text, parts[name]) for name in waiting)


def _sources(files: list[Path]) -> list[Path]:
    """These files, and all files of this folder that they import.

    bench/simulator.py is not included, because it does not affect outcomes.
    """
    files = [*files, TESTS / "bench" / "devices" / "ecp5_cells.v"]
    for file in files:
        for package, names in IMPORTS.findall(file.read_text() if file.suffix == ".py" else ""):
            package = package.replace(".", "/")
            found = [f"{package}.py", *(f"{package}/{name}.py" for name in re.findall(r"\w+", names))]
            files += [TESTS / name for name in found if (TESTS / name).is_file()
                      and TESTS / name not in files and Path(name).name not in OTHERS]
    return sorted(files)


@functools.cache
def _inputs(name: str) -> list:
    """The inputs of a simulation, or a proof, besides the gateware."""
    if name.startswith(PROOF):
        return _sources(list((TESTS / "formal").glob("*.py")))
    simulation = named(name)
    fast = [test.fullname for test in simulation.tests if not simulation.is_slow(test)]
    own = {Path(inspect.getfile(test.func)) for test in simulation.tests}
    return [*fast, _device(simulation.device), *_sources(list(own))]


def _key(mutant: Mutant | None, name: str) -> str:
    inputs = [name, verilator.version(), *_inputs(name)]
    for file in sorted(GATEWARE.rglob("*.py")):
        text, place = file.read_text(), str(file.relative_to(GATEWARE))
        inputs += [place, mutant.apply(text) if mutant and mutant.file == place else text]
    return key("mutate", inputs)


def _file(mutant: Mutant | None, name: str) -> Path:
    return cache_root() / "mutate" / "outcomes" / f"{_key(mutant, name)}.json"


def known(mutant: Mutant | None, name: str) -> Outcome | None:
    """The kept outcome of a simulation's fast tests, or None."""
    file = _file(mutant, name)
    return Outcome(**json.loads(file.read_text())) if file.exists() else None


def outcome(mutant: Mutant | None, name: str, case: str | None = None) -> Outcome:
    """The outcome of fast tests, or of one `case`, on a mutant or on the unchanged gateware."""
    if found := known(mutant, name):
        return found
    found = _run(mutant, name, case)
    if found.kind != "passed" or not case:  # one case that passes decides nothing
        file = _file(mutant, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(vars(found)))
        part.rename(file)
    return found


def require_sound(name: str):
    """A simulation's tests can judge mutants only if they pass on the unchanged gateware."""
    found = outcome(None, name)
    if found.kind != "passed":
        raise Unsound(f"{name} {found.case or ''} fails without any mutant: {found.message}")


# Running ------------------------------------------------------------------------------------------

def _run(mutant: Mutant | None, name: str, case: str | None) -> Outcome:
    started = time.monotonic()
    home = cache_root() / "mutate"
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="run-", dir=home) as temporary:
        folder, result = Path(temporary), Path(temporary) / "result"
        _share_library(folder / "cache")
        path = [overlay(folder / "overlay", mutant), TESTS]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)),
                                    "MODERATO_CACHE": str(folder / "cache"),
                                    "PYTHONDONTWRITEBYTECODE": "1"}
        if name.startswith(PROOF):
            command = ["pytest", "-x", "-q", "-n0", f"--junitxml={result}", "-p", "no:cacheprovider",
                       TESTS / "formal", "-k", f"hold and {name.removeprefix(PROOF)}"]
        else:
            command = ["mutate.run", name, result, *[case] * bool(case)]
        _process([sys.executable, "-m", *command], environment, folder / "log")
        seconds = round(time.monotonic() - started, 1)
        if not result.exists():
            raise RuntimeError(f"{name} ended without a result:\n"
                               + (folder / "log").read_text()[-3000:])
        if name.startswith(PROOF):
            return Outcome(*_proof(result), seconds)
        return Outcome(*json.loads(result.read_text()), seconds)


def _share_library(cache: Path):
    """Links Verilator's library, the same for all, into the temporary cache of a run."""
    library = cache_root() / "cocotb" / "library"
    library.mkdir(parents=True, exist_ok=True)
    (cache / "cocotb").mkdir(parents=True)
    (cache / "cocotb" / "library").symlink_to(library)


def _process(command: list, environment: dict, log: Path):
    """Runs a program, and ends all processes that it started."""
    with open(log, "w") as output:
        child = subprocess.Popen(command, cwd=TESTS, env=environment, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
    _children.add(child)
    try:
        child.wait()
    finally:
        end(child)


def end(child):
    """Ends a process with its group."""
    _children.discard(child)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def end_all():
    for child in list(_children):
        end(child)


def _proof(result: Path):
    for case in ElementTree.parse(result).getroot().iter("testcase"):
        for failure in [*case.iter("failure"), *case.iter("error")]:
            return "failed", case.get("name"), failure.get("message", "")[:500]
    return "passed", None, None


# A mutant -----------------------------------------------------------------------------------------

def known_verdict(mutant: Mutant, names: list[str]) -> Verdict | None:
    """Like judge(), but runs nothing: None without a kept verdict."""
    outcomes = {name: known(mutant, name) for name in names}
    for name, found in outcomes.items():
        if found and found.kind != "passed":
            return Verdict(mutant, name, found, found.seconds)
    if None in outcomes.values():
        return None
    return Verdict(mutant, name, found, 0.0)


def judge(mutant: Mutant, names: list[str], guess: tuple[str, str] | None) -> Verdict:
    """Runs the guessed case, then the simulations, until one kills the mutant."""
    seconds = 0.0
    if guess and guess[0] in names:
        names = [guess[0], *[name for name in names if name != guess[0]]]
        if guess[1] and not guess[0].startswith(PROOF):
            first = outcome(mutant, *guess)
            seconds += first.seconds
            if first.kind != "passed":
                return Verdict(mutant, guess[0], first, seconds)
    for name in names:
        found = outcome(mutant, name)
        seconds += found.seconds
        if found.kind != "passed":
            break
    return Verdict(mutant, name, found, seconds)
