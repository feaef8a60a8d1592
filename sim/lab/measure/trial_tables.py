# SPDX-License-Identifier: BSD-2-Clause
"""Results as text: for every frame size, the fates of the frames, and their costs."""

from collections.abc import Sequence

from ..run import ethtool
from ..show.columns import columns, sentence
from .results import LATENCY, Result

# Where the seconds of a trial passed.
PLACES = {
    "simulation": "of simulated time",
    "hardware": "on hardware",
    "rehearsal": "in a rehearsal",
}


def render(results: Sequence[Result]) -> str:
    """Two tables for each frame size and load, a line per variant, in the order of the results."""
    groups = {}
    for result in results:
        groups.setdefault((result.trial.frame_bytes, result.trial.load_percent), []).append(result)
    return "\n\n".join(map(_group, groups.values())) + "\n"


def render_replay(result: Result) -> str:
    """A line per port about the frames that entered there, and the fates of the received ones."""
    head = [
        "port",
        "offered",
        "answers",
        "received",
        "at ring",
        "at FIFO",
        "damaged",
        "filtered",
        "forwarded",
        "Rx",
        "Tx",
    ]
    names = [
        "offered",
        "answers",
        "received",
        "dropped_at_ring",
        "dropped_at_fifo",
        "dropped_damaged",
        "dropped_filtered",
        "forwarded",
        "rx_interrupts",
        "tx_interrupts",
    ]
    rows = [
        [str(number), *(str(getattr(port, name)) for name in names)]
        for number, port in enumerate(result.ports)
    ]
    seconds = result.cycles / result.sys_clk_hz
    title = (
        f"{result.trial.variant}: {seconds:.3f} s of simulated time, "
        f"CPU idle {result.cpu_idle_percent:.1f} %"
    )
    table = columns([head, *rows], group={"dropped:": range(4, 8), "interrupts:": range(9, 11)})
    why = result.reasons
    fates = (
        f"Of {result.total('received')} received: {result.total('forwarded')} forwarded, "
        f"{result.delivered} IPv4 for the guest itself, {why['not_ipv4']} not IPv4 (such as ARP). "
        f"Dropped: {result.backlog_dropped} from the backlog, {result.tx_dropped} by the driver's "
        f"Tx, {why['expired']} with an expired TTL or a malformed header, {why['bad_checksum']} "
        f"with a wrong checksum, {why['no_route']} without a route, {why['other']} for other "
        "reasons."
    )
    return "\n".join([sentence(title), "", *table, "", sentence(fates)]) + "\n"


def _group(results: Sequence[Result]) -> str:
    trial = results[0].trial
    into = "port 0" if trial.traffic.one_way else "each port"
    streams = f", {trial.traffic.streams} streams" if trial.traffic.streams > 1 else ""
    title = (
        f"{trial.frame_bytes}-byte frames, {trial.load_percent:g} % of {trial.link_mbps} Mb/s "
        f"offered to {into}: {trial.frames} frames per port in {trial.seconds:.3f} s "
        f"{PLACES[results[0].on]}{streams}"
        f"{ethtool.said(results[0].conditions)}"
    )
    return "\n".join([sentence(title), "", *_frames(results), "", *_costs(results)])


def _frames(results: Sequence[Result]) -> list[str]:
    head = [
        "variant",
        "offered",
        "received",
        "forwarded",
        "lost",
        "at ring",
        "at FIFO",
        "backlog",
        "driver Tx",
        "elsewhere",
        "corrupted",
    ]
    loose = not results[0].trial.traffic.in_order
    hardware = any(result.by_hardware for result in results)
    rows = [
        [
            result.trial.variant,
            *(
                str(result.total(name))
                for name in (
                    "offered",
                    "received",
                    "forwarded",
                    "lost",
                    "dropped_at_ring",
                    "dropped_at_fifo",
                )
            ),
            str(result.backlog_dropped),
            str(result.tx_dropped),
            str(result.dropped_elsewhere),
            str(result.total("corrupted")),
            *([str(result.total("reordered"))] * loose),
            *([str(result.by_hardware)] * hardware),
        ]
        for result in results
    ]
    extra = ["reordered"] * loose + ["by hardware"] * hardware
    return columns([head + extra, *rows], group={"dropped:": range(5, 10)})


def _costs(results: Sequence[Result]) -> list[str]:
    head = [
        "variant",
        "Rx 0",
        "Rx 1",
        "Tx 0",
        "Tx 1",
        "offered",
        "forwarded",
        "Mb/s",
        *LATENCY,
        "CPU idle",
    ]
    harts = range(len(results[0].idle_per_hart)) if len(results[0].idle_per_hart) > 1 else ()
    hart_head = [f"{what} {hart}" for what in ("idle", "interrupts") for hart in harts]
    rows = [
        [
            result.trial.variant,
            *(str(port.rx_interrupts) for port in result.ports),
            *(str(port.tx_interrupts) for port in result.ports),
            f"{result.offered_fps:.0f}",
            f"{result.total('fps'):.0f}",
            f"{result.total('mbps'):.2f}",
            *(_microseconds(result, result.latency[name]) for name in LATENCY),
            f"{result.cpu_idle_percent:.1f} %",
            *(f"{result.idle_per_hart[hart]:.1f} %" for hart in harts),
            *(str(result.interrupts_per_hart[hart]) for hart in harts),
        ]
        for result in results
    ]
    return columns(
        [head + hart_head, *rows],
        group={"interrupts:": range(1, 5), "frames/s:": range(5, 7), "latency, us:": range(8, 12)}
        | ({"hart by hart:": range(len(head), len(head + hart_head))} if harts else {}),
    )


def _microseconds(result: Result, cycles: int | None) -> str:
    return "-" if cycles is None else f"{cycles * 1e6 / result.sys_clk_hz:.1f}"
