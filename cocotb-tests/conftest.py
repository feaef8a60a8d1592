# SPDX-License-Identifier: BSD-2-Clause
"""Makes every cocotb test of a module a pytest test.

A test module names its device under test (`DUT`, a function of bench.duts) and holds cocotb tests.
With `CELLS = True` that is the device's netlist of ECP5 cells instead of its RTL; with a function
`SIMULATOR` it is what that makes, as `make` of bench.simulator.simulate. Each module is one
simulation of the cases that were selected; simulations run side by side, one per core.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from cocotb._decorators import Test, TestGenerator


def pytest_pycollect_makeitem(collector, name, obj):
    if not hasattr(collector.obj, "DUT"):
        return None
    if isinstance(obj, Test):
        return Case.of(collector, obj)
    if isinstance(obj, TestGenerator):
        return [Case.of(collector, test) for test in obj.generate_tests()]
    return None


class Case(pytest.Item):
    """One cocotb test."""

    @classmethod
    def of(cls, collector, test):
        case = cls.from_parent(collector, name=test.name)
        for mark in getattr(test.func, "pytestmark", []):
            case.add_marker(mark.name)
        return case

    def runtest(self):
        reason = self.session.stash[SIMULATIONS][self.parent].result()[self.name]
        if reason:
            raise CaseFailed(reason)

    def repr_failure(self, excinfo):
        if excinfo.errisinstance(CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, self.name


class CaseFailed(Exception):
    """The cocotb test failed; the message is its own."""


SIMULATIONS = pytest.StashKey[dict]()


def pytest_runtestloop(session):
    """Starts every simulation; the tests then wait for theirs."""
    from bench.simulator import simulate

    selected = {}
    for item in session.items:
        if isinstance(item, Case):
            selected.setdefault(item.parent, []).append(item.name)
    if session.config.option.collectonly:
        return
    pool = ThreadPoolExecutor(os.cpu_count())
    session.config.add_cleanup(lambda: pool.shutdown(cancel_futures=True))
    session.stash[SIMULATIONS] = {
        module: pool.submit(simulate, module.obj.__name__, module.obj.DUT, cases,
                            getattr(module.obj, "CELLS", False),
                            getattr(module.obj, "SIMULATOR", None))
        for module, cases in selected.items()}
