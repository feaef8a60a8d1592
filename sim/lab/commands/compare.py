# SPDX-License-Identifier: BSD-2-Clause
"""Two results, or what two commits do, side by side."""

from pathlib import Path

from . import arguments, common

EXAMPLES = (
    "before.json after.json",
    "HEAD .",
    "HEAD~1 HEAD --run 'forward --variant napi,napi-tx-off --frame-size 64'",
    "HEAD . --run 'tcp --direction in --variant napi-full --profile'",
)


def options(parser):
    for name in "AB":
        parser.add_argument(
            name,
            help="a file that --json of a command wrote; a commit; or . for "
            "this clone's files as they are",
        )
    parser.add_argument(
        "--run",
        dest="words",
        type=arguments.compared,
        metavar="'COMMAND'",
        help=f"what two commits run: {', '.join(arguments.COMPARED)}, with options "
        "(default: profile --variant napi-tx-off)",
    )
    common.add_json(parser)


def check(options):
    # Resolved now: in the commands that this one starts, /dev/stdin is another file.
    files = [
        (side, Path(word).resolve())
        for side, word in (("A", options.A), ("B", options.B))
        if Path(word).is_file()
    ]
    common.require_distinct(files, [("--json", options.json)])


def run(options) -> int:
    from ..compare.sides import compare

    return compare([options.A, options.B], options.words, options.json)
