# SPDX-License-Identifier: BSD-2-Clause
"""The table of mutants fits the gateware: each is one change, and valid Python."""

import pytest

from bench.simulation import named

from . import campaign, command, page
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


def test_each_mutant_is_one_change():
    wrong = []
    for mutant in MUTANTS:
        try:
            compile(mutant.apply((GATEWARE / mutant.file).read_text()), mutant.file, "exec")
        except (SyntaxError, ValueError) as error:
            wrong.append(f"{mutant.file}: {mutant.name}: {error}")
    assert wrong == []


def test_no_killer_is_slow():
    """Only fast tests judge mutants: each simulation of TESTS has some, and no recorded killer is
    slow."""
    names = {name for names in TESTS.values() for name in names if not name.startswith(campaign.PROOF)}
    slow = {name: [test.name for test in named(name).tests if named(name).is_slow(test)]
            for name in names}
    assert [name for name in names if len(slow[name]) == len(named(name).tests)] == []
    killers = set(page.guesses().values())
    assert [killer for killer in killers if killer[1] in slow.get(killer[0], ())] == []
    there = {name: {test.name for test in named(name).tests} for name in names}
    assert [(name, case) for name, case in killers if case and case not in there.get(name, {case})] == []


@pytest.mark.parametrize("without", [1, len(MUTANTS)])
@pytest.mark.parametrize("asked", [1, len(MUTANTS)])
def test_page_needs_verdicts(without, asked, tmp_path, monkeypatch):
    """Without new verdicts, the old page remains. The command judges some mutants, or all."""
    passed = campaign.Outcome("failed", None, None, 1.0)
    unknown = MUTANTS[len(MUTANTS) - without:]
    monkeypatch.setattr(campaign, "known_verdict", lambda mutant, tests: (
        None if mutant in unknown else campaign.Verdict(mutant, tests[0], passed, 1.0)))
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "KILLERS", tmp_path / "killers.txt")
    page.PAGE.write_text("the old page")
    with pytest.raises(command.Unknown, match=f"{without} of {len(MUTANTS)} mutants have no verdict"):
        command.mutate(MUTANTS[:asked], 1, write_page=True, only_known=True)
    assert page.PAGE.read_text() == "the old page"
    unknown.clear()
    command.mutate(MUTANTS[:asked], 1, write_page=True, only_known=True)
    assert "Not a whole run" not in page.PAGE.read_text() and "mutants killed" in page.PAGE.read_text()
