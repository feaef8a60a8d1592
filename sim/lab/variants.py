# SPDX-License-Identifier: BSD-2-Clause
"""The driver's interrupt strategies, named as in Spanos et al. (2008), and how to choose one.

A variant is a receive strategy with a transmit strategy; docs/strategies.md says what they do.
"""

from dataclasses import dataclass

INTERFACES = ("eth0", "eth1")

# The guest's commands for each strategy of one interface.
RX = {
    "interrupt per frame": ["ethtool --set-priv-flags {} rx-napi off"],
    "NAPI":                ["ethtool --set-priv-flags {} rx-napi on"],
}
TX = {
    "interrupt per frame": [],
    "interrupt per 128":   [],
    "no interrupts":       [],
}


@dataclass(frozen=True)
class Variant:
    name: str
    rx:   str
    tx:   str

    def commands(self) -> list[str]:
        """What the guest runs to choose this variant on both interfaces."""
        return [command.format(interface) for interface in INTERFACES
                for command in RX[self.rx] + TX[self.tx]]


VARIANTS = {variant.name: variant for variant in (
    Variant("original",    "interrupt per frame", "interrupt per frame"),
    Variant("tx-128",      "interrupt per frame", "interrupt per 128"),
    Variant("tx-off",      "interrupt per frame", "no interrupts"),
    Variant("napi",        "NAPI",                "interrupt per frame"),
    Variant("napi-tx-128", "NAPI",                "interrupt per 128"),
    Variant("napi-tx-off", "NAPI",                "no interrupts"),
)}
