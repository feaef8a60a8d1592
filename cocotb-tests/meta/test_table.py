# SPDX-License-Identifier: BSD-2-Clause
"""The table of devices and cases (wires/test_wires.py) and the test files with a device."""

import re
import sys
from collections import Counter
from importlib import import_module

import pytest
from cocotb._decorators import Test, TestGenerator

from bench.simulation import TESTS, named, rows, some
from formal.test_proofs import PROOFS
from mutate import mutants
from mutate.campaign import PROOF

FILES = sorted(TESTS.glob("*/test_*.py"))


@pytest.fixture(autouse=True)
def own_path(monkeypatch):
    """Additions to the path end with the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])


def twice(names):
    return [name for name, count in Counter(names).items() if count > 1]


def simulations():
    files = [file for file in FILES if re.search("^DUT *=", file.read_text(), re.MULTILINE)]
    return [*rows(), *(named(file.stem) for file in files)]


def test_a_name_is_one_simulations():
    """Logs, mutants' TESTS and -k use the name."""
    assert twice([row.name for row in rows()] + [file.stem for file in FILES]) == []


def test_a_simulation_has_a_test_once():
    for simulation in simulations():
        assert simulation.tests and not twice(test.name for test in simulation.tests), simulation.name


def test_cocotb_finds_each_once(monkeypatch):
    monkeypatch.setenv("SIMULATION", "gmii-resets")
    monkeypatch.delitem(sys.modules, "bench.chosen", raising=False)
    found = [item.fullname for item in vars(import_module("bench.chosen")).values()
             if isinstance(item, (Test, TestGenerator))]
    assert found == [test.fullname for test in named("gmii-resets").tests]


def test_every_case_runs_somewhere():
    run = {test.fullname for simulation in simulations() for test in simulation.tests}
    cases = [import_module(f"cases.{file.stem}") for file in (TESTS / "cases").glob("[a-z]*.py")]
    assert {test.fullname for test in some("", *cases)} - run == set()


def test_mutants_name_what_there_is():
    for name in {name for names in mutants.TESTS.values() for name in names}:
        assert name.removeprefix(PROOF) in PROOFS if name.startswith(PROOF) else named(name)


def test_files_import_no_test_file():
    """Also not everything of a shared module by `*`: shared code is in bench/ and cases/."""
    found = [(file.name, line) for file in TESTS.rglob("*.py") for line in file.read_text().splitlines()
             if re.match(r"from (test_|bench.*import \*|cases.*import \*)|import test_", line)]
    assert found == []
