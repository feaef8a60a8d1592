#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""An unchanged target of litex-boards, with the MAC instead of LiteEth's.

    python target.py lambdaconcept_ecpix5 --with-ethernet --build
    python target.py digilent_arty --with-ethernet --build --no-compile

The first argument names the target; the others are its own.
"""

import difflib
import importlib
import inspect
import pkgutil
import sys

from litex_boards import targets

from moderato import add_moderato

known = [module.name for module in pkgutil.iter_modules(targets.__path__)]
name = sys.argv.pop(1) if len(sys.argv) > 1 else ""
if name not in known:
    near = [each for each in known if name and name in each] or difflib.get_close_matches(name, known)
    close = f"; did you mean {' or '.join(near[:3])}?" * bool(near)
    print(
        f"litex-boards has no target {name!r}{close}"
        f" ({len(known)} targets are files in {targets.__path__[0]})",
        file=sys.stderr,
    )
    sys.exit(2)

# A target makes its PHY and calls add_ethernet. This MAC uses the names of the PHY's clock domains, but
# not the arguments for LiteEth's MAC (addresses, DHCP, timing constraints).
target = importlib.import_module(f"litex_boards.targets.{name}")
macs = []


def add_ethernet(soc, phy, phy_cd="eth", **_):
    macs.append(add_moderato(soc, phy=phy, phy_cd=phy_cd))


class Builder(target.Builder):
    """Rejects a SoC to which the target has not added Ethernet."""

    def __init__(self, *args, **options):
        if not macs:
            add = (
                "add --with-ethernet"
                if "--with-ethernet" in inspect.getsource(target)
                else "that target has no Ethernet; choose another one, or see ulx3s.py"
            )
            print(f"{name}: this SoC has no Ethernet, so the MAC is not in it; {add}", file=sys.stderr)
            sys.exit(2)
        super().__init__(*args, **options)


target.BaseSoC.add_ethernet = add_ethernet
target.Builder = Builder
target.main()
