# SPDX-License-Identifier: BSD-2-Clause
"""Send captured frames through the guest."""

from . import common, files

EXAMPLES = (
    "--variant napi --in0 in.pcap --out0 left0.pcap --out1 left1.pcap",
    "--variant napi --in0 in.pcapng --rewrite --out0 left0.pcap --out1 left1.pcap",
)


def options(parser):
    common.add_machine(parser)
    add = parser.add_argument
    add(
        "--in0",
        type=files.input_file,
        required=True,
        metavar="PCAP",
        help="enters port 0; pcap or pcapng",
    )
    add("--in1", type=files.input_file, metavar="PCAP", help="enters port 1")
    add("--out0", type=files.output_file, required=True, metavar="PCAP", help="what left port 0")
    add("--out1", type=files.output_file, required=True, metavar="PCAP", help="what left port 1")
    add(
        "--rewrite",
        dest="rewritten",
        action="store_true",
        help="the two stations that send each other most become the bench's two testers: their "
        "MAC and IPv4 addresses are exchanged for the bench's, and each enters at its own port",
    )
    common.add_json(parser)
    common.add_udp_echo(parser)
    common.add_yes(parser)


def check(options):
    common.require_distinct(
        [("--in0", options.in0), ("--in1", options.in1)],
        [("--out0", options.out0), ("--out1", options.out1), ("--json", options.json)],
    )
    common.variant(options)
    common.require_system(options)


def run(options) -> int:
    from ..measure.replay import Request, replay

    return replay(
        common.request(
            Request,
            options,
            variant=common.variant(options),
            inputs=[options.in0, options.in1],
            captures=[options.out0, options.out1],
        )
    )
