# SPDX-License-Identifier: BSD-2-Clause
"""Cocotb tests on one device in one simulation: those of a test file, or of a row of the table."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from cocotb._decorators import Test, TestGenerator

TESTS = Path(__file__).parents[1]
TABLE = TESTS / "wires" / "test_wires.py"
LONGEST = 12  # ms: longest simulated time of a fast test, except on a whole board
TWINS   = r"slow=0\.[^0]|answer=DECERR"  # repeat a case with slower memory or another error response


@dataclass(frozen=True)
class Simulation:
    """The tests of one device.

    cases  modules with their own tests and CASES, and single tests.
    slow   a regular expression that matches names of slow tests in this simulation.
    """
    name:   str
    device: str                      # a function of bench.devices.duts
    cases:  list
    slow:   str = TWINS
    cells:  bool = False             # the netlist of ECP5 cells instead of the RTL
    make:   Callable | None = None   # of another device: see bench.simulator.simulate()

    @classmethod
    def of(cls, module: ModuleType):
        """A test file with a DUT."""
        return cls(Path(module.__file__).stem, module.DUT, [module],
                   slow=getattr(module, "SLOW", TWINS), make=getattr(module, "SIMULATOR", None))

    @property
    def tests(self) -> list[Test]:
        return some("", *self.cases)

    def is_slow(self, test: Test) -> bool:
        """Whether pytest's mark or `slow` puts the test into the slow set."""
        marked = "slow" in [mark.name for mark in getattr(test.func, "pytestmark", [])]
        return marked or bool(re.search(self.slow, test.name))


def some(pattern: str, *cases) -> list[Test]:
    """The tests of `cases` whose name matches the regular expression."""
    found = [test for case in cases for test in _tests(case)]
    return [test for test in found if re.search(pattern, test.name)]


def all_but(*names: str) -> str:
    """A regular expression for all tests except those whose name begins with one of these."""
    return rf"^(?!{'|'.join(map(re.escape, names))})"


def _tests(case) -> list[Test]:
    if isinstance(case, ModuleType):
        own = [item for item in vars(case).values() if isinstance(item, (Test, TestGenerator))
               and item.module == case.__name__]  # others are only imported
        return [test for item in [*own, *getattr(case, "CASES", [])] for test in _tests(item)]
    return list(case.generate_tests()) if isinstance(case, TestGenerator) else [case]


def named(name: str) -> Simulation:
    """The simulation of the row, or of the test file, with this name."""
    for row in rows():
        if row.name == name:
            return row
    file, = TESTS.glob(f"*/{name}.py")
    return Simulation.of(_load(file))


def rows() -> list[Simulation]:
    """The rows of the table."""
    return _load(TABLE).ROWS


def _load(path: Path) -> ModuleType:
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    return import_module(path.stem)
