# SPDX-License-Identifier: BSD-2-Clause
"""Makes every cocotb test a pytest test.

A test file names its device under test (`DUT`, a function of bench.devices.duts) and has cocotb
tests; `CASES` are further ones, of cases/. With a function `SIMULATOR`, that function makes the
device, as `make` of bench.simulator.simulate. `SLOW` is a regular expression that matches names of
slow tests (TWINS of bench.simulation if the file has none). A file with `ROWS` has a device and its
tests in each row.

A file, or a row, is one simulation of the selected tests, which runs when the first one is set up.
"""

import pytest

from bench.simulation import LONGEST, Simulation


def pytest_pycollect_makemodule(module_path, parent):
    return Module.from_parent(parent, path=module_path)


def pytest_pycollect_makeitem(collector, name, obj):
    if isinstance(collector, Module) and name == "DUT":
        return list(cases(collector))
    if isinstance(collector, Module) and name == "ROWS":
        return [Row.from_parent(collector, name=row.name, simulation=row) for row in obj]
    return None


def cases(collector):
    for test in collector.simulation.tests:
        case = Case.from_parent(collector, name=test.name)
        if collector.simulation.is_slow(test):
            case.add_marker("slow")
        yield case


def run(collector):
    """Stores the result of each test in its `outcomes`."""
    from bench.simulator import simulate
    wanted = [item.name for item in collector.session.items if item.parent is collector]
    collector.outcomes = simulate(collector.simulation, wanted)
    collector.unreported = sum(outcome.seconds for outcome in collector.outcomes.values())


class Module(pytest.Module):
    @property
    def simulation(self):
        return Simulation.of(self.obj)

    def setup(self):
        super().setup()
        if hasattr(self.obj, "DUT"):
            run(self)


class Row(pytest.Collector):
    def __init__(self, simulation, **options):
        super().__init__(**options)
        self.simulation = simulation

    def collect(self):
        return list(cases(self))

    def setup(self):
        run(self)


class Case(pytest.Item):
    """One cocotb test."""

    @property
    def outcome(self):
        return self.parent.outcomes[self.name]

    def runtest(self):
        if self.outcome.failure:
            raise CaseFailed(self.outcome.failure)
        if self.outcome.ms > LONGEST and not self.get_closest_marker("slow") \
                and not self.parent.simulation.make:
            raise CaseFailed(f"it takes {self.outcome.ms:.1f} ms of simulated time, but what a test of "
                             f"the fast set may take is {LONGEST} ms: `./moderato mutate` takes twice "
                             "that for a hang; make it shorter or slow")

    def repr_failure(self, excinfo):
        if excinfo.errisinstance(CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, self.name


class CaseFailed(Exception):
    """The cocotb test failed; the message is the test's own."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A case's duration is its time in the simulation.

    The rest, the simulator's build and start, belongs to the first case's set-up.
    """
    report = yield
    parent = item.parent
    if isinstance(item, Case) and hasattr(parent, "outcomes"):
        if call.when == "setup":
            report.duration, parent.unreported = report.duration - parent.unreported, 0
        elif call.when == "call":
            report.duration = item.outcome.seconds
    return report
