# SPDX-License-Identifier: BSD-2-Clause
"""The result of a mutation run: a page for people, and the killers, which the next run tries first."""

from pathlib import Path

from moderato.toolchain.project import ROOT

PAGE = ROOT / "build" / "mutation.md"
KILLERS = Path(__file__).with_name("killers.txt")  # tab-separated: file, mutant, simulation, case if any

HEAD = """\
# Mutation testing

Each row is a single change of the gateware. *Killed by* names the first test that failed.

"""
KINDS = {"elaboration": "it does not elaborate", "build": "Verilator rejects it",
         "ended": "the simulator crashed, or took too long"}


def fate(verdict) -> str:
    """The verdict, for a cell of a table."""
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
    """The number of killed mutants among those that are not equivalent."""
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
                 "gateware so far. The other rows name the test that is tried first.\n"]
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
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(HEAD + "\n".join(lines))
    for mutant, verdict in verdicts.items():
        if verdict.killed:
            expected[mutant.file, mutant.name] = verdict.name, verdict.outcome.case
    present = sorted({(mutant.file, mutant.name) for mutant in mutants} & expected.keys())
    KILLERS.write_text("".join(
        "\t".join([*each, *(part or "" for part in expected[each])]) + "\n" for each in present))


def guesses() -> dict[tuple[str, str], tuple[str, str | None]]:
    """(file, mutant) -> (simulation, case) that killed it in the last whole run."""
    rows = [line.split("\t") for line in KILLERS.read_text().splitlines()] if KILLERS.exists() else []
    return {(file, mutant): (simulation, case or None) for file, mutant, simulation, case in rows}
