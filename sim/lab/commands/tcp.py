# SPDX-License-Identifier: BSD-2-Clause
"""TCP into the guest, out of it, and through it; prints a table."""

from ..run.variants import LITEETH, OFFLOAD
from ..show.errors import UsageError
from . import arguments, common, files

EXAMPLES = (
    "--direction in,out,through --variant napi-full --link 1000",
    "--direction in --variant original,napi --user-buffer 4096 --profile",
    "--direction out --nic liteeth --bytes 500000 --pcap captures",
)


def options(parser):
    from ..tcp.transfer import (
        DIRECTIONS,
        FAULTS,
        FEATURES,
        OF_HARDWARE,
        PEERS,
        PROGRAMS,
        Transfer,
    )

    common.add_machine(parser, several=True)
    add = parser.add_argument
    add(
        "--direction",
        type=arguments.directions,
        default=list(DIRECTIONS),
        metavar="D[,D...]",
        help="in: the guest receives, out: it sends, through: it forwards between two testers "
        "(default: all three)",
    )
    add(
        "--link",
        dest="links",
        type=arguments.links,
        default=[100],
        metavar="MBPS[,...]",
        help="line rates: 10, 100 (default), 1000 Mb/s",
    )
    add(
        "--bytes",
        dest="octets",
        type=arguments.octets,
        default=Transfer.octets,
        metavar="N",
        help=f"of each connection (default: {Transfer.octets})",
    )
    add("--connections", type=arguments.connections, default=1, metavar="N", help="at once (default: 1)")
    add(
        "--user-buffer",
        type=arguments.octets,
        default=Transfer.user_buffer,
        metavar="N",
        help=f"octets of the program's recv() or send() in the guest (default: {Transfer.user_buffer})",
    )
    add(
        "--socket",
        type=arguments.octets,
        default=0,
        metavar="N",
        help="SO_RCVBUF and SO_SNDBUF in the guest (default: the kernel's own choice)",
    )
    add(
        "--window",
        type=arguments.window,
        default=Transfer.window,
        metavar="N",
        help=f"the tester's receive window in octets (default: {Transfer.window})",
    )
    add(
        "--gro",
        choices=("on", "off"),
        help="in the guest (default: off for through, as a router has it; else on)",
    )
    add(
        "--off",
        type=arguments.features,
        default=[],
        metavar="F[,F...]",
        help=f"what the guest does without, as with ethtool -K: {', '.join(FEATURES)} "
        f"({' and '.join(OF_HARDWARE)} need --nic offload)",
    )
    add(
        "--zerocopy",
        action="store_true",
        help="the guest's program sends with MSG_ZEROCOPY: its pages go to the NIC as they are "
        "(needs --nic offload)",
    )
    add(
        "--check",
        action="store_true",
        help="the guest's program compares every octet, which costs it as much again",
    )
    add(
        "--program",
        choices=PROGRAMS,
        default=PROGRAMS[0],
        help="the guest's end; nuttcp only for --direction out (default: our own, stream)",
    )
    add(
        "--faults",
        type=arguments.faults,
        default=[],
        metavar="F[,F...]",
        help=f"what happens to one of 200 segments each way: {', '.join(FAULTS)}",
    )
    add(
        "--peer",
        choices=list(PEERS),
        help="the tester stops reading for a second, or answers nothing more",
    )
    add("--profile", action="store_true", help="also where the cycles of each segment go")
    common.add_ethtool(parser)
    common.add_json(parser)
    add(
        "--pcap",
        type=files.output_folder,
        metavar="DIR",
        help="also write every frame of each transfer here, in a folder for each; made again even "
        "if it is kept",
    )
    common.add_runner(parser)
    common.add_yes(parser)


def check(options):
    from ..tcp.transfer import OF_HARDWARE, OUT

    common.require_distinct(
        [("--results", options.results)], [("--json", options.json), ("--pcap", options.pcap)]
    )
    common.require_system(options)
    if options.off and options.nic == LITEETH:
        raise UsageError(
            "--off switches features of Moderato's driver, and LiteEth's has none of them; "
            "leave --off or --nic out"
        )
    if options.nic != OFFLOAD and (lacks := [name for name in options.off if name in OF_HARDWARE]):
        raise UsageError(
            f"--off {lacks[0]} needs a MAC with {lacks[0]}; add --nic {OFFLOAD}, or leave {lacks[0]} out"
        )
    if options.program == "nuttcp" and (options.direction != [OUT] or options.connections > 1):
        raise UsageError(
            "--program nuttcp sends over one connection: its receiver wants another "
            "nuttcp at the other end; add --direction out, or leave it out"
        )
    if options.zerocopy and (
        options.direction != [OUT]
        or options.program == "nuttcp"
        or options.nic != OFFLOAD
        or {"tx", "sg"} & set(options.off)
    ):
        raise UsageError(
            "--zerocopy needs our own program as the sender and a NIC that gathers "
            "frames; add --direction out --nic offload, or leave it out"
        )
    if options.peer == "stalls" and "in" in options.direction:
        raise UsageError("--peer stalls is a receiver's fault; add --direction out or through")
    if options.pcap and options.scheduler:
        raise UsageError("--pcap is written where the workers are; leave out --scheduler")


def run(options) -> int:
    from ..tcp.transfer import Transfer, usual_gro
    from ..tcp.transfers import Request, each_way, tcp

    like = common.request(
        Transfer,
        options,
        direction=options.direction[0],
        variant="",
        off=tuple(options.off),
        faults=tuple(options.faults),
        gro=False,  # each_way() knows
    )
    gro = {
        direction: options.gro == "on" if options.gro else usual_gro(direction)
        for direction in options.direction
    }
    transfers = each_way(like, gro, common.variants(options), options.links)
    return tcp(common.request(Request, options, transfers=transfers))
