# SPDX-License-Identifier: BSD-2-Clause
"""RFC 2544's tests; a trial is never run twice."""

from ..rfc2544 import SEARCHES
from ..show.errors import UsageError
from . import arguments, common

LOADS = [100, 90, 80, 70, 60, 50, 40, 30, 20, 10]

EXAMPLES = (
    "",
    "--test loss --variant napi --frame-size 64 --load 100,50,10",
    "--nic liteeth --frame-size 64,512 --results mine.jsonl",
)


def options(parser):
    add = parser.add_argument
    add(
        "--test",
        dest="tests",
        type=arguments.rfc2544_tests,
        default=["throughput", "latency"],
        metavar="T[,T...]",
        help="all, or some of " + ", ".join(arguments.RFC2544) + " (default: throughput,latency)",
    )
    common.add_machine(parser, several=True, kernel=False, offload=False, fast=True)
    common.add_frame_sizes(parser, 64, 128, 256, 512, 896, 1024, 1280, 1518)
    add(
        "--load",
        dest="loads",
        type=arguments.loads,
        metavar="PERCENT[,...]",
        help="of the line rate, for `loss` (default: 100,90,...,10)",
    )
    add(
        "--phases",
        type=arguments.phases,
        metavar="N",
        help="repeat searches with this many phases between the two generators (default: 1)",
    )
    add(
        "--resolution",
        type=arguments.resolution,
        metavar="PERCENT",
        help="of the rate, to which a throughput is found (default: 1)",
    )
    common.add_link(parser)
    common.add_traffic(parser)
    common.add_runner(parser)
    common.add_yes(parser)


def check(options):
    require_used(options)
    common.require_system(options)


def run(options) -> int:
    from ..rfc2544.matrix import Request, rfc2544

    return rfc2544(common.request(Request, options, loads=options.loads or LOADS))


def require_used(options):
    """Reject an option that none of the tests uses: its user expects an effect."""
    for name, value, tests in (
        ("load", options.loads, {"loss"}),
        ("phases", options.phases, SEARCHES),
        ("resolution", options.resolution, SEARCHES),
    ):
        if value is not None and not tests & set(options.tests):
            raise UsageError(
                f"--{name} has no effect on --test {','.join(options.tests)}; leave it "
                f"out, or add --test {', '.join(sorted(tests))}"
            )
