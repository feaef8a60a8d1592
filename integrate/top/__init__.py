# SPDX-License-Identifier: BSD-2-Clause
"""Moderato: an Ethernet MAC with descriptor rings and interrupt moderation.

    from moderato import add_moderato
    add_moderato(soc, phy=phy, name="eth0")

LiteX is imported when that name is asked for, and not before.
"""


def __getattr__(name):
    if name == "add_moderato":
        from moderato.integrate.soc import add_moderato
        return add_moderato
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
