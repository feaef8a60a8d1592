# SPDX-License-Identifier: BSD-2-Clause
"""The driver's interrupt strategies, and how to choose one.

A variant is a receive strategy with a transmit strategy; docs/strategies.md describes them. VARIANTS are
the six of Spanos et al. (2008), with their names; BEYOND are earlier and later ones; KNOWN are all. FAST
bypass Linux' stack (docs/fast-path.md): PROGRAMS by XDP, FLOWTABLES by Linux' connection tracking.
LiteEth is for comparison. It has no strategies, so it is one more variant.
"""

from dataclasses import dataclass

INTERFACES = ("eth0", "eth1")


@dataclass(frozen=True)
class Strategy:
    """A strategy of one direction: words for `ethtool -C` and `--set-priv-flags`, and a description."""

    coalesce: str
    flag: str
    says: str


def _rx(conditions: str, flags: str, says: str) -> Strategy:
    """Every setting that another strategy may have changed is set, too."""
    off = {"rx-napi": "off", "rx-timer": "off", "rx-dim": "off"} | _pairs(flags)
    coalesce = {
        "adaptive-rx": "off",
        "rx-frames": "1",
        "rx-usecs": "0",
        "rx-usecs-low": "0",
        "rx-usecs-high": "0",
    } | _pairs(conditions)
    return Strategy(_words(coalesce), _words(off), says)


def _tx(conditions: str, flags: str, says: str) -> Strategy:
    off = {"tx-napi": "off", "tx-reclaim-on-xmit": "off"} | _pairs(flags)
    coalesce = {"adaptive-tx": "off", "tx-frames": "1", "tx-usecs": "0", "tx-usecs-low": "0"}
    return Strategy(_words(coalesce | _pairs(conditions)), _words(off), says)


def _pairs(words: str) -> dict[str, str]:
    each = iter(words.split())
    return dict(zip(each, each))


def _words(pairs: dict[str, str]) -> str:
    return " ".join(" ".join(pair) for pair in pairs.items())


RX_INTERRUPT = "interrupt per frame"  # all others poll

# A NAPI driver gets one interrupt for the first frame, then polls.
RX = {
    RX_INTERRUPT: _rx("", "", "an interrupt for each received frame"),
    "NAPI": _rx(
        "",
        "rx-napi on",
        "an interrupt for the first received frame, then the driver polls until none is left",
    ),
    "NAPI with a timer": _rx(
        "rx-usecs-irq 0",
        "rx-napi on rx-timer on",
        "an interrupt for the first received frame; at the next tick the driver polls until none is "
        "left",
    ),
    "NAPI, moderated": _rx(
        "rx-frames 16 rx-usecs 100 rx-usecs-low 20",
        "rx-napi on",
        "an interrupt for 16 frames, or 20 us after the last frame, or 100 us after the first one; then "
        "the driver polls until none is left",
    ),
    "NAPI, adaptive": _rx(
        "adaptive-rx on rx-usecs-high 250",
        "rx-napi on",
        "as NAPI, moderated, but the MAC adapts the delay of frames, up to 250 us, to the CPU's load",
    ),
    "NAPI, DIM": _rx(
        "adaptive-rx on",
        "rx-napi on rx-dim on",
        "as NAPI, moderated, but the kernel chooses among five settings by the measured rates",
    ),
}
# If fewer than 128 frames remain, the driver looks at them 10 ms after the wire became quiet.
TX = {
    "interrupt per frame": _tx("", "", "one for each sent frame"),
    "interrupt per 128": _tx("tx-frames 128 tx-usecs-low 10000", "", "one for every 128 sent frames"),
    "no interrupts": _tx(
        "",
        "tx-reclaim-on-xmit on",
        "none for sent frames: the driver frees them when it sends later ones",
    ),
    "polled": _tx(
        "",
        "tx-napi on",
        "one for the first sent frame while no poll runs; the poll receives frames, then frees sent "
        "ones",
    ),
    "polled, moderated": _tx(
        "tx-frames 32 tx-usecs 1000",
        "tx-napi on",
        "as polled, but for 32 frames, or 1 ms after the first",
    ),
    "polled, DIM": _tx("adaptive-tx on", "tx-napi on", "as polled, moderated by the kernel's choice"),
}


@dataclass(frozen=True)
class Variant:
    """`rx` and `tx` are keys of RX and TX. `fast`: a command for the interfaces with which they bypass
    the stack. `hands_over`: the hardware takes flows over after their first frames.
    """

    name: str
    rx: str
    tx: str
    fast: str = ""
    hands_over: bool = False

    def commands(self) -> list[str]:
        """The guest's commands that choose this variant on both interfaces."""
        rx, tx = RX[self.rx], TX[self.tx]
        fast = [" ".join([self.fast, *INTERFACES])] if self.fast else []
        return [
            command
            for interface in INTERFACES
            for command in (
                f"ethtool -C {interface} {rx.coalesce} {tx.coalesce}",
                f"ethtool --set-priv-flags {interface} {rx.flag} {tx.flag}",
            )
        ] + fast


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("original", "interrupt per frame", "interrupt per frame"),
        Variant("tx-128", "interrupt per frame", "interrupt per 128"),
        Variant("tx-off", "interrupt per frame", "no interrupts"),
        Variant("napi", "NAPI", "interrupt per frame"),
        Variant("napi-tx-128", "NAPI", "interrupt per 128"),
        Variant("napi-tx-off", "NAPI", "no interrupts"),
    )
}
BEYOND = {
    variant.name: variant
    for variant in (
        Variant("napi-full", "NAPI", "polled"),
        Variant("napi-timer", "NAPI with a timer", "polled"),
        Variant("hw-moderated", "NAPI, moderated", "polled, moderated"),
        Variant("adaptive-dim", "NAPI, DIM", "polled, DIM"),
        Variant("adaptive-hw", "NAPI, adaptive", "polled, moderated"),
    )
}
KNOWN = {**VARIANTS, **BEYOND}
PROGRAMS = {
    variant.name: variant
    for variant in (
        Variant("xdp", "NAPI", "no interrupts", "ip neigh | xdp forward"),
        Variant("xdp-fib", "NAPI", "no interrupts", "xdp fib"),
        Variant("xdp-drop", "NAPI", "no interrupts", "xdp drop"),
    )
}
FLOWTABLES = {
    variant.name: variant
    for variant in (
        Variant("flowtable", "NAPI", "no interrupts", "flowtable"),
        Variant("offload", "NAPI", "no interrupts", "flowtable --offload", hands_over=True),
    )
}
FAST = {**FLOWTABLES, **PROGRAMS}
ALL = {**KNOWN, **FAST}
MODERATO, OFFLOAD, FLOWS, TIME, LITEETH = "moderato", "offload", "flows", "time", "liteeth"
TWO_QUEUES = (OFFLOAD, TIME)  # NICs with a second queue
# The variants of each NIC, by default.
NICS = {
    **{nic: list(VARIANTS) for nic in (MODERATO, OFFLOAD, FLOWS, TIME)},
    LITEETH: [LITEETH],
}
