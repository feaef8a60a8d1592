# SPDX-License-Identifier: BSD-2-Clause
"""A PHY's clocks: timing constraints, as LiteX's add_ethernet sets them, and clock domains."""

from contextlib import suppress

from .finalized import when_finalized
from .phy import known


def constrain(soc, phy):
    """Constrain the periods of a PHY's clocks, and declare false paths between them and the system
    clock: all crossings are FIFOs and synchronizers. PHYs of simulators and PHYs without their own
    clocks get no constraints, nor do platforms whose toolchain does not support them.

    Raises ValueError if the SoC has no system clock.
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
    """The system clock: of the clock and reset generator, as in LiteX's targets, or of the SoC
    itself."""
    for place in (getattr(soc, "crg", None), soc):
        if hasattr(place, "cd_sys"):
            return place.cd_sys.clk
    raise ValueError(
        "neither the SoC nor its crg has a clock domain cd_sys; with "
        "add_moderato(..., with_timing_constraints=False), set the timing constraints yourself."
    )


def require_domains(phy, phy_cd, name):
    """When the SoC is finalized, raise ValueError if the PHY's clock domains are not those of `phy_cd`:
    there would be no crossing between MAC and PHY.

    The final names exist only then, because a ClockDomainsRenamer changes the PHY's fragment.
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
