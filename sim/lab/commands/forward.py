# SPDX-License-Identifier: BSD-2-Clause
"""Measure how Linux forwards; prints a table."""

from . import arguments, common, files

EXAMPLES = (
    "",
    "--variant napi,napi-tx-off --frame-size 64 --load 1,5,50",
    "--variant hw-moderated --load 5 --ethtool '-C rx-usecs 50' --ethtool '-G rx 64'",
    "--variant original --frame-size 512 --frames 1000 --json out.json --pcap captures",
)


def options(parser):
    common.add_machine(parser, several=True, fast=True)
    common.add_frame_sizes(parser, 64, 512)
    common.add_loads(parser)
    parser.add_argument(
        "--frames",
        type=arguments.frames,
        metavar="N",
        help="offered to each port (default: what the load gives in a fixed time)",
    )
    common.add_link(parser)
    common.add_traffic(parser)
    common.add_ethtool(parser)
    common.add_json(parser)
    parser.add_argument(
        "--pcap",
        type=files.output_folder,
        metavar="DIR",
        help="also write every frame of each trial here, in a folder for each",
    )
    common.add_yes(parser)


def check(options):
    common.require_distinct([], [("--json", options.json), ("--pcap", options.pcap)])
    common.require_system(options)


def run(options) -> int:
    from ..measure.forward import Request, forward

    return forward(common.request(Request, options))
