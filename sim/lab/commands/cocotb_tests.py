# SPDX-License-Identifier: BSD-2-Clause
"""The path to the tools in the folder of the gateware's tests."""

import sys

from moderato.toolchain.project import ROOT


def importable():
    """Lets their packages be imported, as pytest does."""
    sys.path.insert(0, str(ROOT / "cocotb-tests"))
