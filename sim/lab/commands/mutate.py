# SPDX-License-Identifier: BSD-2-Clause
"""Change the gateware, and see whether the tests notice."""

import argparse
import re

from ..show.errors import LabError, UsageError
from . import files
from .cocotb_tests import importable

EXAMPLES = ("--jobs 2", "--only tx_ring", "--known")


def options(parser):
    add = parser.add_argument
    add("--jobs", type=jobs, default=1, metavar="N", help="mutants at once (default: 1)")
    add(
        "--only",
        type=pattern,
        default="",
        metavar="PATTERN",
        help="mutants with 'file: name' matching this regular expression (default: all, an "
        "hour on two cores)",
    )
    add(
        "--page",
        action="store_true",
        help="write build/mutation.md and the killers; with --known, if all verdicts are there",
    )
    add(
        "--known",
        action="store_true",
        help="run nothing: show earlier results; ends with 1 if some are missing",
    )


def run(options) -> int:
    importable()
    from mutate import campaign
    from mutate.command import Unknown, chosen, mutate

    mutants = chosen(options.only)
    if not mutants:
        raise UsageError(f"no mutant fits {options.only!r}")
    try:
        return mutate(mutants, options.jobs, options.page, options.known)
    except (campaign.Unsound, Unknown) as error:
        raise LabError(str(error)) from None


def jobs(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number of mutants; give 1 or more")
    return int(word)


def pattern(word: str) -> str:
    try:
        re.compile(files.text(word))
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{word!r} is no regular expression: {error}") from None
    return word
