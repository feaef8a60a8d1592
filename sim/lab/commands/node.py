# SPDX-License-Identifier: BSD-2-Clause
"""Print the MAC's device-tree node, to append to LiteX's own tree."""

import argparse
import re
import sys

from moderato.integrate.device_tree import SPEEDS

from ..show.errors import UsageError, reason
from . import files

EXAMPLES = ("csr.json", "csr.json --phy ethphy --phy-mode rgmii-id")


def options(parser):
    add = parser.add_argument
    add("csr_json", type=files.input_file, metavar="CSR_JSON", help="csr.json of LiteX's builder")
    add("--mac", type=files.text, metavar="NAME", help="add_moderato()'s name (default: the only one)")
    add(
        "--phy-mode",
        type=files.text,
        default="internal",
        metavar="MODE",
        help="interface to the PHY, as the kernel calls it: mii, rgmii-id, ... (default: internal)",
    )
    link = parser.add_mutually_exclusive_group()
    link.add_argument(
        "--speed", type=int, choices=SPEEDS, default=1000, help="of a fixed link, Mb/s (default: 1000)"
    )
    link.add_argument(
        "--phy",
        type=files.text,
        metavar="NAME",
        help="LiteEth's PHY in the SoC, such as ethphy, whose MDIO leads to the chip",
    )
    add(
        "--phy-address",
        type=int,
        choices=range(32),
        metavar="N",
        help="of the chip on its MDIO (default: the kernel looks for it)",
    )
    add(
        "--mac-address",
        type=mac_address,
        metavar="XX:XX:XX:XX:XX:XX",
        help="of the station (default: the driver takes a random one)",
    )


def check(options):
    if options.phy_address is not None and options.phy is None:
        raise UsageError("--phy-address wants --phy")


def run(options) -> int:
    from moderato.integrate import device_tree

    file = options.csr_json
    try:
        csr = device_tree.read(file)
        node = device_tree.node(
            csr,
            options.mac,
            options.phy_mode,
            options.speed,
            options.phy,
            options.phy_address,
            options.mac_address,
        )
    except ValueError as error:
        raise UsageError(f"{file}: {error}") from None
    except (TypeError, LookupError, AttributeError) as error:
        raise UsageError(
            f"{file}: it is damaged ({reason(error)}); name the csr.json that LiteX's "
            "builder writes, as it wrote it"
        ) from error
    print(node, end="")
    if cpu := device_tree.unknown_cpu(csr):
        print(
            f"moderato: {file}: LiteX's class of this CPU ({cpu}) does not say what Linux has to "
            "know of it, and litex_json2dts_linux fails; those of VexRiscv-SMP, NaxRiscv and "
            "Rocket do. The MAC's node is right all the same",
            file=sys.stderr,
        )
    return 0


def mac_address(word: str) -> str:
    if not re.fullmatch(r"[\da-fA-F]{2}(:[\da-fA-F]{2}){5}", word) or int(word[:2], 16) & 1:
        raise argparse.ArgumentTypeError(f"{word} is no address of a station, such as 02:4d:6f:64:00:00")
    return word.lower()
