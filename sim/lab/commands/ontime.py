# SPDX-License-Identifier: BSD-2-Clause
"""Send frames at launch times; prints how late they leave."""

from . import arguments, common

EXAMPLES = (
    "",
    "--frames 1000 --interval 250000 --load 20",
    "--link 1000 --json out.json",
)


def options(parser):
    from ..run.system import HARTS

    add = parser.add_argument
    add(
        "--frames",
        type=arguments.frames,
        default=100,
        metavar="N",
        help="with a launch time, sent in each way (default: 100)",
    )
    add(
        "--interval",
        type=arguments.interval,
        default=1_000_000,
        metavar="NS",
        help="between two launch times, in nanoseconds (default: 1000000)",
    )
    common.add_link(parser)
    common.add_frame_size(parser)
    common.add_load(parser)
    add("--harts", type=int, choices=HARTS, default=1, help="number of harts (default: 1)")
    common.add_json(parser)
    common.add_yes(parser)


def check(options):
    common.require_distinct([], [("--json", options.json)])


def run(options) -> int:
    from ..ontime.study import Request, ontime

    return ontime(common.request(Request, options))
