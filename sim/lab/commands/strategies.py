# SPDX-License-Identifier: BSD-2-Clause
"""All interrupt strategies compared: latency against CPU."""

from . import arguments, common

EXAMPLES = (
    "",
    "--strategy napi-full,hw-moderated --situation idle,50% --json out.json",
    "--strategy napi-timer --frame-size 512",
)


def options(parser):
    add = parser.add_argument
    add(
        "--strategy",
        type=arguments.strategy_list,
        default=arguments.strategy_list("all"),
        metavar="S[,S...]",
        help="all (default), or some of " + ", ".join(arguments.STRATEGIES),
    )
    add(
        "--situation",
        type=arguments.situation_list,
        default=arguments.situation_list("all"),
        metavar="S[,S...]",
        help="all (default), or some of " + ", ".join(arguments.SITUATIONS).replace("%", "%%"),
    )
    common.add_frame_size(parser)
    common.add_json(parser)
    common.add_runner(parser)


def check(options):
    common.require_distinct([("--results", options.results)], [("--json", options.json)])


def run(options) -> int:
    from ..strategies import settings
    from ..strategies.comparison import Request, strategies
    from ..strategies.situations import SITUATIONS

    return strategies(
        common.request(
            Request,
            options,
            settings=settings.of(tuple(options.strategy)),
            situations=[SITUATIONS[name] for name in options.situation],
        )
    )
