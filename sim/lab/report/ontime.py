# SPDX-License-Identifier: BSD-2-Clause
"""Frames with a launch time, read from the --json of `moderato ontime`."""

from collections.abc import Sequence

from ..ontime.ways import WAYS
from .plot import Plot, legend, look, panels, styled
from .table import Table, number

HEAD = (
    "",
    "frames",
    "on the wire",
    "min, ns",
    "median",
    "p99",
    "max",
    "jitter",
    "dropped",
    "through a closed gate",
    "forwarded/s",
)
LINEAR = 100  # ns: the axis of lateness is linear up to here, then logarithmic


def record(found: dict) -> dict:
    """A record of `ontime` that has what tables and figures need. Raises KeyError, TypeError, …"""
    if not all(isinstance(cell, str) for cell in _row(found)) or found["way"] not in WAYS:
        raise TypeError("its way is unknown")
    sorted(found["frame_lateness_ns"].values())
    where(found)
    return found


def groups(found: Sequence[dict]) -> dict[str, list[dict]]:
    """The records by what they have in common, where the ways are compared."""
    by_place: dict[str, list[dict]] = {}
    for each in found:
        by_place.setdefault(where(each), []).append(each)
    return by_place


def tables(found: Sequence[dict]) -> list[Table]:
    """One for each link, load, system and commit, with the ways compared."""
    return [
        Table(
            f"ontime-{n}",
            f"Lateness of frames with a launch time in {place}",
            HEAD,
            [_row(each) for each in those],
            [
                "Lateness is the departure of the first bit after the SFD minus the launch time. "
                + " ".join(f"{each['way']}: {WAYS[each['way']].says}." for each in those)
            ],
        )
        for n, (place, those) in enumerate(groups(found).items(), 1)
    ]


def plots(found: Sequence[dict]) -> list[Plot]:
    """For each table, the share of frames that have left at a lateness."""
    return [
        _distribution(f"ontime-figure-{n}", place, those)
        for n, (place, those) in enumerate(groups(found).items(), 1)
    ]


@styled
def _distribution(name: str, place: str, found: Sequence[dict]) -> Plot:
    figure, (axes,) = panels(1, 1, 2.6)
    for each in found:
        late = sorted(each["frame_lateness_ns"].values())
        share = [100 * count / each["frames"] for count in range(1, len(late) + 1)]
        axes.plot(late, share, drawstyle="steps-post", **look(each["way"], list(WAYS)))
    axes.set_xscale("symlog", linthresh=LINEAR)
    axes.set(xlabel="lateness, ns; below 0: early", ylabel="% of the frames", ylim=(0, 105))
    legend(figure, [axes])
    return Plot(
        name,
        f"Lateness in {place}: how many of the frames have left",
        figure,
        "A vertical line has no jitter. Frames that were dropped are missing at the upper end.",
    )


def _row(each: dict) -> list[str]:
    gates = each.get("gates")
    dropped = each["dropped_by_hardware"] + each["dropped_by_qdisc"] + each["rejected"]
    return [
        each["way"],
        str(each["frames"]),
        str(each["on_wire"]),
        *(number(each["lateness_ns"][name], 0) for name in ("min", "median", "p99", "max")),
        number(each["jitter_ns"], 0),
        str(dropped),
        f"{gates['violations']} of {gates['frames']}" if gates else number(None, 0),
        number(each["traffic"]["throughput"]["fps"], 0),
    ]


def where(each: dict) -> str:
    """The conditions that all rows of a table share."""
    made = each.get("conditions") or {}
    return (
        f"{each['link_mbps']} Mb/s, one frame each {each['interval_ns'] / 1000:g} µs, load "
        f"{each['load_percent']:g} % of {each['frame_bytes']} octets, harts {each['harts']}, version "
        f"{made.get('version', 'unknown')}"
    )
