# SPDX-License-Identifier: BSD-2-Clause
"""The cost of receiving over TCP, by the size of the user's buffer."""

from . import arguments, common

EXAMPLES = (
    "",
    "--variant napi-full --user-buffer 64,4096,65536",
    "--results mine.jsonl --json out.json",
)


def options(parser):
    from ..receiver.buffers import BUFFERS

    common.add_machine(parser, without="default: original")
    parser.add_argument(
        "--user-buffer",
        dest="buffers",
        type=arguments.octets_list,
        default=list(BUFFERS),
        metavar="N[,N...]",
        help=f"octets of each recv(MSG_WAITALL) (default: {','.join(map(str, BUFFERS))})",
    )
    common.add_json(parser)
    common.add_runner(parser)
    common.add_yes(parser)


def check(options):
    common.require_distinct([("--results", options.results)], [("--json", options.json)])
    common.require_system(options)


def run(options) -> int:
    from ..receiver.study import Request, receiver

    chosen, *_ = common.variants(options)  # the first variant is the paper's driver
    return receiver(common.request(Request, options, variant=chosen))
