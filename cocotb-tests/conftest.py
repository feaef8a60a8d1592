# SPDX-License-Identifier: BSD-2-Clause
"""Makes every cocotb test of a module a pytest test.

A test module names its device under test (`DUT`, a function of bench.duts) and holds cocotb tests.
With `CELLS = True` that is the device's netlist of ECP5 cells instead of its RTL; with a function
`SIMULATOR` it is what that makes, as `make` of bench.simulator.simulate. Each module is one
simulation of the cases that were selected, which runs when the module is set up.
"""

import pytest
from cocotb._decorators import Test, TestGenerator


def pytest_pycollect_makemodule(module_path, parent):
    return Module.from_parent(parent, path=module_path)


def pytest_pycollect_makeitem(collector, name, obj):
    if not hasattr(collector.obj, "DUT"):
        return None
    if isinstance(obj, Test):
        return Case.of(collector, obj)
    if isinstance(obj, TestGenerator):
        return [Case.of(collector, test) for test in obj.generate_tests()]
    return None


class Module(pytest.Module):
    """If it holds cocotb tests, `outcomes` has what came of each in the simulation."""

    def setup(self):
        super().setup()
        if not hasattr(self.obj, "DUT"):
            return
        from bench.simulator import simulate
        cases = [item.name for item in self.session.items if item.parent is self]
        self.outcomes = simulate(self.obj.__name__, self.obj.DUT, cases,
                                 getattr(self.obj, "CELLS", False),
                                 getattr(self.obj, "SIMULATOR", None))
        self.unreported = sum(outcome.seconds for outcome in self.outcomes.values())


class Case(pytest.Item):
    """One cocotb test."""

    @classmethod
    def of(cls, collector, test):
        case = cls.from_parent(collector, name=test.name)
        for mark in getattr(test.func, "pytestmark", []):
            case.add_marker(mark.name)
        return case

    @property
    def outcome(self):
        return self.parent.outcomes[self.name]

    def runtest(self):
        if self.outcome.failure:
            raise CaseFailed(self.outcome.failure)

    def repr_failure(self, excinfo):
        if excinfo.errisinstance(CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, self.name


class CaseFailed(Exception):
    """The cocotb test failed; the message is its own."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A case takes what it took in the simulation.

    What is left of it, the simulator's build and start, belongs to the first case's set-up.
    """
    report = yield
    module = item.parent
    if isinstance(item, Case) and hasattr(module, "outcomes"):
        if call.when == "setup":
            report.duration, module.unreported = report.duration - module.unreported, 0
        elif call.when == "call":
            report.duration = item.outcome.seconds
    return report
