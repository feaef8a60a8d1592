# SPDX-License-Identifier: BSD-2-Clause
"""Figures 4 to 7 of Spanos et al. (2008), ours next to theirs; latency and interrupts."""

from collections.abc import Callable, Iterable, Mapping

from matplotlib.axes import Axes

from ..measure.results import frame_rate
from ..rfc2544 import metrics
from . import model, paper
from .cell_results import Cell, Throughput
from .plot import INK, NARROW, Plot, legend, log_axis, look, panels, styled, tip
from .records import Records

COLLAPSE_SIZES = (64, 256)  # the sizes of the paper's figure 5
LATENCY_SIZES = (64, 512, 1518)
SIZES = range(64, 1519, 2)  # for the model's lines
THEIRS = "Spanos et al. 2008"
COLLAPSE = (
    "A device that keeps up follows the dotted line. Under overload, a good device stays at its "
    "maximum. One in livelock forwards fewer and fewer frames, because it only receives."
)


@styled
def throughput(records: Records, found: Mapping[Cell, Throughput]) -> Plot | None:
    """Figure 4."""
    if not found:
        return None
    figure, axes = panels(2, 2, 3.4, sharey=True)
    ours = {cell: answer.mbps for cell, answer in found.items() if answer.exact}
    for panel, title, mbps in ((axes[0], "ours", ours), (axes[1], THEIRS, paper.throughput())):
        for variant in _present(records, mbps):
            points = sorted((size, value) for (name, size), value in mbps.items() if name == variant)
            panel.plot(*zip(*points), **look(variant, records.variants))
            for size, value in points:
                tip(
                    panel,
                    size,
                    value,
                    f"{title}: {variant}, {size} bytes: {value:.2f} Mb/s, "
                    f"{2 * frame_rate(size, value, 100):.0f} frames/s forwarded",
                )
        _size_axis(panel)
        panel.set(title=title, ylim=(0, 1.05 * records.link_mbps))
    axes[0].set_ylabel("throughput, Mb/s per port")
    legend(figure, axes)
    return Plot(
        "figure-4",
        "Figure 4. Throughput over frame size, both directions at once; the line has 100 Mb/s",
        figure,
        "Most of the work is per frame, so larger frames carry "
        "more. Where a curve ends at 100 Mb/s, the line is the limit.",
    )


@styled
def collapse(records: Records, curves: Mapping[Cell, list[dict]]) -> Plot | None:
    """Figure 5: forwarded over offered rate."""
    sizes = [size for size in COLLAPSE_SIZES if any(size == of for _, of in curves)]
    if not sizes:
        return None
    figure, axes = panels(len(sizes), len(sizes), 3.4)
    for panel, size in zip(axes, sizes):
        _collapse(panel, records, curves, size)
        panel.set(title=f"{size}-byte frames")
    axes[0].set_ylabel("forwarded, frames/s (both ports)")
    legend(figure, axes)
    return Plot(
        "figure-5",
        "Figure 5. Congestion collapse: frames forwarded over frames offered, in steady state",
        figure,
        f"{COLLAPSE} {paper.COLLAPSE}",
    )


@styled
def story(records: Records, curves: Mapping[Cell, list[dict]], size: int) -> Plot | None:
    """The most important panel of figure 5 as a figure of its own."""
    if not any(size == of for _, of in curves):
        return None
    figure, (panel,) = panels(1, 1, 3.4, NARROW)
    _collapse(panel, records, curves, size)
    panel.set_ylabel("forwarded, frames/s (both ports)")
    legend(figure, [panel])
    return Plot("story", f"Fate of {size}-byte frames over the offered rate", figure, COLLAPSE)


@styled
def model_fit(
    records: Records, found: Mapping[Cell, Throughput], models: Mapping[str, model.Model]
) -> Plot | None:
    """Figure 6."""
    variants = _present(records, found)
    if not variants:
        return None
    figure, axes = panels(len(variants), 3, 2.4, sharey=True)
    for panel, variant in zip(axes, variants):
        ours = {
            size: answer.mbps
            for (name, size), answer in found.items()
            if name == variant and answer.exact
        }
        theirs = {size: mbps for (name, size), mbps in paper.throughput().items() if name == variant}
        _fit(
            panel,
            f"ours: {variant}",
            ours,
            models.get(variant),
            records.link_mbps,
            color=look(variant, records.variants)["color"],
            linestyle="-",
        )
        _fit(
            panel,
            f"{THEIRS}: {variant}",
            theirs,
            paper.model().get(variant),
            paper.LINK_MBPS,
            color=INK,
            linestyle="--",
            alpha=0.55,
            fillstyle="none",
        )
        panel.set(title=variant, ylim=(0, 1.05 * records.link_mbps))
        _size_axis(panel)
    for panel in axes[::3]:
        panel.set_ylabel("Mb/s per port")
    return Plot(
        "figure-6",
        "Figure 6. Throughput measured (points) and by the model T = T_const + "
        f"k · S (lines); ours in colour, {THEIRS} dashed in grey",
        figure,
        "A frame takes a constant time, and a time for each octet. Points on the line confirm it.",
    )


@styled
def model_lines(records: Records, models: Mapping[str, model.Model]) -> Plot | None:
    """Figure 7."""
    if not models:
        return None
    figure, axes = panels(2, 2, 3.4, sharey=True)
    for panel, title, lines in ((axes[0], "ours", models), (axes[1], THEIRS, paper.model())):
        for variant in (name for name in records.variants if name in lines):
            line, style = lines[variant], look(variant, records.variants)
            marked = [size for size in SIZES if size in records.frame_sizes]
            panel.plot(
                SIZES,
                [line.mbps(size, records.link_mbps) for size in SIZES],
                **style,
                markevery=[SIZES.index(size) for size in marked],
            )
            for size in marked:
                mbps = line.mbps(size, records.link_mbps)
                tip(
                    panel,
                    size,
                    mbps,
                    f"{title}: {variant}, {size} bytes: {mbps:.2f} Mb/s by the "
                    f"model, {line.us(size):.2f} µs per frame",
                )
        _size_axis(panel)
        panel.set(title=title, ylim=(0, 1.05 * records.link_mbps))
    axes[0].set_ylabel("throughput by the model, Mb/s per port")
    legend(figure, axes)
    return Plot(
        "figure-7",
        "Figure 7. Throughput by the model over frame size",
        figure,
        "Figure 4 again, from two numbers for each variant.",
    )


@styled
def latency(records: Records, found: Mapping[Cell, Throughput]) -> Plot | None:
    """The distribution at the throughput."""
    sizes = [size for size in LATENCY_SIZES if any(size == of for _, of in found)]
    if not sizes:
        return None
    figure, axes = panels(len(sizes), len(sizes), 3.2, sharey=True)
    for panel, size in zip(axes, sizes):
        for variant in records.variants:
            answer = found.get((variant, size))
            if answer and (us := metrics.latency_us(answer.record)):
                panel.plot(
                    us, range(101), **look(variant, records.variants), markevery=[0, 25, 50, 75, 100]
                )
                for percent in (0, 10, 25, 50, 75, 90, 99, 100):
                    tip(
                        panel,
                        us[percent],
                        percent,
                        f"{variant}, {size} bytes at "
                        f"{answer.rate:.0f} frames/s: {percent} % within {us[percent]:.1f} µs",
                    )
        panel.set(title=f"{size}-byte frames")
        log_axis(panel, "latency, ms", 1000)
    axes[0].set_ylabel("share of the frames, %")
    legend(figure, axes)
    return Plot(
        "latency",
        "Latency at the throughput: share of the frames with at most this latency",
        figure,
        "Lines further left have lower latencies. On a steep line, all frames have nearly the same one.",
    )


@styled
def interrupts(records: Records, curves: Mapping[Cell, list[dict]]) -> Plot | None:
    """Interrupts per frame over load."""
    if not curves:
        return None
    size = min(size for _, size in curves)
    figure, axes = panels(2, 2, 3.2, sharey=True)
    for panel, direction, of, count in (
        (axes[0], "rx", "received", metrics.received),
        (axes[1], "tx", "forwarded", metrics.forwarded),
    ):
        _curves(
            panel,
            records,
            curves,
            size,
            f"{direction.capitalize()} interrupts per frame {of}",
            lambda record, direction=direction, count=count: (
                metrics.interrupts(record, direction) / count(record) if count(record) else None
            ),
            digits=3,
        )
        panel.set(title=f"{direction.capitalize()} interrupts per frame {of}", ylim=(-0.03, None))
        log_axis(panel, "offered, 1000 frames/s (both ports)", 1000)
    axes[0].set_ylabel(f"interrupts per frame, {size} bytes")
    legend(figure, axes)
    return Plot(
        "interrupts",
        f"Interrupts per frame over load, {size}-byte frames, in steady state",
        figure,
        "With an interrupt for each frame, the ratio is 1 at any load. With NAPI it falls to 0 "
        "once the driver polls all the time.",
    )


# Parts --------------------------------------------------------------------------------------------


def _collapse(panel: Axes, records: Records, curves: Mapping[Cell, list[dict]], size: int):
    _curves(panel, records, curves, size, "forwarded", metrics.forwarded)
    most = (
        max(
            metrics.forwarded(record)
            for (_, of), trials in curves.items()
            if of == size
            for record in trials
        )
        or 1
    )
    limit = [1.15 * most * part / 100 for part in range(5, 101)]
    panel.plot(
        limit, limit, color=INK, linewidth=0.8, linestyle=":", label="forwarded = offered", zorder=1
    )
    panel.set(ylim=(-0.02 * most, 1.15 * most))
    log_axis(panel, "offered, 1000 frames/s (both ports)", 1000)


def _present(records: Records, cells: Iterable[Cell]) -> list[str]:
    there = {variant for variant, _ in cells}
    return [variant for variant in records.variants if variant in there]


def _size_axis(panel: Axes):
    panel.set(xlabel="frame size, octets", xlim=(0, 1550), xticks=[64, 256, 512, 896, 1280, 1518])


def _fit(
    panel: Axes,
    title: str,
    points: Mapping[int, float],
    line: model.Model | None,
    link_mbps: int,
    linestyle: str,
    **style,
):
    """Throughputs by frame size, and the model's line if there is one."""
    if line:
        panel.plot(SIZES, [line.mbps(size, link_mbps) for size in SIZES], linestyle=linestyle, **style)
    panel.plot([*points], [*points.values()], marker="o", linestyle="none", **style)
    for size, mbps in points.items():
        says = f", model {line.mbps(size, link_mbps):.2f}" if line else ""
        tip(panel, size, mbps, f"{title}, {size} bytes: {mbps:.2f} Mb/s{says}")


def _curves(
    panel: Axes,
    records: Records,
    curves: Mapping[Cell, list[dict]],
    size: int,
    what: str,
    value: Callable[[dict], float | None],
    digits: int = 0,
):
    """A line per variant: `value` over the offered rate, without points where it is None."""
    for variant in records.variants:
        points = [
            (metrics.offered(record), y, record)
            for record in curves.get((variant, size), [])
            if (y := value(record)) is not None
        ]
        if not points:
            continue
        panel.plot([x for x, *_ in points], [y for _, y, _ in points], **look(variant, records.variants))
        for x, y, record in points:
            tip(
                panel,
                x,
                y,
                f"{variant}, {size} bytes, load {record['task']['load_percent']:g} %: "
                f"{x:.0f} frames/s offered, {what}: {y:.{digits}f}",
            )
