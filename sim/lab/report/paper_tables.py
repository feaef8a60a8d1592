# SPDX-License-Identifier: BSD-2-Clause
"""Tables 1 to 4 of Spanos et al. (2008), compared with ours. Table 5 is in profiles.py."""

from collections.abc import Callable, Mapping

from ..rfc2544 import metrics
from . import model, paper
from .cell_results import Cell, Throughput, frame_times
from .records import Records, conditions
from .table import MISSING, Table, number

BASE = "original"  # the paper's reference
CLOSE = 0.15  # ratios that differ by more than this part are marked
LIMIT = "*"  # the line limits the rate
LEAST = "≥"  # the search did not finish

LIMIT_NOTE = f"{LIMIT} at the line rate: the line is the limit, not the device."
LEAST_NOTE = f"{LEAST} the search was cut off before it found a rate that fails."
MISSING_NOTE = f"{MISSING} not measured, or not in the paper."
MARK_NOTE = f"Bold: ours and theirs differ by more than {100 * CLOSE:.0f} %."

Value = tuple[float, bool] | None  # the figure, and whether the line limits it


# Tables 1 and 2 -----------------------------------------------------------------------------------


def table1(records: Records, found: Mapping[Cell, Throughput]) -> Table:
    """Throughput."""

    def ours(variant, size):
        answer = found.get((variant, size))
        if answer is None:
            return MISSING
        least = "" if answer.exact else LEAST
        return least + number(answer.mbps, 2, LIMIT * answer.at_line)

    def theirs(variant, size):
        value = _theirs(variant, size)
        return number(value and value[0], 2, LIMIT * bool(value and value[1]))

    rows = _by_size(
        records,
        {
            "ours": ours,
            "theirs": theirs,
            "ours / theirs": lambda variant, size: _quotient(
                _ours(found, variant, size), _theirs(variant, size)
            ),
        },
    )
    incomplete = [LEAST_NOTE] if any(not answer.exact for answer in found.values()) else []
    return Table(
        "table-1",
        "Table 1. Throughput (RFC 2544), both directions at once, Mb/s of one "
        "port: 100 × offered rate ÷ line rate",
        ["bytes", "", *records.variants],
        rows,
        [_frames(found), LIMIT_NOTE, *incomplete, MISSING_NOTE],
        heads=2,
    )


def table1_ratios(records: Records, found: Mapping[Cell, Throughput]) -> Table:
    """Throughput as ratio to ORIGINAL's."""

    def ours(variant, size):
        return _ratio(_ours(found, variant, size), _ours(found, BASE, size))

    def theirs(variant, size):
        return _ratio(_theirs(variant, size), _theirs(BASE, size))

    rows = _by_size(
        records,
        {
            "ours": lambda *cell: _shown(ours(*cell)),
            "theirs": lambda *cell: _shown(theirs(*cell)),
            "ours / theirs": lambda *cell: _quotient(ours(*cell), theirs(*cell), mark=True),
        },
    )
    return Table(
        "table-1-ratios",
        f"Table 1 as ratios to {BASE}",
        ["bytes", "", *records.variants],
        rows,
        [LIMIT_NOTE, MARK_NOTE, MISSING_NOTE],
        heads=2,
    )


def baseline(records: Records, found: Mapping[Cell, Throughput]) -> Table | None:
    """Throughput as a ratio to another NIC's, if there is one."""
    others = dict.fromkeys(
        trial["task"]["variant"]
        for trial in records.of("steady")
        if conditions(trial)["nic"] != "moderato"
    )
    if not others:
        return None
    rows = _by_size(
        records,
        {
            f"to {other}": lambda variant, size, other=other: _shown(
                _ratio(_ours(found, variant, size), _ours(found, other, size))
            )
            for other in others
        },
    )
    return Table(
        "baseline",
        "Throughput as ratio to that of another NIC, on the same SoC and kernel",
        ["bytes", "", *records.variants],
        rows,
        [LIMIT_NOTE, MISSING_NOTE],
        heads=2,
    )


def table2(records: Records, found: Mapping[Cell, Throughput]) -> Table:
    """Gain over ORIGINAL, as in their table 2."""

    def gain(value: Value) -> str:
        return MISSING if value is None else f"{100 * (value[0] - 1):+.1f}{LIMIT * value[1]}"

    variants = [variant for variant in records.variants if variant != BASE]
    rows = _by_size(
        records,
        {
            "ours": lambda variant, size: gain(
                _ratio(_ours(found, variant, size), _ours(found, BASE, size))
            ),
            "theirs": lambda variant, size: gain(_ratio(_theirs(variant, size), _theirs(BASE, size))),
        },
        variants,
    )
    return Table(
        "table-2",
        f"Table 2. Gain in throughput over {BASE}, %",
        ["bytes", "", *variants],
        rows,
        [
            "Theirs follow from their table 1; their table 2 has the columns of NAPI "
            "and TX-OFF exchanged.",
            LIMIT_NOTE,
            MISSING_NOTE,
        ],
        heads=2,
    )


def _by_size(
    records: Records, lines: dict[str, Callable[[str, int], str]], variants: list[str] | None = None
) -> list[list[str]]:
    """Rows, grouped by frame size, with a column per variant."""
    variants = records.variants if variants is None else variants
    return [
        [str(size), title, *(line(variant, size) for variant in variants)]
        for size in records.frame_sizes
        for title, line in lines.items()
    ]


def _frames(found: Mapping[Cell, Throughput]) -> str:
    frames = [metrics.frames(each.record) for answer in found.values() for each in answer.phases]
    phases = sorted({len(answer.phases) for answer in found.values()})
    return (
        f"Each of our values is the median of {' or '.join(map(str, phases))} phase(s); its trials have "
        f"{min(frames)} to {max(frames)} frames, both ports together."
    )


def _ours(found: Mapping[Cell, Throughput], variant: str, size: int) -> Value:
    answer = found.get((variant, size))
    return (answer.mbps, answer.at_line) if answer and answer.exact else None


def _theirs(variant: str, size: int) -> Value:
    mbps = paper.throughput().get((variant, size))
    return (mbps, mbps >= paper.LINK_MBPS) if mbps else None


def _ratio(value: Value, base: Value) -> Value:
    return value and base and (value[0] / base[0], value[1] or base[1])


def _shown(value: Value) -> str:
    return MISSING if value is None else number(value[0], 2, LIMIT * value[1])


def _quotient(ours: Value, theirs: Value, mark: bool = False) -> str:
    """The quotient. If the line limits one of them, the difference says nothing and gets no mark."""
    ratio = _ratio(ours, theirs)
    text = _shown(ratio)
    apart = ratio and not ratio[1] and abs(ratio[0] - 1) > CLOSE
    return f"**{text}**" if mark and apart else text


# Table 3 ------------------------------------------------------------------------------------------


def table3(records: Records, found: Mapping[str, dict]) -> Table:
    """Interrupts at full load; `found`: a record per variant."""
    rows = []
    for variant in records.variants:
        rows.append(
            [variant, "ours", *(_full_load(found[variant]) if variant in found else [MISSING] * 9)]
        )
        theirs = paper.full_load().get(variant)
        if theirs:
            rows.append(
                [
                    variant,
                    "theirs",
                    *_counts(
                        paper.FULL_LOAD_FRAMES,
                        theirs.received,
                        theirs.forwarded,
                        theirs.rx_interrupts,
                        theirs.tx_interrupts,
                    ),
                    number(theirs.rx_interrupts, 0),
                ]
            )
    head = [
        "variant",
        "",
        "offered",
        "received",
        "forwarded",
        "Rx interrupts",
        "Tx interrupts",
        "forwarded / received",
        "Rx interrupts / received",
        "Tx interrupts / forwarded",
        "Rx interrupts from the start",
    ]
    return Table(
        "table-3",
        f"Table 3. Frames and interrupts at full load: {paper.FULL_LOAD_BYTES}-"
        f"byte frames, 100 % of {records.link_mbps} Mb/s offered to each port",
        head,
        rows,
        [
            "Our counts are those of the trial's window, its steady state. The interrupt that starts "
            "NAPI's polling comes before it, so it is in the last column only. Their counts are those "
            "of whole trials.",
            MISSING_NOTE,
        ],
        heads=2,
    )


def _full_load(record: dict) -> list[str]:
    ports = record["report"]["ports"]

    def count(part: str, name: str) -> int:
        return sum(port[part][name] for port in ports)

    return [
        *_counts(
            count("window", "offered"),
            count("window_events", "rx_completed"),
            count("window", "forwarded"),
            count("window_events", "rx_interrupt"),
            count("window_events", "tx_interrupt"),
        ),
        str(count("events", "rx_interrupt")),
    ]


def _counts(offered: int, received: int, forwarded: int, rx: int, tx: int) -> list[str]:
    def share(part: int, whole: int) -> str:
        return number(part / whole if whole else None, 3)

    return [
        *map(str, (offered, received, forwarded, rx, tx)),
        share(forwarded, received),
        share(rx, received),
        share(tx, forwarded),
    ]


# Table 4 ------------------------------------------------------------------------------------------


def table4(
    records: Records, found: Mapping[Cell, Throughput], models: Mapping[str, model.Model]
) -> Table:
    """The model T = T_const + k S."""
    theirs = paper.model()
    rows = []
    for variant in records.variants:
        our, their = models.get(variant), theirs.get(variant)
        us = frame_times(found, variant)
        worst = max(abs(our.us(size) / value - 1) for size, value in us.items()) if our else 0
        rows.append(
            [
                variant,
                number(our and our.constant_us, 2),
                number(their and their.constant_us, 1),
                number(_constant_ratio(models, variant), 3),
                number(_constant_ratio(theirs, variant), 3),
                number(our and 1e3 * our.k_us_per_octet, 1),
                number(their and 1e3 * their.k_us_per_octet, 0),
                number(our and our.r_squared(us), 4),
                number(their and their.r_squared(_their_times(variant)), 4),
                MISSING if our is None else f"{100 * worst:.2f}",
                str(len(us)),
            ]
        )
    head = [
        "variant",
        "T_const, µs: ours",
        "theirs",
        f"T_const ÷ {BASE}'s: ours",
        "theirs",
        "k, ns/octet: ours",
        "theirs",
        "R²: ours",
        "theirs",
        "largest residual, %",
        "sizes",
    ]
    return Table(
        "table-4",
        "Table 4. The model T = T_const + k · S: time per frame over frame "
        "size, by least squares; T = 1 ÷ throughput of both ports",
        head,
        rows,
        [
            "The fit has only sizes at which the device is the limit, not the line. Their R² applies "
            "their table 4 to their table 1. The times are as exact as the search's resolution.",
            MISSING_NOTE,
        ],
    )


def table4_residuals(
    records: Records, found: Mapping[Cell, Throughput], models: Mapping[str, model.Model]
) -> Table:
    """Measured times, and the model's errors."""

    def cell(us, line, size):
        if size not in us:
            return MISSING
        miss = f" ({100 * (line.us(size) / us[size] - 1):+.2f} %)" if line else ""
        return f"{us[size]:.2f}{miss}"

    rows = [
        [
            variant,
            *(
                cell(frame_times(found, variant), models.get(variant), size)
                for size in records.frame_sizes
            ),
        ]
        for variant in records.variants
    ]
    return Table(
        "table-4-residuals",
        "Time per frame in µs by frame size; in brackets: by how much the model differs",
        ["variant", *map(str, records.frame_sizes)],
        rows,
        [MISSING_NOTE],
    )


def _constant_ratio(models: Mapping[str, model.Model], variant: str) -> float | None:
    if variant not in models or BASE not in models:
        return None
    return models[variant].constant_us / models[BASE].constant_us


def _their_times(variant: str) -> dict[int, float]:
    return {
        size: model.us_per_frame(mbps, size, paper.LINK_MBPS)
        for (name, size), mbps in paper.throughput().items()
        if name == variant and mbps < paper.LINK_MBPS
    }
