# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests on mutants, the likeliest killers first, and keeps each outcome by content."""

import ast
import contextlib
import functools
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

from moderato.soc.toolchain import verilator
from moderato.soc.toolchain.cache import key
from moderato.soc.toolchain.project import ROOT, cache_root

from .overlay import GATEWARE, Mutant, overlay

TESTS = ROOT / "cocotb-tests"
PROOF = "formal:"         # the prefix of a proof's name, where others name a test module
OTHERS = {"duts.py", "simulator.py"}  # of the bench: what counts of them is in _device()

_children = set()         # running processes, to be ended with this one


class Unsound(Exception):
    """The tests fail on the gateware as it is; the message says which."""


@dataclass(frozen=True)
class Outcome:
    """kind: passed, failed, elaboration (the change makes no hardware), build, ended (the simulator
    crashed, or took too long)."""
    kind:    str
    case:    str | None
    message: str | None
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant; `module` is the one whose outcome decided."""
    mutant:  Mutant
    module:  str
    outcome: Outcome
    seconds: float

    @property
    def killed(self):
        return self.outcome.kind != "passed"


# Outcomes by content ------------------------------------------------------------------------------

@functools.cache
def _device(module: str) -> str:
    """What bench/duts.py says of a test module's device, and of what that is made of."""
    text = (TESTS / "bench" / "duts.py").read_text()
    parts = {}
    for node in ast.parse(text).body:
        names = [target.id for target in getattr(node, "targets", [])] or [getattr(node, "name", "")]
        parts |= dict.fromkeys(names, node)
    file = TESTS / f"{module}.py"
    waiting = re.findall(r'^DUT += "(\w+)"', file.read_text(), re.M) if file.exists() else []
    for name in waiting:
        used = {node.id for node in ast.walk(parts[name]) if isinstance(node, ast.Name)}
        waiting += sorted(used & parts.keys() - set(waiting))
    return "\n".join(ast.get_source_segment(text, parts[name]) for name in waiting)


@functools.cache
def _sources(module: str) -> list[Path]:
    """The files of a test module: itself, and what it imports from this folder.

    How they are built and run (bench/simulator.py) is not among them: that decides nothing.
    """
    waiting, files = [module], [TESTS / "bench" / "ecp5_cells.v"]
    if module.startswith(PROOF):
        waiting += [f"formal/{file.stem}" for file in (TESTS / "formal").glob("*.py")]
    for name in waiting:
        file = TESTS / f"{name}.py"
        if file.exists() and file not in files and file.name not in OTHERS:
            files.append(file)
            imports = re.findall(r"^(?:from|import) ([\w.]+)", file.read_text(), re.M)
            waiting += [found.replace(".", "/") for found in imports]
    return sorted(files)


def _key(mutant: Mutant | None, module: str) -> str:
    inputs = [module, verilator.version(), _device(module), *_sources(module)]
    for file in sorted(GATEWARE.rglob("*.py")):
        text, name = file.read_text(), str(file.relative_to(GATEWARE))
        inputs += [name, mutant.apply(text) if mutant and mutant.file == name else text]
    return key("mutate", inputs)


def _file(mutant: Mutant | None, module: str) -> Path:
    return cache_root() / "mutate" / "outcomes" / f"{_key(mutant, module)}.json"


def known(mutant: Mutant | None, module: str) -> Outcome | None:
    """The outcome of a test module's fast tests, if it was found out before."""
    file = _file(mutant, module)
    return Outcome(**json.loads(file.read_text())) if file.exists() else None


def outcome(mutant: Mutant | None, module: str, case: str | None = None) -> Outcome:
    """Of a test module's fast tests, or of one `case`, on a mutant, or on the gateware as it is."""
    if found := known(mutant, module):
        return found
    found = _run(mutant, module, case)
    if found.kind != "passed" or not case:  # one case that passes decides nothing
        file = _file(mutant, module)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(vars(found)))
        part.rename(file)
    return found


def require_sound(module: str):
    """A module's tests can judge mutants only if they pass on the gateware as it is."""
    found = outcome(None, module)
    if found.kind != "passed":
        raise Unsound(f"{module} {found.case or ''} fails without any mutant: {found.message}")


# Running ------------------------------------------------------------------------------------------

def _run(mutant: Mutant | None, module: str, case: str | None) -> Outcome:
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
        if module.startswith(PROOF):
            command = ["pytest", "-x", "-q", "-n0", f"--junitxml={result}", "-p", "no:cacheprovider",
                       TESTS / "formal", "-k", f"hold and {module.removeprefix(PROOF)}"]
        else:
            command = ["mutate.run", module, result, *[case] * bool(case)]
        _process([sys.executable, "-m", *command], environment, folder / "log")
        seconds = round(time.monotonic() - started, 1)
        if not result.exists():
            raise RuntimeError(f"{module} ended without a result:\n"
                               + (folder / "log").read_text()[-3000:])
        if module.startswith(PROOF):
            return Outcome(*_proof(result), seconds)
        return Outcome(*json.loads(result.read_text()), seconds)


def _share_library(cache: Path):
    """Lets the cache of a run, which goes with it, hold Verilator's library, the same for all."""
    library = cache_root() / "cocotb" / "library"
    library.mkdir(parents=True, exist_ok=True)
    (cache / "cocotb").mkdir(parents=True)
    (cache / "cocotb" / "library").symlink_to(library)


def _process(command: list, environment: dict, log: Path):
    """Runs a program, and ends all that it started."""
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

def known_verdict(mutant: Mutant, modules: list[str]) -> Verdict | None:
    """As judge(), but runs nothing: None if that would have to."""
    outcomes = {module: known(mutant, module) for module in modules}
    for module, found in outcomes.items():
        if found and found.kind != "passed":
            return Verdict(mutant, module, found, found.seconds)
    if None in outcomes.values():
        return None
    return Verdict(mutant, module, found, 0.0)


def judge(mutant: Mutant, modules: list[str], guess: tuple[str, str] | None) -> Verdict:
    """Runs the modules until one kills; before them the case that is likely to."""
    seconds = 0.0
    if guess and guess[0] in modules:
        modules = [guess[0], *[module for module in modules if module != guess[0]]]
        if guess[1] and not guess[0].startswith(PROOF):
            first = outcome(mutant, *guess)
            seconds += first.seconds
            if first.kind != "passed":
                return Verdict(mutant, guess[0], first, seconds)
    for module in modules:
        found = outcome(mutant, module)
        seconds += found.seconds
        if found.kind != "passed":
            break
    return Verdict(mutant, module, found, seconds)
