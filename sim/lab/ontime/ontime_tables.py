# SPDX-License-Identifier: BSD-2-Clause
"""The ways as text: a line for each, and how its frames' lateness is distributed."""

from collections.abc import Sequence

from ..show.columns import columns, sentence
from .figures import LATE
from .ways import WAYS

BAR = 30  # characters


def render(records: Sequence[dict]) -> str:
    first = records[0]
    head = ["way", "frames", "min", "median", "p99", "max", "jitter", "late"]
    head += ["hardware", "qdisc", "missing", "forwarded/s"]
    rows = [
        [
            each["way"],
            str(each["on_wire"]),
            *(_figure(each["lateness_ns"][name]) for name in ("min", "median", "p99", "max")),
            _figure(each["jitter_ns"]),
            str(each["late"]),
            str(each["dropped_by_hardware"]),
            str(each["dropped_by_qdisc"] + each["rejected"]),
            str(each["missing"]),
            f"{each['traffic']['throughput']['fps']:.0f}",
        ]
        for each in records
    ]
    title = (
        f"{first['frames']} frames, one each {first['interval_ns'] / 1000:g} us, at "
        f"{first['link_mbps']} Mb/s, while the guest forwards frames of {first['frame_bytes']} octets, "
        f"offered at {first['load_percent']:g} % of the line rate to each port. Lateness: from the "
        f"launch time to the first bit after the SFD, in ns; late: more than {LATE} ns"
    )
    gates = [_gates(each) for each in records if "gates" in each]
    group = {"lateness, ns:": range(2, 7), "dropped by:": range(8, 10)}
    tables = [[sentence(title), "", *columns([head, *rows], group=group)]]
    return "\n\n".join("\n".join(lines) for lines in (*tables, *map(_histogram, records), *gates)) + "\n"


def _histogram(record: dict) -> list[str]:
    """A line for each range of lateness, with a bar."""
    title = sentence(f"{record['way']}: {WAYS[record['way']].says}")
    bins = record["histogram"]
    if not bins:
        return [title, "", "no frame left"]
    most = max(each["frames"] for each in bins)
    rows = [
        [str(each["from"]), str(each["frames"]), "#" * -(-BAR * each["frames"] // most)] for each in bins
    ]
    return [title, "", *columns([["from, ns", "frames", ""], *rows], left=True)]


def _gates(record: dict) -> list[str]:
    """Violations, and the load's share of the time that its gate left."""
    gates = record["gates"]
    share = 100 * gates["load_frames"] / max(1, gates["most_load_frames"])
    return [
        sentence(
            f"{record['way']}: {gates['violations']} of {gates['frames']} frames left while their "
            f"gate was closed; between the marks, {gates['load_frames']} frames of the load left, "
            f"{share:.1f} % of those that the gate had time for"
        )
    ]


def _figure(value: int | None) -> str:
    return "-" if value is None else str(value)
