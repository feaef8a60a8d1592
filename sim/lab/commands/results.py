# SPDX-License-Identifier: BSD-2-Clause
"""Everything in docs/data, docs/tables.md and docs/figures anew (three hours)."""

from . import arguments

EXAMPLES = ("",
            "--study harts")


def options(parser):
    parser.add_argument("--study", type=arguments.study_list, default=list(arguments.STUDIES),
                        metavar="S[,S]", help="only some of: rfc2544 (80 minutes), tcp (40), "
                                              "strategies (30), harts (30); default: all")


def run(options) -> int:
    from . import published
    return published.results({study: published.STUDIES[study] for study in options.study})
