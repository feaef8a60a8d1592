# SPDX-License-Identifier: BSD-2-Clause
"""The driver's interrupt strategies, named as in Spanos et al. (2008), and how to choose one.

A variant is a receive strategy with a transmit strategy; docs/strategies.md says what they do.
LiteEth's MAC and driver, there to be compared with, have nothing to choose: one more variant.
"""

from dataclasses import dataclass

INTERFACES = ("eth0", "eth1")


@dataclass(frozen=True)
class Strategy:
    """Of one direction: words for `ethtool -C` and `--set-priv-flags`, and for a reader."""
    coalesce: str
    flag:     str
    says:     str


# A NAPI driver gets one interrupt for the first frame, and polls from then on.
RX = {
    "interrupt per frame": Strategy("rx-frames 1 rx-usecs 0", "rx-napi off",
                                    "an interrupt for each frame that is received"),
    "NAPI":                Strategy("rx-frames 1 rx-usecs 0", "rx-napi on",
                                    "an interrupt for the first frame that is received, then the "
                                    "driver polls until none is left"),
}
# The last of fewer than 128 frames are reported 10 ms after the wire went quiet.
TX = {
    "interrupt per frame": Strategy("tx-frames 1 tx-usecs 0", "tx-reclaim-on-xmit off",
                                    "one for each that was sent"),
    "interrupt per 128":   Strategy("tx-frames 128 tx-usecs 0 tx-usecs-low 10000",
                                    "tx-reclaim-on-xmit off", "one for every 128 that were sent"),
    "no interrupts":       Strategy("tx-frames 1 tx-usecs 0", "tx-reclaim-on-xmit on",
                                    "none for what was sent: its memory is freed when the next "
                                    "frame is"),
}


@dataclass(frozen=True)
class Variant:
    """`rx` and `tx` are keys of RX and TX."""
    name: str
    rx:   str
    tx:   str

    def commands(self) -> list[str]:
        """What the guest runs to choose this variant on both interfaces."""
        rx, tx = RX[self.rx], TX[self.tx]
        return [command for interface in INTERFACES for command in (
            f"ethtool -C {interface} {rx.coalesce} {tx.coalesce}",
            f"ethtool --set-priv-flags {interface} {rx.flag} {tx.flag}")]


VARIANTS = {variant.name: variant for variant in (
    Variant("original",    "interrupt per frame", "interrupt per frame"),
    Variant("tx-128",      "interrupt per frame", "interrupt per 128"),
    Variant("tx-off",      "interrupt per frame", "no interrupts"),
    Variant("napi",        "NAPI",                "interrupt per frame"),
    Variant("napi-tx-128", "NAPI",                "interrupt per 128"),
    Variant("napi-tx-off", "NAPI",                "no interrupts"),
)}
LITEETH = "liteeth"
NICS = {"moderato": list(VARIANTS), "liteeth": [LITEETH]}  # the variants of each
