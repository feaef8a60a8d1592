# SPDX-License-Identifier: BSD-2-Clause
"""Table 5 of Spanos et al. (2008) from the --json of `moderato profile`, and its flame graphs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..explain.attribution import CAUSES
from ..explain.terms import base
from ..show.errors import LabError, reason
from . import paper
from .paper_tables import MISSING_NOTE
from .table import MISSING, Table, number

PAPER_TERMS = ("T_CS", "T_RX", "T_COPY", "T_IP", "T_TX", "T_SKB")
COSTLIEST = 5


@dataclass(frozen=True)
class Profiles:
    """The files of a folder of profiles, ordered by name."""

    profiles: list[dict]  # the objects of the JSON files
    graphs: dict[str, str]  # SVG
    traces: dict[str, bytes]  # Perfetto's format


NONE = Profiles([], {}, {})


def load(folder: Path | None) -> Profiles:
    """All *.json, *.svg and *.pftrace of a folder."""
    if folder is None:
        return NONE
    profiles = [profile for file in sorted(folder.glob("*.json")) for profile in _read(file)]
    graphs = {file.stem: file.read_text() for file in sorted(folder.glob("*.svg"))}
    traces = {file.name: file.read_bytes() for file in sorted(folder.glob("*.pftrace"))}
    if not profiles and not graphs and not traces:
        raise LabError(
            f"{folder} holds no profiles; make some with `./moderato profile --json "
            f"{folder}/NAME.json --flame-graph {folder}/NAME.svg`"
        )
    return Profiles(profiles, graphs, traces)


def _read(file: Path) -> list[dict]:
    try:
        profiles = json.loads(file.read_text())
        if not isinstance(profiles, list):
            raise TypeError("not a list")
        for table in tables5(profiles):
            table.html()  # calculated now, to find missing and malformed figures
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise LabError(
            f"{file} is not a profile ({reason(error)}); make it again with `./moderato "
            "profile --json`, or take it out of the folder"
        ) from error
    return profiles


# Table 5 ------------------------------------------------------------------------------------------


def tables5(profiles: list[dict]) -> list[Table]:
    """Terms, causes and the costliest functions. Cycles add up exactly before they are rounded."""
    if not profiles:
        return []
    ordered = sorted(profiles, key=_place)
    heads = [
        [str(profile["frame_bytes"]), f"{profile['load_percent']:g}", profile["variant"]]
        for profile in ordered
    ]
    terms = list(dict.fromkeys(term for profile in ordered for term in profile["terms"]))

    def table(
        name: str,
        caption: str,
        columns: list[str],
        row: Callable[[dict], list[str]],
        notes: Sequence[str] = (),
    ) -> Table:
        rows = [[*head, *row(profile)] for head, profile in zip(heads, ordered)]
        return Table(name, caption, ["bytes", "load, %", "variant", *columns], rows, notes, heads=3)

    clock = f"{ordered[0]['sys_clk_hz'] / 1e6:g} cycles are 1 µs."
    means = "; ".join(f"{cause}: {meaning}" for cause, meaning in CAUSES.items())
    return [
        table(
            "table-5",
            "Table 5. Where a frame's time goes, in cycles per frame; the load is of "
            f"{ordered[0]['link_mbps']} Mb/s, offered to each port",
            [*terms, "sum", "interrupts enabled, % of the busy time", "interrupts per frame", "frames"],
            lambda profile: _terms(profile, terms),
            [f"{clock} Per frame forwarded, or received where none was forwarded.", MISSING_NOTE],
        ),
        table(
            "causes",
            "The pipeline's work in this time, in cycles per frame",
            list(CAUSES),
            _causes,
            [f"{means}."],
        ),
        table(
            "costliest",
            "The costliest functions by themselves, in cycles per frame",
            list(map(str, range(1, COSTLIEST + 1))),
            _costliest,
        ),
    ]


def _place(profile: dict) -> tuple[int, int, float]:
    """Sort key: size, then the paper's six in its order, then the others."""
    variant, all_of = profile["variant"], paper.VARIANTS
    return (
        profile["frame_bytes"],
        all_of.index(variant) if variant in all_of else len(all_of),
        profile["load_percent"],
    )


def table5_theirs() -> Table:
    """The paper's formulas."""

    def times(count) -> str:
        return "" if count == 0 else "T_CS + " if count == 1 else f"{count} T_CS + "

    rest = " + ".join(PAPER_TERMS[1:])
    rows = [
        [variant, times(terms.t_cs) + rest, " + ".join(terms.enabled), str(terms.interrupts_per_frame)]
        for variant, terms in paper.terms().items()
    ]
    return Table(
        "table-5-theirs",
        "Table 5 of the paper: the terms, which it does not measure",
        ["variant", "time per frame", "of it with interrupts enabled", "interrupts per frame"],
        rows,
        ["T_CS: into and out of an interrupt."],
    )


def _terms(profile: dict, terms: list[str]) -> list[str]:
    window, (frames, what) = profile["window"], _frames(profile)
    cycles = {term: parts["cycles"] for term, parts in profile["terms"].items()}
    busy = window["cycles"] - profile["causes"]["idle"]
    return [
        *(f"{cycles[term] / frames:.0f}" if term in cycles else MISSING for term in terms),
        f"{window['cycles'] / frames:.0f}",
        number(100 * profile["interrupts_enabled"] / busy if busy else None, 1),
        f"{(window['rx_interrupts'] + window['tx_interrupts']) / frames:.3f}",
        f"{frames} {what}",
    ]


def _causes(profile: dict) -> list[str]:
    return [f"{profile['causes'][cause] / _frames(profile)[0]:.0f}" for cause in CAUSES]


def _costliest(profile: dict) -> list[str]:
    functions = sorted(profile["functions"].items(), key=lambda item: -item[1])[:COSTLIEST]
    cells = [f"{base(name)} {count / _frames(profile)[0]:.0f}" for name, count in functions]
    return cells + [""] * (COSTLIEST - len(cells))


def _frames(profile: dict) -> tuple[int, str]:
    """The divisor of a window's cycles."""
    for what in ("forwarded", "received"):
        if profile["window"][what]:
            return profile["window"][what], what
    return 1, "in all"
