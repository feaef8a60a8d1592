# SPDX-License-Identifier: BSD-2-Clause
"""The summary: three figures, the variants, one picture."""

from ...rfc2544 import metrics
from ...run.variants import RX, TX, VARIANTS
from .. import figures
from ..chapter import Cards, Chapter, Terms
from ..inputs import Inputs

SMALL = 64  # octets: the size with the highest interrupt costs
BASE, BEST = "original", "napi-tx-off"
OTHER_NIC = "liteeth"


def chapter(inputs: Inputs) -> Chapter:
    cards = [card for card in (_gain(inputs), _overload(inputs), _other(inputs)) if card]
    shown = [name for name in VARIANTS if name in inputs.trials.variants]
    terms = [(name, f"{RX[VARIANTS[name].rx].says}; {TX[VARIANTS[name].tx].says}.") for name in shown]
    return Chapter(
        "story",
        "In short",
        [
            Cards(cards) if cards else None,
            Terms(terms) if terms else None,
            figures.story(inputs.trials, inputs.curves, SMALL),
        ],
        "Run `./moderato rfc2544` for it.",
    )


def _gain(inputs: Inputs) -> tuple[str, str] | None:
    base, best = (inputs.throughputs.get((name, SMALL)) for name in (BASE, BEST))
    if not (base and best):
        return None
    return (
        f"{best.rate / base.rate:.1f} times",
        f"as many frames of {SMALL} octets pass without loss if the driver polls, without Tx "
        f"interrupts: {_rate(best.rate)} frames/s with {BEST}, {_rate(base.rate)} with {BASE}.",
    )


def _overload(inputs: Inputs) -> tuple[str, str] | None:
    full = inputs.full_load(SMALL)
    if not (BASE in full and BEST in full):
        return None
    left, offered = (metrics.forwarded(full[name]) for name in (BASE, BEST)), full[BASE]
    base, best = left
    return (
        _rate(base),
        f"frames/s are forwarded of {_rate(metrics.offered(offered))} at the line rate if every frame "
        f"interrupts the CPU ({BASE}): it does nothing else. {BEST} still forwards {_rate(best)}.",
    )


def _other(inputs: Inputs) -> tuple[str, str] | None:
    sizes = [
        size
        for name, size in inputs.throughputs
        if name == OTHER_NIC and (BEST, size) in inputs.throughputs
    ]
    if not sizes:
        return None
    size = min(sizes)
    ours, theirs = (inputs.throughputs[name, size].rate for name in (BEST, OTHER_NIC))
    return (
        f"{ours / theirs:.1f} times",
        f"the throughput of LiteEth's MAC and driver on the same SoC, with {size} octets: LiteEth "
        f"forwards {_rate(theirs)} frames/s. The CPU copies each frame in and out.",
    )


def _rate(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")
