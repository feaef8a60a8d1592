# SPDX-License-Identifier: BSD-2-Clause
"""The table of mutants fits today's gateware: each is one change of it, and still Python."""

import pytest

from .mutants import MUTANTS, TESTS
from .overlay import GATEWARE

NO_HARDWARE = {"export.py", "registers/table.py"}


def test_every_file_has_mutants():
    files = {str(file.relative_to(GATEWARE)) for file in GATEWARE.rglob("*.py")
             if file.name != "__init__.py"} - NO_HARDWARE
    assert {mutant.file for mutant in MUTANTS} == files == set(TESTS)


def test_names_are_unique():
    names = [(mutant.file, mutant.name) for mutant in MUTANTS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_mutant_is_one_change(mutant):
    compile(mutant.apply((GATEWARE / mutant.file).read_text()), mutant.file, "exec")
