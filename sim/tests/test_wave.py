# SPDX-License-Identifier: BSD-2-Clause
"""Triggers, texts, rooms and viewers' files of a wave; sim/tests/test_wave_system.py makes one."""

from pathlib import Path

import pytest

from moderato.gateware.registers.table import EVENTS
from moderato.sim.lab.explain.timeline import Frame
from moderato.sim.lab.show.errors import UsageError
from moderato.sim.lab.wave import moments, signals, viewers
from moderato.sim.lab.wave.triggers import DROP, KINDS
from moderato.sim.lab.wave.wave import Request, Window, window

HAPPENED = moments.Happened(
    100,
    999,
    [
        (300, 0, "rx_completed"),
        (300, 0, "rx_interrupt"),
        (301, 0, "rx_completed"),
        (400, 1, "rx_drop_ring"),
    ],
    [[(199, "main"), (299, "irq"), (349, ""), (349, "poll"), (351, "poll")]],
    {
        "port0-in": [Frame(150, 250, 64, "0:0"), Frame(260, 360, 64, "0:1")],
        "port1-out": [Frame(500, 600, 64, "0:0")],
    },
)


def test_each_event_of_a_mac_is_a_trigger():
    ways = {"frame-in", "frame-out", DROP}
    assert {kind for kind in KINDS if kind not in ways} == {name.replace("_", "-") for name in EVENTS}


@pytest.mark.parametrize(
    ("trigger", "number", "cycle"),
    [
        ("rx-interrupt:0", 1, 300),
        ("rx-completed", 2, 301),
        ("drop", 1, 400),
        ("drop:1", 1, 400),
        ("frame-in:0", 2, 260),
        ("frame-out:1", 1, 500),
        ("function:poll", 1, 350),
        ("function:poll", 2, 352),
    ],
)
def test_finds_the_cycle_of_a_trigger(trigger, number, cycle):
    assert moments.find(HAPPENED, trigger, number) == cycle


@pytest.mark.parametrize(
    ("trigger", "number", "says"),
    [
        ("drop:0", 1, "0 times in this run, not 1; others come: drop:1 1, frame-in:0 2"),
        ("frame-in:0", 3, "2 times in this run, not 3"),
        ("function:pol", 1, "functions near that name: poll"),
    ],
)
def test_missing_trigger_lists_existing_ones(trigger, number, says):
    with pytest.raises(UsageError, match=says):
        moments.find(HAPPENED, trigger, number)


def test_texts_of_each_cycle():
    texts = moments.texts(HAPPENED)
    assert texts == {
        "cpu0_function": [(200, "main"), (300, "irq"), (350, "main"), (350, "poll"), (352, "poll")],
        "port0_in": [(150, "0:0"), (250, ""), (260, "0:1 lost"), (360, "")],
        "port1_out": [(500, "0:0"), (600, "")],
        "mac0_event": [(300, "rx_completed rx_interrupt"), (301, "rx_completed"), (302, "")],
        "mac1_event": [(400, "rx_drop_ring"), (401, "")],
    }
    assert [line for line in moments.lines(texts).splitlines() if "cpu0" in line] == [
        "0 cpu0_function",
        "200 cpu0_function main",
        "300 cpu0_function irq",
        "350 cpu0_function poll",
        "352 cpu0_function poll",
    ]


def wanted(**fields):
    return Request("napi", 64, 100, 32, Path("w.fst"), **fields)


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"trigger": "frame-in", "before": 10, "after": 20}, Window(140, 170, 150)),
        ({"trigger": "frame-in", "before": 500, "after": 5000}, Window(100, 999, 150)),
        ({"begin": 200, "cycles": 100}, Window(200, 299, 200)),
        ({"begin": 950, "cycles": 100}, Window(950, 999, 950)),
    ],
)
def test_window_is_limited_to_the_trial(fields, shown):
    assert window(wanted(**fields), HAPPENED) == shown


@pytest.mark.parametrize("begin", [99, 1000])
def test_window_beyond_the_trial_is_rejected(begin):
    with pytest.raises(UsageError, match=f"--from {begin}: this run is from cycle 100 to 999"):
        window(wanted(begin=begin, cycles=10), HAPPENED)


# Signals ------------------------------------------------------------------------------------------

ROOMS = {
    "eth0_rx_valid": "mac0.wire",
    "simphy1_octets": "mac1.wire",
    "moderatomac0_maccore0_sink_valid": "mac0.wire",
    "moderatomac0_receive0_good": "mac0.rx",
    "moderatomac0_framefifo0_used": "mac0.rx",
    "moderatomac0_framefifo1_used": "mac0.tx",
    "moderatomac1_framefifo2_used": "mac1.rx",
    "moderatomac1_framefifo3_used": "mac1.tx",
    "moderatomac1_transmit1_length": "mac1.tx",
    "moderatomac0_rxring0_rxring0_fetcher_producer": "mac0.queue0.rx",
    "moderatomac0_moderation1_armed": "mac0.queue0.moderation",
    "moderatomac1_queue2_moderation4_armed": "mac1.queue0.moderation",
    "moderatomac1_queue3_gatherring3_room": "mac1.queue1.tx",
    "moderatomac0_moderation_awake0": "mac0.queue0.moderation",
    "moderatomac0_irq_rx": "mac0.interrupts",
    "moderatomac0_aw_valid": "mac0.dma",
    "moderatomac0_flows0_hit": "mac0.flows",
    "moderatomac0_flows0_time": "mac0.flows",
    "cpu0_trace_pc": "cpu0",
    "ModeratoCluster.harts_1_cpu.decode_PC": "cpu1",
    "ModeratoCluster.bridge.io_wishbone_ADR": "bus",
    "csr_interconnect_adr": "soc",
}
SIGNALS = signals.in_rooms([(signals.SOC + name, 32) for name in ROOMS])


def names(chosen):
    return [signal.name for signal in chosen]


def test_each_signal_is_in_a_room():
    assert {signal.name: signal.room for signal in SIGNALS} == ROOMS


def test_default_has_stages_rings_moderation_and_interrupts():
    assert names(signals.choose(SIGNALS)) == [
        "eth0_rx_valid",
        "moderatomac0_receive0_good",
        "moderatomac0_framefifo0_used",
        "moderatomac0_framefifo1_used",
        "moderatomac1_framefifo2_used",
        "moderatomac1_framefifo3_used",
        "moderatomac1_transmit1_length",
        "moderatomac0_rxring0_rxring0_fetcher_producer",
        "moderatomac0_moderation1_armed",
        "moderatomac1_queue2_moderation4_armed",
        "moderatomac0_irq_rx",
        "moderatomac0_aw_valid",
        "moderatomac0_flows0_hit",
        "cpu0_trace_pc",
    ]


def test_chooses_by_rooms_and_by_names():
    assert names(signals.choose(SIGNALS, ["mac1.queue0"], ["*_irq_*"])) == [
        "moderatomac1_queue2_moderation4_armed",
        "moderatomac0_irq_rx",
    ]
    assert len(signals.choose(SIGNALS, ["mac0"])) == len(
        [room for room in ROOMS.values() if "mac0" in room]
    )


@pytest.mark.parametrize(
    ("scopes", "globs", "says"),
    [
        (["mac0.queue2"], [], "--scope mac0.queue2 is not a room; near it: mac0.queue0"),
        ([], ["*_irq_tx"], r"--signals \*_irq_tx matches no signal; near it: .*moderatomac0_irq_rx"),
    ],
)
def test_unknown_room_or_name_lists_similar_ones(scopes, globs, says):
    with pytest.raises(UsageError, match=says):
        signals.choose(SIGNALS, scopes, globs)


# Viewers ------------------------------------------------------------------------------------------

VIEW = viewers.View(
    Path("/tmp/w.fst"),
    {"cpu0_function": 320},
    signals.in_rooms([(signals.SOC + "eth0_rx_valid", 1), (signals.SOC + "cpu0_trace_pc", 32)]),
    1_000_000,
    9_000_000,
    2_000_000,
)


def test_gtkwave_file_has_groups_formats_and_the_marker():
    lines = viewers.gtkwave(VIEW).splitlines()
    assert '[dumpfile] "/tmp/w.fst"' in lines
    assert any(line.startswith("*-21.0 2000000 -1") for line in lines)
    assert lines[lines.index("@820") + 1] == "derived.cpu0_function[319:0]"
    assert lines[lines.index("-mac0.wire") + 1 :][:2] == ["@28", "TOP.top.soc.eth0_rx_valid"]
    assert lines[lines.index("-cpu0") + 1 :][:2] == ["@22", "TOP.top.soc.cpu0_trace_pc[31:0]"]
    assert lines.count("@800200") == lines.count("@1000200") == 3


def test_surfer_file_has_the_same():
    assert viewers.surfer(VIEW).splitlines() == [
        "divider_add derived",
        "variable_add derived.cycle",
        "variable_add derived.cpu0_function",
        "divider_add cpu0",
        "variable_add TOP.top.soc.cpu0_trace_pc",
        "divider_add mac0.wire",
        "variable_add TOP.top.soc.eth0_rx_valid",
        "item_focus b_",
        "item_set_format Unsigned",
        "item_focus c_",
        "item_set_format ASCII",
        "item_unfocus",
        "cursor_set 2000000",
        "zoom_fit",
    ]
