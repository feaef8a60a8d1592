# SPDX-License-Identifier: BSD-2-Clause
"""A MAC's PHY, which may wrap another one: PHYRates, or the SoC's own wrapper."""

from .finalized import when_finalized


def parts(module):
    """The module and all its submodules."""
    yield module
    for _, part in getattr(module, "_submodules", ()):
        yield from parts(part)


def known(phy, name, default=None):
    """The attribute `name` of the PHY, or of its outermost part that has one."""
    return next((getattr(part, name) for part in parts(phy) if hasattr(part, name)), default)


def check_phy(phy, name):
    """Raise ValueError if `phy` is no suitable PHY, or if another MAC uses it."""
    kind = type(phy).__name__
    if known(phy, "with_preamble_crc", True) is False:
        raise ValueError(
            f"{name}: {kind} expects frames without preamble and FCS, but the MAC always "
            "adds them; in LiteX's simulator use LiteEthPHYGMII(model=True)."
        )
    if not all(hasattr(phy, each) for each in ("sink", "source", "dw")):
        raise ValueError(
            f"{name}: phy is {phy!r}, which is no LiteEth PHY; write phy=soc.ethphy, for example."
        )
    for part in parts(phy):
        if hasattr(part, "moderato_name"):
            raise ValueError(
                f"{name}: its {kind} is the PHY of {part.moderato_name}; give each MAC its own PHY."
            )


def take(phy, name):
    """Mark `phy` as the PHY of the MAC called `name`."""
    for part in parts(phy):
        part.moderato_name = name


def require_in_soc(soc, mac, phy, name):
    """When the SoC is finalized, raise ValueError if `phy` is no part of it: nothing drives its pads."""

    def checked(_):
        if not any(part is phy for part in parts(soc)):
            raise ValueError(
                f"{name}: its {type(phy).__name__} is no part of the SoC; add it, for example "
                "by soc.ethphy = phy."
            )

    when_finalized(mac, checked)
