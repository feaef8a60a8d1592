# SPDX-License-Identifier: BSD-2-Clause
"""The guest's console, or one command."""

from . import common

EXAMPLES = ("",
            "-c 'cat /proc/interrupts'",
            "-c 'ping -c 3 198.18.0.2'",
            "--variant napi-tx-off -c 'ethtool -c eth0'")


def options(parser):
    common.add_machine(parser, without="default: what the driver does by itself")
    parser.add_argument("-c", dest="command", metavar="COMMAND",
                        help="run this and end with its status")
    common.add_udp_echo(parser)


def run(options) -> int:
    from ..run.shell import shell
    common.variants(options)
    return shell(options.variant, options.command, common.system(options), options.udp_echo)
