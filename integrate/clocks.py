# SPDX-License-Identifier: BSD-2-Clause
"""A PHY's clocks: their timing constraints, as LiteX's own add_ethernet sets them, and their domains."""

from contextlib import suppress

from .finalized import when_finalized
from .phy import known


def constrain(soc, phy):
    """Their periods, and no path between them and the system clock: all crossings are FIFOs and
    synchronizers. A PHY without clocks of its own, and one of a simulator, has none. What the
    platform's toolchain does not know is left out: LiteX's simulator knows no constraints at all.

    Raises ValueError if the system clock is not found.
    """
    if not hasattr(getattr(soc.platform, "toolchain", None), "add_period_constraint"):
        return
    domains, rates = (
        [known(phy, each.format(side)) for side in ("rx", "tx")] for each in ("cd_eth_{}", "{}_clk_freq")
    )
    if None in (*domains, *rates) or known(phy, "model"):
        return
    rx, tx = (domain.clk for domain in domains)
    soc.platform.add_period_constraint(rx, 1e9 / rates[0])
    if tx is not rx:
        soc.platform.add_period_constraint(tx, 1e9 / rates[1])
    sys = system_clock(soc)
    with suppress(NotImplementedError):
        soc.platform.add_false_path_constraints(sys, *([rx] if tx is rx else [rx, tx]))


def system_clock(soc):
    """Of the clock and reset generator, where LiteX has it, or of the SoC itself."""
    for place in (getattr(soc, "crg", None), soc):
        if hasattr(place, "cd_sys"):
            return place.cd_sys.clk
    raise ValueError(
        "the SoC has no clock domain cd_sys, nor has its crg: add_moderato(..., "
        "with_timing_constraints=False) leaves timing constraints to you."
    )


def require_domains(phy, phy_cd, name):
    """Refuse, when the SoC is finalized, a PHY whose clock domains are others than those that the MAC
    was told: there would be no crossing between the two.

    Only then they have their names: a ClockDomainsRenamer changes what the PHY's fragment says.
    """

    def checked(fragment):
        found = set(fragment.sync) | {domain.name for domain in fragment.clock_domains}
        pairs = sorted(
            each.removesuffix("_rx")
            for each in found
            if each.endswith("_rx") and each.removesuffix("_rx") + "_tx" in found
        )
        if {f"{phy_cd}_rx", f"{phy_cd}_tx"} - found:
            right = f'write phy_cd="{pairs[0]}"' if pairs else "rename them to PREFIX_rx and PREFIX_tx"
            raise ValueError(
                f"{name}: phy_cd is {phy_cd}, but the clock domains of its "
                f"{type(phy).__name__} are {', '.join(sorted(found)) or 'none'}; {right}."
            )

    when_finalized(phy, checked)
