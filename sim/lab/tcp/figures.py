# SPDX-License-Identifier: BSD-2-Clause
"""A transfer's figures in its steady window, and the problems that make them unsound.

The window begins after slow start, when a fifth of all octets has arrived. It ends when the first
connection is complete, because then fewer connections continue.
"""

from collections.abc import Sequence

UNEVEN = 2.0  # times the median: the longest time of an eighth of the window's octets


def figures(transfer, reply: dict, sys_clk_hz: int) -> dict:
    """The fields of a record, from moderato-sim's report. Segments and ACKs are counted at port 0, in
    the direction of the data: into the guest, or out of it."""
    first = reply["ports"][0]
    # Without a steady window, the figures cover the whole transfer, and a problem reports it.
    found = steady(reply)
    window = found or {
        "start_cycle": reply["start_cycle"],
        "octets": reply["octets"],
        "end_cycle": reply["end_cycle"],
        "parts": [],
        "idle_cycles": reply["idle_cycles"],
    }
    clocks = max(1, window["end_cycle"] - window["start_cycle"])
    seconds = clocks / sys_clk_hz
    counts = found and first["steady"] or first
    data, back = ("out", "in") if transfer.direction == "out" else ("in", "out")
    events = {
        name: sum((found and port["window_events"] or port["events"])[name] for port in reply["ports"])
        for name in ("rx_interrupt", "tx_interrupt", "rx_completed")
    }
    segments = counts["segments"][data]
    return {
        "sys_clk_hz": sys_clk_hz,
        "cycles": clocks,
        "window_octets": window["octets"],
        "goodput_mbps": round(window["octets"] * 8 / seconds / 1e6, 3),
        "cpu_idle_percent": round(
            100 * sum(window["idle_cycles"]) / (len(window["idle_cycles"]) * clocks), 3
        ),
        "cpu_idle_percent_per_hart": [
            round(100 * cycles / clocks, 3) for cycles in window["idle_cycles"]
        ],
        "rx_interrupts": events["rx_interrupt"],
        "tx_interrupts": events["tx_interrupt"],
        "interrupts_per_second": round((events["rx_interrupt"] + events["tx_interrupt"]) / seconds, 3),
        "segments": segments,
        "acks_per_segment": round(counts["acks"][back] / segments, 4) if segments else None,
        "mean_window_bytes": counts["window"] and counts["window"]["mean"],
        "round_trip_us": microseconds(counts["round_trip_cycles"], sys_clk_hz),
        "retransmissions": sum(sum(port["retransmitted"].values()) for port in reply["ports"]),
        "corrupted": sum(each["corrupted"] for each in reply["connections"]),
        "transfer_cycles": reply["end_cycle"] - reply["start_cycle"],
        "parts": window["parts"],
        "ports": [
            {
                name: port[name]
                for name in (
                    "segments",
                    "octets",
                    "acks",
                    "retransmitted",
                    "window",
                    "round_trip_cycles",
                    "steady",
                    "events",
                    "window_events",
                )
            }
            for port in reply["ports"]
        ],
        "connections_ended": reply["connections"],
    }


def steady(reply: dict) -> dict | None:
    """The window, if it exists and has a duration: octets that all arrive at once have no rate."""
    window = reply["window"]
    return window if window and window["parts"][0] < window["parts"][-1] else None


def microseconds(cycles: dict | None, sys_clk_hz: int) -> dict | None:
    return cycles and {name: round(value * 1e6 / sys_clk_hz, 2) for name, value in cycles.items()}


def problems(transfer, reply: dict, served: Sequence[dict]) -> list[str]:
    """Why the figures are unsound; empty if they are not."""
    found = [
        f"connection {each['number']}: {each['error'] or each['state']}"
        for each in reply["connections"]
        if each["state"] != "closed"
    ]
    missing = transfer.connections - len(reply["connections"])
    if missing > 0:
        found.append(f"{missing} of {transfer.connections} connections were never opened")
    if not found and not reply["quiet"]:
        found.append("it did not become quiet after the transfer")
    for who, ends in (("the tester", reply["connections"]), ("the guest", served)):
        for each in ends:
            if each["corrupted"]:
                found.append(
                    f"{who} got {each['corrupted']} wrong octets over connection "
                    f"{each['number']}, the first one at {each['first_corrupted']}"
                )
            if not found and transfer.program == "stream" and each["octets"] != transfer.octets:
                found.append(
                    f"{who} counts {each['octets']} octets of connection "
                    f"{each['number']}, of {transfer.octets}"
                )
    found += [
        f"{port['left'][kind]} frames left port {number} with a {what}"
        for number, port in enumerate(reply["ports"])
        for kind, what in (
            ("bad_fcs", "wrong FCS"),
            ("bad_preamble", "wrong preamble"),
            ("short_gap", "short gap before them"),
        )
        if port["left"][kind] and not (kind == "bad_fcs" and "damage" in transfer.faults)
    ]
    window = steady(reply)
    return found or unsteady(window["parts"] if window else [])


def unsteady(parts: Sequence[int]) -> list[str]:
    """A problem if an eighth of the window's octets took much longer than the others."""
    lengths = [after - before for before, after in zip(parts, parts[1:])]
    if not lengths:
        return ["it has too few octets for a steady window: figures are of all of it; move more octets"]
    median = sorted(lengths)[len(lengths) // 2]
    if max(lengths) <= UNEVEN * median:
        return []
    return [
        f"it was not steady: an eighth of the octets took {max(lengths) / max(1, median):.1f} "
        "times as long as others; look for retransmissions, or move more octets"
    ]
