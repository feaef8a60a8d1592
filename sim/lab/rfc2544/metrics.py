# SPDX-License-Identifier: BSD-2-Clause
"""Figures of a record, from moderato-sim's report in it. Rates are frames per second of all ports."""

from ..measure.results import frame_rate
from ..measure.traffic import entered
from .search import Outcome


def offered(record: dict) -> float:
    """The rate at which frames entered, both ports together."""
    task = record["task"]
    ports = len(entered(record["report"]))
    return ports * frame_rate(task["frame_bytes"], task["load_percent"], task["link_mbps"])


def window_seconds(record: dict) -> float:
    """Duration of the steady state; shorter if the trial ended early."""
    window = record["report"]["window"]
    end = min(window["end_cycle"], record["report"]["cycle"])
    return max(1, end - window["start_cycle"]) / record["sys_clk_hz"]


def forwarded(record: dict) -> float:
    """The rate at which frames left intact, in the window."""
    return _window(record, "window", "forwarded", entered(record["report"]))


def received(record: dict) -> float:
    """The rate at which frames were handed to the kernel, in the window."""
    return _window(record, "window_events", "rx_completed", record["report"]["ports"])


def interrupts(record: dict, direction: str) -> float:
    """Interrupts per second of one direction, `rx` or `tx`, in the window."""
    return _window(record, "window_events", f"{direction}_interrupt", record["report"]["ports"])


def _window(record: dict, part: str, name: str, ports: list[dict]) -> float:
    return sum(port[part][name] for port in ports) / window_seconds(record)


def frames(record: dict) -> int:
    """Frames offered in the whole trial to both ports together."""
    return sum(port["offered"] for port in entered(record["report"]))


def lost(record: dict) -> int:
    """Frames of these that were not forwarded intact."""
    return sum(port["lost"] for port in entered(record["report"]))


def loss_percent(record: dict) -> float:
    """RFC 2544's frame loss rate in the steady state; frames still in queues at the end do not count."""
    windows = [port["window"] for port in entered(record["report"])]
    into, out = (sum(window[name] for window in windows) for name in ("offered", "forwarded"))
    return 100 * max(0, into - out) / max(1, into)


def mbps(record: dict) -> float:
    """The load as the papers state it: of one port, including preamble and gap."""
    task = record["task"]
    return task["link_mbps"] * task["load_percent"] / 100


def idle_percent(record: dict) -> float:
    """CPU idle time in the window, all harts together."""
    idle = record["report"]["window"]["idle_cycles"]
    return 100 * sum(idle) / len(idle) / record["sys_clk_hz"] / window_seconds(record)


def latency_us(record: dict) -> list[float]:
    """Percentiles 0 to 100 of all forwarded frames; empty if there were none."""
    return [cycles * 1e6 / record["sys_clk_hz"] for cycles in record["report"]["latency_percentiles"]]


def recovery_seconds(record: dict) -> float:
    """RFC 2544, 26.5: from the end of the overload to the last frame lost; 0 if that was before."""
    task, report = record["task"], record["report"]
    slot = 1 / frame_rate(task["frame_bytes"], task["load_percent"], task["link_mbps"])
    reduced = report["start_cycle"] + task["frames"] * slot * record["sys_clk_hz"]
    lost = max((port["last_lost_cycle"] or 0) for port in entered(report))
    return max(0, lost - reduced) / record["sys_clk_hz"]


def reset_seconds(record: dict) -> float | None:
    """RFC 2544, 26.6: from the last frame before the reset to the first one after, in either direction.
    None for fewer than two frames."""
    pauses = [port["longest_pause"] for port in entered(record["report"]) if port["longest_pause"]]
    longest = max((pause["end_cycle"] - pause["start_cycle"] for pause in pauses), default=None)
    return longest and longest / record["sys_clk_hz"]


def outcome(record: dict) -> Outcome:
    """The outcome for the search, with rates of one port."""
    ports = len(entered(record["report"]))
    rates = offered(record), forwarded(record), received(record)
    return Outcome(record["passed"], *(rate / ports for rate in rates))
