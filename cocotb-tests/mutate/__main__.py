# SPDX-License-Identifier: BSD-2-Clause
"""Applies each mutant of mutants.py alone and runs the fast tests until one fails.

    cd cocotb-tests && ../.venv/bin/python -m mutate [--jobs 2] [--only PATTERN] [--page] [--known]

What is run is a copy: the working tree stays as it is. Outcomes are kept by the content of gateware
and tests, so a run that was interrupted goes on where it was. Ends with 1 if a mutant survives that
is not known to be equivalent, or if one that is said to be is killed after all.
"""

import argparse
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import campaign, page
from .mutants import MUTANTS, TESTS


def options():
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__.split("\n\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="mutants at once (default: 1)")
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="mutants in whose 'file: name' this regular expression is found")
    parser.add_argument("--page", action="store_true",
                        help="write docs/mutation.md at the end")
    parser.add_argument("--known", action="store_true",
                        help="run nothing: show what was found out before")
    return parser.parse_args()


def main():
    arguments = options()
    mutants = [mutant for mutant in MUTANTS
               if re.search(arguments.only, f"{mutant.file}: {mutant.name}")]
    if not mutants:
        raise SystemExit(f"no mutant fits {arguments.only!r}")
    for mutant in mutants:
        mutant.apply((campaign.GATEWARE / mutant.file).read_text())
    verdicts = known(mutants) if arguments.known else run(mutants, arguments.jobs)
    wrong = [verdict for verdict in verdicts.values()
             if verdict.killed == bool(verdict.mutant.equivalent)]
    print(f"\n{page.score(verdicts.values())}; {len(mutants) - len(verdicts)} not run.")
    for verdict in wrong:
        print(f"{verdict.mutant.file}: {verdict.mutant.name}: "
              + ("said to be equivalent, but killed" if verdict.killed else "SURVIVES"))
    if arguments.page:
        page.write(MUTANTS, verdicts | known(set(MUTANTS) - set(verdicts)))
    return 1 if wrong or len(verdicts) < len(mutants) else 0


def known(mutants):
    """Verdicts, by mutant, of what was found out before."""
    found = {mutant: campaign.known_verdict(mutant, TESTS[mutant.file]) for mutant in mutants}
    return {mutant: verdict for mutant, verdict in found.items() if verdict}


def run(mutants, jobs: int):
    """Verdicts by mutant. The tests that killed must pass on the gateware as it is."""
    guesses = page.guesses()
    verdicts = {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: clean up
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
        print("the gateware as it is ...", flush=True)
        list(pool.map(campaign.require_sound, sorted({v.module for v in verdicts.values()})))
    except campaign.Unsound as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit("interrupted; what is done is kept") from None
    finally:  # nothing goes on behind our back
        pool.shutdown(wait=False, cancel_futures=True)
        campaign.end_all()
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
