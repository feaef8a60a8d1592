# SPDX-License-Identifier: BSD-2-Clause
"""Build the SoC for an FPGA board."""

from moderato.boards import BOARDS, LINKS, NICS, WITHOUT_LINUX, WITHOUT_PAIR

from ..run.variants import FLOWS, LITEETH, MODERATO, TIME
from ..show.errors import UsageError
from . import arguments, files

EXAMPLES = (
    "--board versa_ecp5",
    "--board ecpix5 --harts 2",
    "--board versa_ecp5 --link negotiated",
    "--board ecpix5 --seed 1,2,3 --output out",
)


def options(parser):
    add = parser.add_argument
    add("--board", type=arguments.board, required=True, metavar="NAME", help=", ".join(BOARDS))
    add(
        "--nic",
        choices=NICS,
        default=MODERATO,
        help="offload: with all options of the MACs, and a queue for each hart; flows: with a table of "
        "flows that they forward, and Linux' flow table; time: with frames that leave at their "
        "times; liteeth: the same "
        "SoC with LiteEth's MACs, for comparison (default: moderato)",
    )
    add(
        "--harts",
        type=int,
        choices=(1, 2),
        default=1,
        help="of the CPU; two need a large FPGA (default: 1)",
    )
    add(
        "--link",
        choices=LINKS,
        default=LINKS[0],
        help="negotiated: Linux asks the PHYs for the speed, which may be 10, 100 or 1000 Mb/s "
        "(default: fixed, 1000 Mb/s only)",
    )
    add(
        "--seed",
        type=arguments.seeds,
        default=[1],
        metavar="N[,N...]",
        help="of place and route; the fastest one gives the bitstream (default: 1)",
    )
    add(
        "--output",
        type=files.output_folder,
        metavar="DIR",
        help="a folder, which is replaced (default: NAME-NIC in the current one, and "
        "NAME-NIC-2-harts for two; -negotiated is added likewise)",
    )


def check(options):
    """Reject boards and options that cannot be built, before anything is installed."""
    small = (
        f"the memory of {options.board} is too small for Linux, and the program that runs without it "
    )
    if options.board in WITHOUT_LINUX:
        if options.nic != MODERATO:
            raise UsageError(f"{small}knows Moderato's MACs without options only; leave --nic out")
        if options.harts > 1:
            raise UsageError(f"{small}knows one hart only; leave --harts out")
        if options.link != LINKS[0]:
            raise UsageError(f"{small}asks no PHY; leave --link out")
    if options.nic == FLOWS and options.board in WITHOUT_PAIR:
        raise UsageError(
            f"flows are forwarded between two ports, and {options.board} has one; leave --nic out"
        )
    if options.nic == FLOWS and options.link != LINKS[0]:
        raise UsageError("the kernel with a flow table asks no PHY; leave --link or --nic out")
    if options.nic == TIME and options.link != LINKS[0]:
        raise UsageError("the kernel with qdiscs of times asks no PHY; leave --link or --nic out")
    if options.nic == LITEETH and options.link != LINKS[0]:
        raise UsageError("the kernel's driver of LiteEth asks no PHY; leave --link or --nic out")


def run(options) -> int:
    from moderato.boards.bitstream import bitstream

    return bitstream(
        options.board, options.nic, options.seed, options.output, options.harts, options.link
    )
