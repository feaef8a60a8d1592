# SPDX-License-Identifier: BSD-2-Clause
"""`./moderato mutate`: applies each mutant of mutants/ alone and runs the fast tests until one
fails.

Tests run on a copy: the working tree does not change. The cache keeps outcomes by the contents of
gateware and tests, so an interrupted run continues where it stopped.
"""

import re
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import campaign, page
from .mutants import MUTANTS, TESTS


class Unknown(Exception):
    """There are too few verdicts for a page; the message names the command that produces them."""


def chosen(only: str) -> list:
    """The mutants whose 'file: name' matches the regular expression."""
    return [mutant for mutant in MUTANTS if re.search(only, f"{mutant.file}: {mutant.name}")]


def mutate(mutants: list, jobs: int, write_page: bool, only_known: bool) -> int:
    """Judges mutants, `jobs` at once, and prints each verdict; with `only_known`, prints kept verdicts.

    Returns 1 if a mutant survives that is not marked as equivalent, if a marked one is killed, or if one
    has no verdict. Raises campaign.Unsound, or Unknown if there are too few verdicts for a page.
    """
    for mutant in mutants:
        mutant.apply((campaign.GATEWARE / mutant.file).read_text())
    others = known(set(MUTANTS) - set(mutants)) if write_page else {}
    verdicts = known(mutants) if only_known else run(mutants, jobs)
    missing = len(MUTANTS) - len(verdicts) - len(others)
    if write_page and only_known and missing:
        raise Unknown(f"{missing} of {len(MUTANTS)} mutants have no verdict on this gateware, so the "
                      "page does not change; run `./moderato mutate --page`, an hour on two cores")
    wrong = [verdict for verdict in verdicts.values()
             if verdict.killed == bool(verdict.mutant.equivalent)]
    print(f"\n{page.score(verdicts.values())}; {len(mutants) - len(verdicts)} not run.")
    for verdict in wrong:
        print(f"{verdict.mutant.file}: {verdict.mutant.name}: "
              + ("marked as equivalent, but killed" if verdict.killed else "SURVIVES"))
    if write_page:
        page.write(MUTANTS, verdicts | others)
    return 1 if wrong or len(verdicts) < len(mutants) else 0


def known(mutants):
    """Kept verdicts, by mutant."""
    found = {mutant: campaign.known_verdict(mutant, TESTS[mutant.file]) for mutant in mutants}
    return {mutant: verdict for mutant, verdict in found.items() if verdict}


def run(mutants, jobs: int):
    """Verdicts by mutant. The tests that killed must pass on the unchanged gateware."""
    guesses = page.guesses()
    verdicts = {}
    pool = ThreadPoolExecutor(jobs)
    try:
        judged = {pool.submit(campaign.judge, mutant, TESTS[mutant.file],
                              guesses.get((mutant.file, mutant.name))): mutant
                  for mutant in mutants}
        for job in as_completed(judged):
            mutant, verdict = judged[job], job.result()
            verdicts[mutant] = verdict
            print(f"[{len(verdicts)}/{len(mutants)}] {verdict.seconds:5.0f} s  {mutant.file}: "
                  f"{mutant.name}: {page.fate(verdict)}", flush=True)
        print("the unchanged gateware ...", flush=True)
        list(pool.map(campaign.require_sound, sorted({v.name for v in verdicts.values()})))
    finally:  # leave no process running
        pool.shutdown(wait=False, cancel_futures=True)
        campaign.end_all()
    return verdicts
