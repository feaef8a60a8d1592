# SPDX-License-Identifier: BSD-2-Clause
"""The guest's console, or one command."""

from ..show.errors import UsageError
from . import arguments, common

EXAMPLES = (
    "",
    "-c 'cat /proc/interrupts'",
    "-c 'ping -c 3 198.18.0.2'",
    "--variant napi-tx-off -c 'ethtool -c eth0'",
    "--variant original --load 2",
)


def options(parser):
    common.add_machine(parser, without="default: what the driver does by itself")
    parser.add_argument("-c", dest="command", metavar="COMMAND", help="run this and end with its status")
    common.add_udp_echo(parser)
    parser.add_argument(
        "--load",
        type=arguments.load,
        metavar="PERCENT",
        help="of the line rate: the tester sends meanwhile, to each port at once, "
        "and a line says what becomes of it (default: nothing)",
    )
    parser.add_argument(
        "--frame-size",
        type=arguments.frame_size,
        metavar="N",
        help="of --load: octets, destination address to FCS (default: 64)",
    )


def check(options):
    common.require_system(options)
    if options.frame_size and not options.load:
        raise UsageError("--frame-size needs --load; add it, or leave both out")


def run(options) -> int:
    from ..run.shell import Load, shell

    load = Load(options.load, options.frame_size or 64) if options.load else None
    return shell(options.variant, options.command, common.system(options), options.udp_echo, load)
