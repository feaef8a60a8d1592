# SPDX-License-Identifier: BSD-2-Clause
"""The MAC's device tree node, from the csr.json that LiteX's builder writes.

    litex_json2dts_linux csr.json > soc.dts
    moderato node csr.json >> soc.dts

LiteX's tool does not support other MACs. Append the node to the tool's output; dtc then merges it into
`soc`, where its interrupts belong to the SoC's controller. The node follows
linux-driver/moderato,mac.yaml and litex,liteeth-mdio.yaml.
"""

import json
import re
from pathlib import Path

SPEEDS = (10, 100, 1000)  # Mb/s of a fixed link
MDIO_BYTES = 8
SUFFIX = "_dma_coherent"  # of the constant that add_moderato adds for each MAC


def macs(csr: dict) -> list[str]:
    """The names of the MACs in a SoC."""
    return [name.removesuffix(SUFFIX) for name in csr["constants"] if name.endswith(SUFFIX)]


def chosen(csr: dict, name: str | None) -> str:
    """The MAC called `name`, or the only one."""
    names = macs(csr)
    if not names:
        raise ValueError("this SoC has no MAC of add_moderato()")
    if name is None and len(names) > 1:
        raise ValueError(f"this SoC has {', '.join(names)}; choose one with --mac")
    if name is not None and name not in names:
        raise ValueError(f"this SoC has no MAC {name}, but {', '.join(names)}")
    return name or names[0]


def interrupts(csr: dict, name: str) -> dict[str, int]:
    """The interrupt numbers at the SoC's controller, by the binding's names, with queue 1's if it
    exists."""
    constants = csr["constants"]
    first = 1 if constants.get("config_cpu_name") == "rocket" else 0  # the PLIC's source for line 0
    lines = [
        line
        for line in ("rx", "tx", "rx1", "tx1")
        if not line.endswith("1") or f"{name}_{line}_interrupt" in constants
    ]
    try:
        return {line: constants[f"{name}_{line}_interrupt"] + first for line in lines}
    except KeyError as missing:
        raise ValueError(f"{name} has no interrupts ({missing}): is there a CPU?") from None


def mdio(csr: dict, phy: str) -> int:
    """The address of a LiteEth PHY's MDIO registers."""
    try:
        write, read = (csr["csr_registers"][f"{phy}_mdio_{way}"]["addr"] for way in "wr")
    except KeyError:
        having = sorted(
            found[1]
            for register in csr["csr_registers"]
            if (found := re.fullmatch(r"(\w+)_mdio_w", register))
        )
        raise ValueError(
            f"this SoC has no PHY {phy} with MDIO; PHYs with MDIO: {', '.join(having) or 'none'}"
        ) from None
    if read != write + 4:
        raise ValueError(f"mdio_r of {phy} does not follow mdio_w, as the driver requires")
    return write


def node(
    csr: dict,
    name: str | None = None,
    phy_mode: str = "internal",
    speed: int = 1000,
    phy: str | None = None,
    phy_address: int | None = None,
    mac_address: str | None = None,
) -> str:
    """The nodes of a MAC and of its MDIO bus.

    csr          content of csr.json.
    name         of the MAC; None: the only one.
    phy_mode     the binding's phy-mode.
    speed        of the fixed link, in Mb/s; unused with `phy`.
    phy          name in csr.json of LiteEth's PHY with the chip's MDIO.
    phy_address  of the chip on its MDIO bus; None: the kernel scans the bus.
    mac_address  six octets in hexadecimal, with colons.

    Raises ValueError if csr.json lacks something that the nodes need.
    """
    if missing := {"constants", "memories", "csr_registers"} - csr.keys():
        raise ValueError(
            f"LiteX's builder wrote no such csr.json: it has no {', '.join(sorted(missing))}"
        )
    name = chosen(csr, name)
    region = csr["memories"].get(name)
    if region is None:
        raise ValueError(f"{name} has no region in memories")
    if region["base"] + region["size"] > 1 << 32:
        raise ValueError(f"{name} is above 4 GiB, but LiteX's device tree has 32-bit addresses")
    lines = interrupts(csr, name)
    cells = {"aplic_m", "aplic_s"} & csr["memories"].keys()  # an APLIC needs a second cell: active high
    optional = ""
    if mac_address is not None:
        optional += f"\n            local-mac-address = [{mac_address.replace(':', ' ')}];"
    if not csr["constants"][name + SUFFIX]:
        optional += "\n            dma-noncoherent;"
    if peer := csr["constants"].get(f"{name}_peer"):
        optional += f"\n            moderato,peer = <&{peer}>;"
    if phy is None:
        link, bus = (
            f"""

            fixed-link {{
                speed = <{speed}>;
                full-duplex;
            }};""",
            "",
        )
    else:
        link = f"\n            phy-handle = <&{name}_phy>;"
        bus = mdio_node(mdio(csr, phy), f"{name}_phy", phy_address)
    return f"""
/ {{
    soc {{
        {name}: ethernet@{region["base"]:x} {{
            compatible = "moderato,mac-1.0";
            reg = <{region["base"]:#x} {region["size"]:#x}>;
            interrupts = {", ".join(f"<{number}{' 4' if cells else ''}>" for number in lines.values())};
            interrupt-names = {", ".join(f'"{line}"' for line in lines)};{optional}
            phy-mode = "{phy_mode}";{link}
        }};
{bus}    }};
}};
"""


def mdio_node(base: int, label: str, address: int | None) -> str:
    cells, at, reg = "", "", ""
    if address is not None:
        cells = """
            #address-cells = <1>;
            #size-cells = <0>;"""
        at, reg = (
            f"@{address:x}",
            f"""
                reg = <{address}>;""",
        )
    return f"""
        mdio@{base:x} {{
            compatible = "litex,liteeth-mdio";
            reg = <{base:#x} {MDIO_BYTES:#x}>;{cells}

            {label}: ethernet-phy{at} {{{reg}
            }};
        }};
"""


def read(file: Path) -> dict:
    """The content of csr.json. Raises ValueError if the file is no csr.json."""
    try:
        csr = json.loads(file.read_text())
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or deeper than any csr.json
        csr = None
    if not isinstance(csr, dict):
        raise ValueError("this file is no csr.json; name the file that LiteX's builder writes")
    return csr


def unknown_cpu(csr: dict) -> str | None:
    """The CPU's name if LiteX's class lacks the properties that Linux needs, or else None."""
    constants = csr["constants"]
    return None if "config_cpu_isa" in constants else str(constants.get("config_cpu_name"))
