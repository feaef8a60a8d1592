# SPDX-License-Identifier: BSD-2-Clause
"""Figures of Spanos, Meliones and Stassinopoulos (2008), from docs/data, with our names as keys."""

import csv
import functools
from dataclasses import dataclass
from fractions import Fraction

from moderato.toolchain.project import ROOT

from .model import Model

VARIANTS = ("original", "tx-128", "tx-off", "napi", "napi-tx-128", "napi-tx-off")
LINK_MBPS = 100
FULL_LOAD_BYTES = 512  # octets in table 3
FULL_LOAD_FRAMES = 2_000_000  # offered to both ports together

# Of its figure 5, only numbers in the text (section 4.2.2) are available as data.
COLLAPSE = (
    "In the paper, with 64-byte frames, ORIGINAL sustains 37 000 frames/s, and is at the point of "
    "collapse with 120 000 offered, 3.2 times as many. NAPI-TX-OFF sustains 77 000 at any offered load."
)


@dataclass(frozen=True)
class FullLoad:
    """A row of table 3."""

    received: int
    forwarded: int
    rx_interrupts: int
    tx_interrupts: int


@dataclass(frozen=True)
class Terms:
    """A row of table 5: T_CS counts this many times, the other terms once."""

    t_cs: Fraction
    enabled: tuple[str, ...]  # terms during which interrupts are enabled
    interrupts_per_frame: Fraction


@functools.cache
def throughput() -> dict[tuple[str, int], float]:
    """Table 1: Mb/s of one port by variant and frame size, including preamble and gap."""
    return {
        (variant, int(row["frame_bytes"])): float(row[variant.upper()])
        for row in _rows(1)
        for variant in VARIANTS
    }


@functools.cache
def full_load() -> dict[str, FullLoad]:
    """Table 3; it has four variants."""
    return {row["variant"].lower(): FullLoad(*map(int, list(row.values())[1:])) for row in _rows(3)}


@functools.cache
def model() -> dict[str, Model]:
    """Table 4."""
    return {
        row["variant"].lower(): Model(float(row["constant_us"]), float(row["k_us_per_byte"]))
        for row in _rows(4)
    }


@functools.cache
def terms() -> dict[str, Terms]:
    """Table 5."""
    return {
        row["variant"].lower(): Terms(
            Fraction(row["t_cs"]), tuple(row["enabled"].split()), Fraction(row["interrupts_per_frame"])
        )
        for row in _rows(5)
    }


def _rows(table: int) -> list[dict[str, str]]:
    with open(ROOT / "docs" / "data" / f"spanos-2008-table{table}.csv", newline="") as file:
        return list(csv.DictReader(file))
