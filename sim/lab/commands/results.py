# SPDX-License-Identifier: BSD-2-Clause
"""The data, tables and figures of docs/ again (three hours)."""

from ..measure.estimate import LONG
from ..show.errors import UsageError
from ..show.progress import duration
from . import arguments, common

EXAMPLES = ("--yes", "--study harts")
MINUTES = {"forward": 12, "rfc2544": 80, "tcp": 40, "strategies": 30, "harts": 30}  # as in published.py


def options(parser):
    parser.add_argument(
        "--study",
        type=arguments.study_list,
        default=list(arguments.STUDIES),
        metavar="S[,S]",
        help="only some of: "
        + ", ".join(f"{study} ({minutes} minutes)" for study, minutes in MINUTES.items())
        + "; default: all",
    )
    common.add_yes(parser)


def check(options):
    seconds = 60 * sum(MINUTES[study] for study in options.study)
    if seconds >= LONG and not options.patient:
        raise UsageError(f"this takes about {duration(seconds)}; name fewer with --study, or add --yes")


def run(options) -> int:
    from . import published

    return published.results({study: published.STUDIES[study] for study in options.study})
