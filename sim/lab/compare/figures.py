# SPDX-License-Identifier: BSD-2-Clause
"""The comparable parts of a --json result: settings, figures, functions."""

import json
from collections.abc import Sequence
from pathlib import Path

from ..run.system import IDEAL
from ..show.errors import UsageError, reason

# Settings that any command's result may have.
SETTINGS = (
    "on",
    "variant",
    "setting",
    "situation",
    "direction",
    "frame_bytes",
    "load_percent",
    "link_mbps",
    "flows",
    "one_way",
    "nic",
    "harts",
    "spread",
    "user_buffer",
    "octets",
    "connections",
    "socket",
    "window",
    "program",
    "check",
    "gro",
    "off",
    "zerocopy",
    "faults",
    "peer",
    "kernel",
    "ethtool",
    "sys_clk_hz",
    "memory",
)
LATENCY = ("min", "median", "p99", "max")
LARGEST = 1e30  # larger than any figure, and finite


def read(path: Path) -> list[dict]:
    """The results in a file. Raises a UsageError for other content."""
    try:
        found = json.loads(path.read_text())
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or deeper than any result
        raise UsageError(
            f"{path} is no JSON; name what --json of `forward`, `profile`, `tcp` or "
            "another command wrote"
        ) from None
    if not isinstance(found, list) or not found or not all(map(kind, found)):
        raise UsageError(
            f"{path} has no results; name what --json of `forward`, `profile`, `tcp` "
            "or another command wrote"
        )
    for number, result in enumerate(found, 1):
        try:
            require_figures(result)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise UsageError(
                f"result {number} of {path} is damaged ({reason(error)}); name what "
                "--json of a command wrote, as it wrote it"
            ) from error
    return found


def require_figures(result: dict):
    """Calculate all figures, to find missing and wrong values. Raises Python's exceptions."""
    settings(result)
    for name, value in (*figures(result).items(), *functions(result).items()):
        if not -LARGEST < value < LARGEST:
            raise ValueError(f"{name}: {value}")


def kind(result) -> str | None:
    """The command that made a result, by its figures."""
    fields = result if isinstance(result, dict) else {}
    for name, needed in (
        ("profile", {"terms", "causes", "functions", "window"}),
        ("transfer", {"goodput_mbps", "segments", "direction"}),
        ("trial", {"ports", "throughput", "latency_ns"}),
    ):
        if needed <= fields.keys():
            return name
    return None


def settings(result: dict) -> dict[str, str]:
    """Settings by name, as words. NIC and memory are among the conditions; a profile's `memory` is the
    use of the memory port. A result of a board says where it was made."""
    made = result.get("conditions", {})
    known = {"on": "simulation"} | made | result
    known |= {"memory": made.get("memory", IDEAL)} if made and known["on"] == "simulation" else {}
    return {
        name: _word(known[name])
        for name in SETTINGS
        if name in known and not isinstance(known[name], dict)
    }  # a trial's window is not a setting


def _word(value) -> str:
    if not isinstance(value, list):
        return str(value)
    if any(isinstance(each, dict) for each in value):  # figures of each hart
        return str(len(value))
    return ", ".join(value) or "none"


def figures(result: dict) -> dict[str, float]:
    """Figures by name, in reading order, without those that were not measured."""
    found = {"profile": _of_profile, "transfer": _of_transfer}.get(kind(result) or "", _of_trial)(result)
    return {name: value for name, value in found.items() if value is not None}


def _of_trial(result: dict) -> dict:
    def both(name: str):
        values = [port.get(name) for port in result["ports"]]
        return None if None in values else sum(values)

    return {
        **{
            name.replace("_", " "): both(name)
            for name in (
                "offered",
                "received",
                "forwarded",
                "lost",
                "dropped_at_ring",
                "dropped_at_fifo",
                "dropped_damaged",
                "dropped_filtered",
            )
        },
        **{
            f"dropped, {name.replace('_', ' ')}": count
            for name, count in result.get("dropped", {}).items()
        },
        "corrupted": both("corrupted"),
        "reordered": both("reordered"),
        "Rx interrupts": both("rx_interrupts"),
        "Tx interrupts": both("tx_interrupts"),
        "forwarded/s": result["throughput"]["fps"],
        **_latency("latency", result["latency_ns"]),
        **_latency("urgent latency", result.get("probe_latency_ns") or {}),
        "CPU idle, %": result["cpu_idle_percent"],
    }


def _latency(name: str, nanoseconds: dict) -> dict:
    return {
        f"{name} {each}, us": value / 1000
        for each in LATENCY
        if (value := nanoseconds.get(each)) is not None
    }


def _of_transfer(result: dict) -> dict:
    trip = result.get("round_trip_us") or {}
    return {
        "Mb/s": result["goodput_mbps"],
        "CPU idle, %": result["cpu_idle_percent"],
        "interrupts/s": result.get("interrupts_per_second"),
        "segments": result["segments"],
        "ACKs/segment": result.get("acks_per_segment"),
        "window, octets": result.get("mean_window_bytes"),
        "round trip, us": trip.get("median"),
        "sent again": result.get("retransmissions"),
        "wrong": result.get("corrupted"),
        **{
            f"{name}, cycles": count / _divisor(result)
            for name, count in result.get("profile", {}).get("layers", {}).items()
        },
    }


def _of_profile(result: dict) -> dict:
    window, divisor = result["window"], _divisor(result)
    terms = {term: each["cycles"] for term, each in result["terms"].items()}
    raised = window.get("rx_interrupts", 0) + window.get("tx_interrupts", 0)
    return {
        "forwarded/s": window.get("forwarded", 0) * result["sys_clk_hz"] / window["cycles"],
        "interrupts/frame": raised / divisor,
        "cycles/frame": sum(terms.values()) / divisor,
        **{f"{term}, cycles": cycles / divisor for term, cycles in terms.items()},
        **{
            f"{cause}, cycles": cycles / divisor
            for cause, cycles in result["causes"].items()
            if cause != "idle"
        },
    }


def _divisor(result: dict) -> int:
    """The number of frames or segments by which cycles are divided."""
    if kind(result) == "profile":
        window = result["window"]
        return window.get("forwarded") or max(1, window.get("received", 0))
    return max(1, result["segments"])


def functions(result: dict) -> dict[str, float]:
    """A profile's cycles of each function itself, per frame or segment."""
    found = result.get("functions") or result.get("profile", {}).get("functions", {})
    return {name: cycles / _divisor(result) for name, cycles in found.items()}


# Pairs --------------------------------------------------------------------------------------------


class Pairs:
    """Pairs of results of A and B with the same settings.

    `between`: the setting that is compared, with one value in all of A and another in all of B.
    """

    def __init__(self, a: Sequence[dict], b: Sequence[dict]):
        kinds = [{kind(result) for result in side} for side in (a, b)]
        if kinds[0] != kinds[1]:
            raise UsageError(
                "A has figures of a {}, B of a {}; compare what the same command wrote".format(
                    *(" and a ".join(sorted(map(str, each))) for each in kinds)
                )
            )
        names = {name for result in (*a, *b) for name in settings(result)}
        values = {
            name: tuple({settings(result).get(name, "none") for result in side} for side in (a, b))
            for name in SETTINGS
            if name in names
        }
        self.between = {
            name: (min(of_a), min(of_b))
            for name, (of_a, of_b) in values.items()
            if len(of_a) == len(of_b) == 1 and of_a != of_b
        }
        alike = [name for name in values if name not in self.between]
        self.telling = [name for name in alike if len(values[name][0] | values[name][1]) > 1]
        self.common = {name: min(values[name][0]) for name in alike if name not in self.telling}
        self.pairs = []  # (name, result of A, result of B)
        self.alone = {"A": [], "B": []}  # names of results without a pair
        waiting = [(self._key(result), result) for result in b]
        for result in a:
            other = next((each for each in waiting if each[0] == self._key(result)), None)
            if other is None:
                self.alone["A"].append(self._name(result))
                continue
            waiting.remove(other)
            self.pairs.append((self._name(result), result, other[1]))
        self.alone["B"] = [self._name(result) for _, result in waiting]

    def _key(self, result: dict) -> tuple:
        known = settings(result)
        return tuple(known.get(name, "none") for name in self.telling)

    def _name(self, result: dict) -> str:
        """The settings by which a result differs from the others of its file."""
        known = settings(result)
        return ", ".join(words(name, known[name]) for name in self.telling if name in known)


def words(name: str, value: str) -> str:
    """A setting for people, without its name where the value explains itself."""
    units = {
        "frame_bytes": "{} bytes",
        "load_percent": "{} %",
        "link_mbps": "{} Mb/s",
        "user_buffer": "buffer {}",
        "ethtool": "ethtool {}",
    }
    if name in ("variant", "setting", "situation", "direction"):
        return value
    return units.get(name, name.replace("_", " ") + " {}").format(value)
