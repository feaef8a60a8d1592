#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A target of litex-boards as it is, with the MAC where LiteEth's would be.

    python target.py lambdaconcept_ecpix5 --with-ethernet --build
    python target.py digilent_arty --with-ethernet --build --no-compile

The first argument names the target; the others are its own.
"""

import difflib
import importlib
import pkgutil
import sys

from litex_boards import targets

from moderato import add_moderato

known = [module.name for module in pkgutil.iter_modules(targets.__path__)]
name  = sys.argv.pop(1) if len(sys.argv) > 1 else ""
if name not in known:
    close = "".join(f"; did you mean {each}?" for each in difflib.get_close_matches(name, known, n=1))
    print(f"litex-boards has no target {name!r}{close} (known: {', '.join(known)})", file=sys.stderr)
    sys.exit(2)

# A target makes its PHY and calls add_ethernet. The names of the PHY's clock domains are for this MAC,
# too; what it says of LiteEth's (its host's address, its DHCP, no timing constraints) is not.
target = importlib.import_module(f"litex_boards.targets.{name}")
target.BaseSoC.add_ethernet = lambda soc, phy, phy_cd="eth", **_: add_moderato(
    soc, phy=phy, phy_cd=phy_cd)
target.main()
