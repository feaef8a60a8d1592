# SPDX-License-Identifier: BSD-2-Clause
"""Timing constraints of a PHY's clocks, as LiteX's own add_ethernet sets them."""


def constrain(soc, phy):
    """Their periods, and no path between them and the system clock: all crossings are FIFOs and
    synchronizers. A PHY without clocks of its own, and one of a simulator, has none.

    Raises ValueError if the system clock is not found.
    """
    crg = getattr(phy, "crg", phy)
    domains = [getattr(crg, f"cd_eth_{side}", None) for side in ("rx", "tx")]
    if None in domains or not hasattr(phy, "rx_clk_freq") or getattr(phy, "model", False):
        return
    rx, tx = (domain.clk for domain in domains)
    soc.platform.add_period_constraint(rx, 1e9/phy.rx_clk_freq)
    if tx is not rx:
        soc.platform.add_period_constraint(tx, 1e9/phy.tx_clk_freq)
    soc.platform.add_false_path_constraints(
        system_clock(soc), *([rx] if tx is rx else [rx, tx]))


def system_clock(soc):
    """Of the clock and reset generator, where LiteX has it, or of the SoC itself."""
    for place in (getattr(soc, "crg", None), soc):
        if hasattr(place, "cd_sys"):
            return place.cd_sys.clk
    raise ValueError("the SoC has no clock domain cd_sys, nor has its crg: add_moderato(..., "
                     "with_timing_constraints=False) leaves timing constraints to you.")
