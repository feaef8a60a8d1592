# SPDX-License-Identifier: BSD-2-Clause
"""The events while a burst is forwarded."""

from . import arguments, common, files

EXAMPLES = ("--variant napi --frames 8 --output napi.pftrace",)


def options(parser):
    common.add_machine(parser)
    common.add_frame_size(parser)
    add = parser.add_argument
    add(
        "--frames",
        type=arguments.frames,
        default=32,
        metavar="N",
        help="of the burst, at the minimum gap into each port at once (default: 32)",
    )
    common.add_link(parser)
    add(
        "--output",
        type=files.output_file,
        required=True,
        metavar="FILE",
        help="a trace for ui.perfetto.dev",
    )
    common.add_yes(parser)


def check(options):
    common.variant(options)
    common.require_system(options)


def run(options) -> int:
    from ..explain.timeline import Request, timeline

    return timeline(common.request(Request, options, variant=common.variant(options)))
