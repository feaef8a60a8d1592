# SPDX-License-Identifier: BSD-2-Clause
"""Moderato: an Ethernet MAC with descriptor rings and interrupt moderation.

    from moderato import add_moderato
    add_moderato(soc, phy=phy, name="eth0")

MACOptions has the MAC's build options. This module imports LiteX only when one of these names is used.
"""


def __getattr__(name):
    if name == "add_moderato":
        from moderato.integrate.add_moderato import add_moderato

        return add_moderato
    if name == "MACOptions":
        from moderato.gateware.options import MACOptions

        return MACOptions
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
