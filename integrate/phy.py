# SPDX-License-Identifier: BSD-2-Clause
"""The PHY of a MAC, which may be a wrapper around another: PHYRates, or one of the SoC's own."""

from .finalized import when_finalized


def parts(module):
    """It, and the modules that it is made of."""
    yield module
    for _, part in getattr(module, "_submodules", ()):
        yield from parts(part)


def known(phy, name, default=None):
    """The attribute of the PHY, or of the outermost of its parts that has it."""
    return next((getattr(part, name) for part in parts(phy) if hasattr(part, name)), default)


def check_phy(phy, name):
    """Raises ValueError for what is no PHY for the MAC, and for one that another MAC has."""
    kind = type(phy).__name__
    if known(phy, "with_preamble_crc", True) is False:
        raise ValueError(
            f"{name}: {kind} wants frames without preamble and FCS, which the MAC always "
            "makes; in LiteX's simulator take LiteEthPHYGMII(model=True)."
        )
    if not all(hasattr(phy, each) for each in ("sink", "source", "dw")):
        raise ValueError(f"{name}: phy is {phy!r}, which is no LiteEth PHY; write phy=soc.ethphy, say.")
    for part in parts(phy):
        if hasattr(part, "moderato_name"):
            raise ValueError(
                f"{name}: its {kind} is the PHY of {part.moderato_name}; give each MAC a PHY of its own."
            )


def take(phy, name):
    """Marks it as the PHY of the MAC that is called so."""
    for part in parts(phy):
        part.moderato_name = name


def require_in_soc(soc, mac, phy, name):
    """Refuse, when the SoC is finalized, a PHY that is no part of it: nothing would drive its pads."""

    def checked(_):
        if not any(part is phy for part in parts(soc)):
            raise ValueError(
                f"{name}: its {type(phy).__name__} is no part of the SoC; add it, such as "
                "by soc.ethphy = phy."
            )

    when_finalized(mac, checked)
