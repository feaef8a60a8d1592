# SPDX-License-Identifier: BSD-2-Clause
"""Everything in docs/data, docs/tables.md and docs/figures anew (180 minutes)."""

from . import arguments

EXAMPLES = ("",
            "--study harts")


def options(parser):
    parser.add_argument("--study", type=arguments.study_list, default=list(arguments.STUDIES),
                        metavar="S[,S]", help="only some of: trials (one hart, 140 minutes), harts "
                                              "(two, 30 minutes); default: all")


def run(options) -> int:
    from . import published
    return published.results({study: published.STUDIES[study] for study in options.study})
