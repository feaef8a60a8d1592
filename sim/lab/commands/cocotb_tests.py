# SPDX-License-Identifier: BSD-2-Clause
"""The way to the tools that live beside the tests of the gateware."""

import sys

from moderato.toolchain.project import ROOT


def importable():
    """Lets their packages be imported, as pytest does."""
    sys.path.insert(0, str(ROOT / "cocotb-tests"))
