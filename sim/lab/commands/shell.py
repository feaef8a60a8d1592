# SPDX-License-Identifier: BSD-2-Clause
"""The guest's console, or one command."""

from . import common

EXAMPLES = ("",
            "-c 'cat /proc/interrupts'",
            "--variant napi-tx-off -c 'ethtool -c eth0'")


def options(parser):
    common.add_machine(parser)
    parser.add_argument("-c", dest="command", metavar="COMMAND",
                        help="run this and end with its status")


def run(options) -> int:
    from ..run.shell import shell
    common.variants(options)
    return shell(options.variant, options.command, options.nic, options.kernel)
