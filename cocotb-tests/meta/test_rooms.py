# SPDX-License-Identifier: BSD-2-Clause
"""The folders of gateware/ and their imports: a folder imports only folders before it."""

import re

from moderato.toolchain.project import ROOT

GATEWARE = ROOT / "gateware"
ORDER = ["registers", "bus", "frame", "phy", "wire", "interrupts", "flows", "receive", "transmit",
         "rings", "time", "schedule", "options", "queue", "mac", "export"]  # the last four are files


def needs() -> dict[str, set[str]]:
    """The folders and top-level files that each of them imports."""
    found = {}
    for file in GATEWARE.rglob("*.py"):
        if file.name == "__init__.py":
            continue
        room = file.relative_to(GATEWARE).parts[0].removesuffix(".py")
        names = re.findall(r"^ *from moderato\.(\w+)\.?(\w*)", file.read_text(), re.MULTILINE)
        assert {package for package, _ in names} <= {"gateware"}, f"{file}: the MAC needs no other part"
        found.setdefault(room, set()).update({name for _, name in names} - {room})
    return found


def test_arrows():
    found = needs()
    assert found.keys() == set(ORDER)
    assert {(room, other) for room, others in found.items() for other in others
            if ORDER.index(other) >= ORDER.index(room)} == set()
