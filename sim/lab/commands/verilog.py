# SPDX-License-Identifier: BSD-2-Clause
"""Write the MAC as one Verilog file, for designs without LiteX."""

import argparse
import re

from moderato.gateware.options import JUMBO_ORDER, OPTIONS, MACOptions

from ..show.errors import UsageError
from . import files

EXAMPLES = (
    "--phy gmii --sys-clk-freq 100e6 --output build",
    "--phy mii --sys-clk-freq 75e6 --dma wishbone32 --bus wishbone --output build",
)

# In integrate/standalone.py, tables of these names have LiteX's classes as values.
PHYS = ("gmii", "mii")
DMAS = ("axi64", "axi32", "wishbone64", "wishbone32")
BUSES = ("axi-lite", "wishbone")
OF_JUMBO = ("rx_fifo_order", "tx_fifo_order")  # options that --jumbo sets


def options(parser):
    add = parser.add_argument
    add("--phy", choices=PHYS, required=True, help="its interface to the PHY chip")
    add("--sys-clk-freq", type=hertz, required=True, metavar="HZ", help="of clk, such as 100e6")
    add("--dma", choices=DMAS, default=DMAS[0], help=f"the master's bus (default: {DMAS[0]})")
    add("--bus", choices=BUSES, default=BUSES[0], help=f"of the registers (default: {BUSES[0]})")
    add(
        "--name",
        type=module_name,
        default="moderato",
        help="of the module and its file (default: moderato)",
    )
    for option in OPTIONS.values():
        if option.is_switch:
            needs = "".join(f"; needs {flag(name)}" for name in option.needs)
            add(flag(option.name), action="store_true", help=f"with {option.meaning}{needs}")
        else:
            add(
                flag(option.name),
                type=int,
                metavar="N",
                help=f"{option.meaning}: {option.least} to {option.most} "
                f"(default: {option.default}"
                + ", or as --jumbo has it" * (option.name in OF_JUMBO)
                + ")",
            )
    add(
        "--output",
        type=files.output_folder,
        required=True,
        metavar="DIR",
        help="a folder, made if it is not there; the registers go there, too, as a C header and "
        "as constants for Verilog",
    )


def check(options):
    """Reject impossible options before anything is installed or built."""
    try:
        MACOptions(**of_mac(options))
    except ValueError as error:
        raise UsageError(in_flags(error)) from None
    for name in OF_JUMBO:
        order = getattr(options, name)
        if options.jumbo and order is not None and order < JUMBO_ORDER:
            raise UsageError(
                f"--jumbo has FIFOs of 2^{JUMBO_ORDER} octets; leave {flag(name)} {order} out"
            )


def run(options) -> int:
    from moderato.integrate import standalone

    try:
        print(
            standalone.write(
                options.output,
                options.name,
                phy=options.phy,
                dma=options.dma,
                bus=options.bus,
                sys_clk_freq=options.sys_clk_freq,
                **of_mac(options),
            )
        )
    except ValueError as error:
        raise UsageError(in_flags(error)) from None
    return 0


def of_mac(options) -> dict:
    """The options of MACOptions that the user gave."""
    return {name: value for name in OPTIONS if (value := getattr(options, name)) is not None}


def flag(name: str) -> str:
    """The command's option for a field of MACOptions."""
    return f"--{name.replace('_', '-')}"


def in_flags(error: ValueError) -> str:
    """A message of MACOptions, with the command's names of options."""
    names = "|".join([*OPTIONS, "sys_clk_freq"])
    return re.sub(rf"(^| needs | and )({names})\b", lambda found: found[1] + flag(found[2]), str(error))


def hertz(word: str) -> float:
    try:
        rate = float(word)
    except ValueError:
        rate = 0
    if not 0 < rate < 2**32:
        raise argparse.ArgumentTypeError(f"{word} is no rate in Hz that fits into CLOCK_HZ, 32 bits")
    return rate


def module_name(word: str) -> str:
    if not (word.isidentifier() and word.isascii()):
        raise argparse.ArgumentTypeError(f"{word} is no name of a Verilog module")
    return word
