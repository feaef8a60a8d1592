# SPDX-License-Identifier: BSD-2-Clause
"""Where the CPU's cycles go, per frame."""

from . import arguments, common, files

EXAMPLES = ("--variant napi --load 4.2", "--variant original,napi --flame-graph flames.svg")


def options(parser):
    common.add_machine(parser, several=True, fast=True)
    common.add_frame_size(parser)
    common.add_load(parser)
    add = parser.add_argument
    add(
        "--seconds",
        type=arguments.seconds,
        default=0.1,
        metavar="S",
        help="of simulated time in which frames are offered (default: 0.1)",
    )
    common.add_link(parser)
    add(
        "--folded",
        type=files.output_file,
        metavar="FILE",
        help="also write each stack with its cycles here, as flamegraph.pl reads them",
    )
    add(
        "--flame-graph", type=files.output_file, metavar="FILE.svg", help="also write a flame graph here"
    )
    common.add_ethtool(parser)
    common.add_json(parser)
    common.add_yes(parser)


def check(options):
    common.require_distinct(
        [],
        [("--folded", options.folded), ("--json", options.json), ("--flame-graph", options.flame_graph)],
    )
    common.require_system(options)


def run(options) -> int:
    from ..explain.profile import Request, profile

    return profile(common.request(Request, options))
