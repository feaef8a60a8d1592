# SPDX-License-Identifier: BSD-2-Clause
"""The parts of a --json result to compare: its settings, its figures, its functions."""

import json
from collections.abc import Sequence
from pathlib import Path

from ..run.system import IDEAL
from ..show.errors import UsageError, reason

# Settings of any command's result. A result may lack some.
SETTINGS = (
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
LARGEST = 1e30  # more than any figure, and no infinity


def read(path: Path) -> list[dict]:
    """The results in a file; a UsageError says what else it is."""
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
    """What is missing, or is something else than a figure, is found now. Raises what Python does."""
    settings(result)
    for name, value in (*figures(result).items(), *functions(result).items()):
        if not -LARGEST < value < LARGEST:
            raise ValueError(f"{name}: {value}")


def kind(result) -> str | None:
    """Which command's figures it has."""
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
    """By name, as words. The NIC and the memory are among the conditions; a profile's `memory` is how
    that was used."""
    made = result.get("conditions", {})
    known = made | result | ({"memory": made.get("memory", IDEAL)} if made else {})
    return {
        name: _word(known[name])
        for name in SETTINGS
        if name in known and not isinstance(known[name], dict)
    }  # a trial's window is no setting


def _word(value) -> str:
    if not isinstance(value, list):
        return str(value)
    if any(isinstance(each, dict) for each in value):  # figures of each hart
        return str(len(value))
    return ", ".join(value) or "none"


def figures(result: dict) -> dict[str, float]:
    """By name, in the order in which people read them; what was not measured is left out."""
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
    """Frames, or segments, that cycles are divided by."""
    if kind(result) == "profile":
        window = result["window"]
        return window.get("forwarded") or max(1, window.get("received", 0))
    return max(1, result["segments"])


def functions(result: dict) -> dict[str, float]:
    """Cycles of each function by itself, per frame or segment; of profiles."""
    found = result.get("functions") or result.get("profile", {}).get("functions", {})
    return {name: cycles / _divisor(result) for name, cycles in found.items()}


# Pairs --------------------------------------------------------------------------------------------


class Pairs:
    """Results of A next to those of B with the same settings.

    What is one thing in all of A, and another in all of B, is what is compared: `between`.
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
        self.pairs = []  # (name, of A, of B)
        self.alone = {"A": [], "B": []}  # names of those that have no pair
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
        """The settings that distinguish a result from the others of its file."""
        known = settings(result)
        return ", ".join(words(name, known[name]) for name in self.telling if name in known)


def words(name: str, value: str) -> str:
    """A setting for people: some say by themselves what they are."""
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
