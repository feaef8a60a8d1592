# SPDX-License-Identifier: BSD-2-Clause
"""Makes every cocotb test of a module a pytest test.

A test module names its device under test (`DUT`, a function of bench.duts) and holds cocotb tests.
With `CELLS = True` that is the device's netlist of ECP5 cells instead of its RTL; with a function
`SIMULATOR` it is what that makes, as `make` of bench.simulator.simulate. `SLOW`, a regular
expression, names those that are in the slow set here, whatever they are elsewhere. Each module is
one simulation of the cases that were selected, which runs when the module is set up.
"""

import pytest

from bench import cases


def pytest_pycollect_makemodule(module_path, parent):
    return Module.from_parent(parent, path=module_path)


def pytest_pycollect_makeitem(collector, name, obj):
    if not hasattr(collector.obj, "DUT"):
        return None
    return [Case.of(collector, test) for test in cases.tests(obj)] or None


class Module(pytest.Module):
    """If it holds cocotb tests, `outcomes` has what came of each in the simulation."""

    def setup(self):
        super().setup()
        if not hasattr(self.obj, "DUT"):
            return
        from bench.simulator import simulate
        wanted = [item.name for item in self.session.items if item.parent is self]
        self.outcomes = simulate(self.obj.__name__, self.obj.DUT, wanted,
                                 getattr(self.obj, "CELLS", False),
                                 getattr(self.obj, "SIMULATOR", None))
        self.unreported = sum(outcome.seconds for outcome in self.outcomes.values())


class Case(pytest.Item):
    """One cocotb test."""

    @classmethod
    def of(cls, collector, test):
        case = cls.from_parent(collector, name=test.name)
        if cases.is_slow(collector.obj, test):
            case.add_marker("slow")
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
