# SPDX-License-Identifier: BSD-2-Clause
"""docs/mutation.md: what became of every mutant, made from a whole run."""

import re

from moderato.toolchain.project import ROOT

PAGE = ROOT / "docs" / "mutation.md"

HEAD = """\
# Mutation testing

<!-- Made by `./moderato mutate --page` from cocotb-tests/mutate/mutants/ and what it found out. -->

Each line is a single change of the gateware ([mutants](../cocotb-tests/mutate/mutants/)) that
the fast tests were run against: *killed by* names the first test that failed. How to run it:
[cocotb-tests](../cocotb-tests/README.md#mutation-testing).

"""
KINDS = {"elaboration": "it makes no hardware", "build": "Verilator refuses it",
         "ended": "the simulator crashed, or took too long"}


def fate(verdict) -> str:
    """What became of a mutant, in a table's cell."""
    if verdict.killed:
        by = f"`{verdict.name}`"
        if verdict.outcome.case:
            by += f" `{verdict.outcome.case}`"
        kind = KINDS.get(verdict.outcome.kind)
        return f"{by} ({kind})" if kind else by
    if verdict.mutant.equivalent:
        return f"equivalent: {verdict.mutant.equivalent}"
    return "**survives**"


def score(verdicts) -> str:
    """How many were killed of those that can be."""
    real = [verdict for verdict in verdicts if not verdict.mutant.equivalent]
    killed = sum(verdict.killed for verdict in real)
    return (f"{killed} of {len(real)} mutants killed ({100*killed/max(1, len(real)):.0f} %); "
            f"{len(verdicts) - len(real)} more are equivalent to the original")


def write(mutants, verdicts):
    """verdicts: by mutant, of those that were run."""
    expected = guesses()
    lines = [f"{score(verdicts.values())}.\n"]
    if len(verdicts) < len(mutants):
        lines = [f"**Not a whole run**: of {len(mutants)} mutants {len(verdicts)} were run on this "
                 "gateware so far. Of the others, the test that is tried first stands there.\n"]
    for file in dict.fromkeys(mutant.file for mutant in mutants):
        lines += [f"## {file}\n", "| mutant | what it breaks | killed by |", "|---|---|---|"]
        for mutant in mutants:
            if mutant.file != file:
                continue
            if mutant in verdicts:
                cell = fate(verdicts[mutant])
            else:
                first = expected.get((file, mutant.name), ())
                cell = " ".join(["*not run yet*", *(f"`{part}`" for part in first if part)])
            lines.append(f"| {mutant.name} | {mutant.breaks} | {cell} |")
        lines.append("")
    PAGE.write_text(HEAD + "\n".join(lines))


def guesses() -> dict[tuple[str, str], tuple[str, str]]:
    """(file, mutant) -> (simulation, case) that killed it when the page was made, or may."""
    found, file = {}, None
    for line in PAGE.read_text().splitlines() if PAGE.exists() else ():
        if heading := re.match(r"## (\S+)$", line):
            file = heading[1]
        elif row := re.match(r"\| ([^|]+) \| .* \| (?:\*not run yet\* )?`([^`]+)`(?: `([^`]+)`)?"
                             r"[^|]*\|$", line):
            found[file, row[1]] = row[2], row[3]
    return found
