# SPDX-License-Identifier: BSD-2-Clause
"""Synthesise and place the MAC for ECP5; prints area and clocks."""

from . import arguments
from .cocotb_tests import importable

EXAMPLES = ("", "--seed 1,2,3")


def options(parser):
    parser.add_argument(
        "--seed",
        type=arguments.seeds,
        default=[1],
        metavar="N[,N...]",
        help="of place and route, a row for each (default: 1)",
    )


def run(options) -> int:
    importable()
    from synthesis.area import area

    return area(options.seed)
