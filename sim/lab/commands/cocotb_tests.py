# SPDX-License-Identifier: BSD-2-Clause
"""Access to the tools in the folder of the gateware's tests."""

import sys

from moderato.toolchain.project import ROOT


def importable():
    """Add their folder to the import path, as pytest does."""
    sys.path.insert(0, str(ROOT / "cocotb-tests"))
