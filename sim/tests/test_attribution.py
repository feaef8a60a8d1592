# SPDX-License-Identifier: BSD-2-Clause
"""Stacks become terms, tables and graphs, and logs become calls, without a simulation."""

import dataclasses
from collections import Counter
from xml.etree import ElementTree

import documented
import pytest

from moderato.sim.lab.explain import attribution, flame_graph, stacks, symbols, terms, timeline
from moderato.sim.lab.measure.results import Result, Trial

ENTRY = ("do_idle", "handle_exception")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    "stack, term",
    [
        (["memset"], "other"),
        ([*ENTRY, "do_irq", "ktime_get"], "T_CS"),
        ([*ENTRY, "do_irq", "handle_softirqs", "net_rx_action", "moderato_napi_poll"], "T_RX"),
        (["moderato_napi_poll", "napi_build_skb", "memset"], "T_SKB"),
        (["ip_forward", "ip_output.isra.0", "memcpy"], "T_IP"),
        (["moderato_start_xmit", "handle_exception"], "T_CS"),  # the latest trap
        (["liteeth_interrupt", "memcpy"], "T_COPY"),
        (["ip_output", "ret_from_exception"], "T_CS"),
    ],
)
def test_the_innermost_named_function_decides(stack, term):
    assert terms.term_of(stack) == term


def test_each_function_has_one_term():
    functions = [function for term in terms.TERMS for function in term.functions]
    assert len(functions) == len(set(functions)) > 50


def test_figures_per_frame_sum_to_the_whole():
    cycles = {"a": 10, "b": 10, "c": 10, "d": 0}
    assert attribution.per_frame(cycles, 4) == {"a": 3, "b": 3, "c": 2, "d": 0}
    assert attribution.per_frame({"a": 7, "b": 5}, 1) == {"a": 7, "b": 5}


def profile(forwarded: int = 2, received: int = 4) -> stacks.Profile:
    trial = Trial("napi", 64, 50, 8, 100)
    result = Result(
        trial=trial,
        sys_clk_hz=100_000_000,
        cycles=1000,
        ports=[],
        latency={},
        cpu_idle_percent=0,
        backlog_dropped=0,
        tx_dropped=0,
        wall_seconds=1,
        problems=[],
    )
    return stacks.Profile(
        result,
        [
            stacks.Stack(("do_idle",), Counter(retire=4, idle=50), 3),
            stacks.Stack(("do_idle", "handle_exception"), Counter(retire=5, tlb=7), 0),
            stacks.Stack(("nobody",), Counter(retire=1, icache=1), 2),
        ],
        Counter(forwarded=forwarded, received=received, rx_interrupts=1, tx_interrupts=2),
        {
            "hart 0, data": {"beats": 17, "behind": 3, "stalled": 0},
            "MAC 0": {"beats": 0, "behind": 0, "stalled": 0},
        },
    )


def test_terms_and_causes_of_a_profile():
    by_term = attribution.by_term(profile())
    assert {name: causes.total() for name, causes in by_term.items() if causes.total()} == {
        "scheduler": 4,
        "idle": 50,
        "T_CS": 12,
        "other": 2,
    }
    assert attribution.by_cause(profile()) == {"retire": 10, "idle": 50, "tlb": 7, "icache": 1}
    assert attribution.by_function(profile()) == {"handle_exception": 12, "do_idle": 4, "nobody": 2}
    written = attribution.as_json(profile())
    assert written["window"] == {
        "cycles": 68,
        "forwarded": 2,
        "received": 4,
        "rx_interrupts": 1,
        "tx_interrupts": 2,
    }
    assert written["terms"]["T_CS"] == {"cycles": 12, "interrupts_enabled": 0, "retire": 5, "tlb": 7}
    assert written["terms"]["scheduler"]["interrupts_enabled"] == 3
    assert written["other"] == {"nobody": 2} and written["interrupts_enabled"] == 5


def test_two_harts_have_a_column_each():
    one = profile()
    two = dataclasses.replace(
        one,
        stacks=[
            *one.stacks,
            stacks.Stack(("ip_forward", "_raw_spin_lock"), Counter(dcache=20), 0, hart=1),
        ],
    )
    assert attribution.by_term(two)["locks"].total() == 20 and "IPIs" not in attribution.by_term(two)
    assert "locks" not in attribution.as_json(one)["terms"]
    assert "harts" not in attribution.as_json(one)
    written = attribution.as_json(two)
    assert [each["terms"]["idle"]["cycles"] for each in written["harts"]] == [50, 0]
    assert set(written) == set(documented.fields("`profile`"))
    lines = [" ".join(line.split()) for line in attribution.render([two]).splitlines()]
    for line in (
        "term napi 0 napi 1",
        "locks 0 10 of several harts: taken, and waited for",
        "sum 34 10",
        "napi 1: cycles per frame of functions by themselves",
    ):
        assert line in lines


def test_table():
    lines = [" ".join(line.split()) for line in attribution.render([profile()]).splitlines()]
    for line in (
        "T_CS 6 into and out of interrupts",
        "idle 25 waiting for an interrupt",
        "sum 34",
        "interrupts 1.500 of the MACs, per frame",
        "1.0 nobody (other)",
        "enabled 27.8 % part of the busy time in which interrupts were enabled",
        "memory 25.0 % part of the time in which its port took a word",
        "forwarded",
        "port: beats napi",
        "hart 0, data 8.5",
        "sum 8.5 words of 8 octets, a cycle each",
        "port: behind napi",
        "hart 0, data 1.5",
    ):
        assert line in lines
    assert not any(line.startswith(("MAC 0", "port: stalled")) for line in lines)  # did not happen


def test_received_frames_count_if_none_was_forwarded():
    lines = [" ".join(line.split()) for line in attribution.render([profile(forwarded=0)]).splitlines()]
    assert "sum 17" in lines and "received" in lines


def test_folded_stacks():
    assert stacks.fold([profile()]).splitlines() == [
        "napi;do_idle 4",
        "napi;do_idle;[idle] 50",
        "napi;do_idle;handle_exception 12",
        "napi;nobody 2",
    ]


def test_flame_graph_is_as_wide_as_the_cycles():
    svg = ElementTree.fromstring(flame_graph.render([profile()]))
    boxes = {
        group.find(f"{SVG}title").text.split(":")[0]: group.find(f"{SVG}rect")
        for group in svg.iter(f"{SVG}g")
    }
    width = {name: float(box.get("width")) for name, box in boxes.items()}
    assert width["handle_exception"] / width["napi"] == pytest.approx(12 / 68, abs=1e-4)
    assert width["do_idle"] / width["napi"] == pytest.approx(66 / 68, abs=1e-4)
    level = {name: int(box.get("y")) for name, box in boxes.items()}
    assert level["napi"] > level["do_idle"] > level["[idle]"] == level["handle_exception"]
    assert boxes["handle_exception"].get("fill") == flame_graph.COLOURS["T_CS"]


def test_calls_of_a_timeline():
    rows = [
        (0, ">", "main"),
        (1000, ">", "f"),
        (1500, ">", "g"),
        (1600, "<"),
        (1700, "!", "0", "x"),
        (2500, "<"),
        (2600, ">", "f"),
        (9000, "<"),
    ]
    assert list(timeline.calls(rows, 8000)) == [
        timeline.Call(0, 8000, ("main",)),
        timeline.Call(1000, 2500, ("main", "f")),
        timeline.Call(2600, 8000, ("main", "f")),
    ]  # g is shorter than SHORTEST


@pytest.mark.parametrize(
    "payload, name", [(b"Mode\0\1\0\0\1\2", "1:258"), (b"mode\0\1\0\0\1\2", "another frame")]
)
def test_frames_of_a_timeline(payload, name):
    """The capture's time is that of the first bit after the SFD; an octet takes 80 ns."""
    octets = bytes(42) + payload + bytes(8)
    assert timeline.frame(10_000, octets, 80) == timeline.Frame(
        10_000 - 8 * 80, 10_000 + 64 * 80, 64, name
    )


def test_a_symbol_ends_at_the_next_and_has_its_preferred_name():
    rows = [
        ("c0001000", "T", "__entry_text_end"),
        ("c0001000", "T", "handle_exception"),
        ("c0001100", "W", "memset"),
        ("c0001100", "T", "__memset"),
        ("c0001180", "t", "f"),
        ("c0002000", "D", "data"),
        ("00000007", "a", "constant"),
    ]
    assert symbols.functions(rows) == [
        symbols.Symbol(0xC0001000, 0x100, "handle_exception"),
        symbols.Symbol(0xC0001100, 0x80, "memset"),
        symbols.Symbol(0xC0001180, 0xE80, "f"),
    ]


def test_bpf_programs_have_their_names():
    """Symbols as in the guest's /proc/kallsyms, without sizes."""
    text = (
        "bf003000 t bpf_prog_6deef7357e7b4530_fib\t[bpf]\n"
        "bf001000 t bpf_prog_3b185187f1855c4c_forward\t[bpf]\n"
    )
    assert symbols.of_programs(text) == [
        symbols.Symbol(0xBF001000, 0x1000, "bpf_prog_forward"),
        symbols.Symbol(0xBF003000, 0x1000, "bpf_prog_fib"),
    ]
    assert symbols.of_programs("") == []
