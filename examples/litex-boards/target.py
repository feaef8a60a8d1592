#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A target of litex-boards as it is, with the MAC where LiteEth's would be.

    python target.py lambdaconcept_ecpix5 --with-ethernet --build
    python target.py digilent_arty --with-ethernet --build --no-compile

The first argument names the target; the others are its own.
"""

import importlib
import sys

from moderato import add_moderato

# A target makes its PHY and calls add_ethernet; what it says of LiteEth's MAC (its host's address,
# its DHCP) is not for this one.
target = importlib.import_module(f"litex_boards.targets.{sys.argv.pop(1)}")
target.BaseSoC.add_ethernet = lambda soc, phy, **_: add_moderato(soc, phy=phy)
target.main()
