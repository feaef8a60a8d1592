# SPDX-License-Identifier: BSD-2-Clause
"""Triggers, texts, rooms and viewers' files of a wave; sim/tests/test_wave_system.py makes one."""

import dataclasses
import json
import shlex
import struct
from pathlib import Path

import pytest

from moderato.gateware.registers.table import EVENTS
from moderato.sim.lab import cli
from moderato.sim.lab.captures import pcap
from moderato.sim.lab.explain.timeline import Frame
from moderato.sim.lab.live import live
from moderato.sim.lab.measure.results import Trial
from moderato.sim.lab.measure.traffic import Traffic
from moderato.sim.lab.run import console
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import LITEETH
from moderato.sim.lab.show.errors import UsageError
from moderato.sim.lab.wave import accesses, again, moments, signals, viewers, wave, wires
from moderato.sim.lab.wave.triggers import BAD, DROP, FUNCTION, KINDS, Trigger, parse
from moderato.sim.lab.wave.wave import Request, Window, gaps, numbers, windows
from moderato.soc.linux.kernel import Choice

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
    [(500, "1")],
)
MOMENTS = [*HAPPENED.moments()]


def test_each_event_of_a_mac_is_a_trigger():
    ways = {"frame-in", "frame-out", BAD, DROP, FUNCTION}
    events = {name for name, kind in KINDS.items() if not kind.shown and name not in ways}
    assert events == {name.replace("_", "-") for name in EVENTS}


@pytest.mark.parametrize(
    ("trigger", "number", "cycle"),
    [
        ("rx-interrupt:0", 1, 300),
        ("rx-completed", 2, 301),
        ("drop", 1, 400),
        ("drop:1", 1, 400),
        ("frame-in:0", 2, 260),
        ("frame-out:1", 1, 500),
        ("frame-bad", 1, 500),
        ("function:poll", 1, 350),
        ("function:poll", 2, 352),
    ],
)
def test_finds_the_cycle_of_a_trigger(trigger, number, cycle):
    assert moments.find(MOMENTS, parse(trigger), number) == [cycle]


def test_finds_as_many_times_as_there_are():
    assert moments.find(MOMENTS, parse("rx-completed"), count=2) == [300, 301]
    assert moments.find(MOMENTS, parse("rx-completed"), 2, 5) == [301]


@pytest.mark.parametrize(
    ("trigger", "number", "says"),
    [
        ("drop:0", 1, "0 times in this run, not 1; others come: drop:1 1, frame-bad:1 1, frame-in:0 2"),
        ("frame-in:0", 3, "2 times in this run, not 3"),
        ("function:pol", 1, "functions near that name: poll"),
    ],
)
def test_missing_trigger_lists_existing_ones(trigger, number, says):
    with pytest.raises(UsageError, match=says):
        moments.find(MOMENTS, parse(trigger), number)


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


def wanted(trigger="frame-in", **fields):
    return Request("napi", 64, 100, 32, Path("w.fst"), trigger=parse(trigger), **fields)


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"before": 10, "after": 20}, [Window(140, 170, 150)]),
        ({"before": 500, "after": 5000}, [Window(100, 999, 150)]),
        (
            {"before": 10, "after": 20, "every": 3},
            [Window(140, 170, 150), Window(250, 280, 260)],
        ),
        ({"begin": 200, "cycles": 100}, [Window(200, 299, 200)]),
        ({"begin": 950, "cycles": 100}, [Window(950, 999, 950)]),
    ],
)
def test_window_ends_where_the_trial_ends(fields, shown):
    assert windows(wanted(**fields), HAPPENED, MOMENTS) == shown


def test_gap_begins_one_cycle_after_a_window():
    """In this cycle the number of the window ends."""
    shown = [Window(10, 20, 15), Window(18, 28, 23), Window(30, 40, 35), Window(50, 60, 55)]
    assert gaps(shown) == [(42, 49)]
    assert [*numbers(shown)] == [
        (10, "1"),
        (18, "2"),
        (29, ""),
        (30, "3"),
        (41, ""),
        (50, "4"),
        (61, ""),
    ]


@pytest.mark.parametrize("begin", [99, 1000])
def test_window_beyond_the_trial_is_rejected(begin):
    with pytest.raises(UsageError, match=f"--from {begin}: this run is from cycle 100 to 999"):
        windows(wanted(begin=begin, cycles=10), HAPPENED, MOMENTS)


# Accesses, descriptors, values --------------------------------------------------------------------

BUS = {
    "moderatomac0_registerfile0_bus_ack": [(0, 0), (10, 1), (11, 0), (20, 1), (21, 0), (30, 1), (31, 0)],
    "moderatomac0_registerfile0_bus_we": [(0, 0), (9, 1), (15, 0), (25, 1)],
    "moderatomac0_registerfile0_bus_adr": [
        (0, 0),
        (9, 0x108 // 4),
        (15, 0x100014 // 4),
        (25, 0x110 // 4),
    ],
    "moderatomac0_registerfile0_bus_sel": [(0, 15), (25, 3)],
    "moderatomac0_registerfile0_bus_dat_w": [(0, 7)],
    "moderatomac0_registerfile0_bus_dat_r": [(0, 0), (20, 3)],
}


@pytest.mark.parametrize(
    ("trigger", "rows", "found"),
    [
        ("csr-write:RX_DOORBELL", BUS, [(10, "csr-write:RX_DOORBELL:0=7")]),  # not the one of two octets
        ("csr-read:STATUS", BUS, [(20, "csr-read:STATUS:0=3")]),
        (
            "rx-descriptor:1:65535",
            {"moderatomac1_registerfile1_reg_rx1_completed": [(0, 65534), (50, 0), (60, 1), (70, 0)]},
            [(49, "65534:1"), (49, "65535:1"), (59, "0:1")],
        ),
        ("value:cpu0_wfi=1", {"cpu0_wfi": [(0, 1), (5, 0), (9, 1)]}, [(5, "=0"), (9, "=1")]),
    ],
)
def test_signals_show_moments(trigger, rows, found):
    made = [*accesses.moments(parse(trigger), rows)]
    assert [each.cycle for each in made] == [cycle for cycle, _ in found]
    for each, (_, words) in zip(made, found):
        assert str(Trigger(each.kind, each.words, each.value)).endswith(words)


def test_register_that_is_not_accessed_says_which_ones_are():
    made = [*accesses.moments(parse("csr-write:CTRL"), BUS)]
    with pytest.raises(UsageError, match="others come: csr-write:RX_DOORBELL:0 1, drop"):
        moments.find([*MOMENTS, *made], parse("csr-write:CTRL"))
    with pytest.raises(UsageError, match="others come: csr-write:RX_DOORBELL:0=7 1, drop"):
        moments.find([*MOMENTS, *made], parse("csr-write:RX_DOORBELL=8"))


# Wires --------------------------------------------------------------------------------------------


def packet(payload: bytes, ttl: int = 64) -> bytes:
    """An Ethernet frame with a UDP packet."""
    content = struct.pack("!4H", 9, 9, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(content), 0, 0, ttl, 17, 0, b"from", b"to..")
    total = sum(struct.unpack("!10H", header))
    checksum = ~(total + (total >> 16)) & 0xFFFF
    return (
        bytes(12) + b"\x08\0" + header[:10] + struct.pack("!H", checksum) + header[12:] + content
    ).ljust(60, b"\0")


def numbered(number: int, end: bytes = b"") -> bytes:
    """The payload of a tester's frame."""
    return b"Mode" + struct.pack("!HI", 0, number) + end.ljust(8)


def test_frames_keep_their_names():
    """Those of a host are numbered where they enter, and a router changes them."""
    captured = {
        "port0-in": [(1000, packet(b"a")), (9000, packet(b"b")), (18000, packet(numbered(7)))],
        "port1-out": [
            (20000, packet(b"b", 63)),
            (30000, packet(b"c", 63)),
            (40000, packet(numbered(7), 63)),
        ],
    }
    named = wires.frames(captured, 80)
    assert [each.name for each in named["port0-in"]] == ["0#0", "0#1", "0:7"]
    assert [each.name for each in named["port1-out"]] == ["0#1", "another frame", "0:7"]
    assert named["port0-in"][0].begin == 1000 - 8 * 80


@pytest.mark.parametrize(
    ("left", "in_order", "bad"),
    [
        ([(0, b""), (1, b"")], True, []),
        ([(1, b""), (0, b"")], True, [1]),  # late
        ([(1, b""), (0, b"")], False, []),
        ([(0, b""), (0, b"")], False, [1]),  # twice
        ([(0, b"x"), (1, b"")], True, [0]),  # changed
        ([(0, b""), (2, b"")], True, [1]),  # did not enter
    ],
)
def test_bad_frames_are_found(left, in_order, bad):
    captured = {
        "port0-in": [(number * 9000, packet(numbered(number))) for number in range(2)],
        "port1-out": [
            (20_000 + place * 9000, packet(numbered(*each), 63)) for place, each in enumerate(left)
        ],
    }
    named = wires.frames(captured, 80)
    begins = [each.begin for each in named["port1-out"]]
    assert [*wires.bad(captured, named, in_order)] == [(begins[place], "1") for place in bad]


# Replays, with the pretended machine --------------------------------------------------------------


@pytest.fixture
def lab(machine, tmp_path, monkeypatch):
    """lab(words) → what the simulator was asked to show."""
    (tmp_path / "busybox").write_text("busybox")
    monkeypatch.setattr(console.userspace, "busybox", lambda console: tmp_path / "busybox")
    monkeypatch.setattr(wave, "machine", lambda *_: machine)
    monkeypatch.setattr(wave, "traced", lambda of: of)
    monkeypatch.setattr(wave.signals, "of_simulator", lambda _: SIGNALS)
    monkeypatch.setattr(wave.symbols, "of_guest", lambda _: [])
    monkeypatch.chdir(tmp_path)

    def run(*words):
        assert cli.main(["wave", *words, "--output", "w.fst"]) == 0
        return json.loads((tmp_path / "w.fst").read_text())

    return run


def test_capture_is_played(lab, tmp_path):
    pcap.write(tmp_path / "in.pcap", [pcap.Frame(5, packet(b"a")), pcap.Frame(50, packet(b"b"))])
    words = ["--variant", "napi", "--replay", "in.pcap", "--before", "100", "--after", "100"]
    first = lab(*words)  # frame-in:0
    assert lab(*words, "--nth", "2")["from"] == first["from"] + 84 * 8  # not before the first one's end
    both = lab(*words, "--every", "5")
    assert both["until"] - both["from"] == 84 * 8 + 200
    assert both["gaps"] == [[both["from"] + 202, both["until"] - 201]]
    assert lab(*words, "--at", "rx-completed")["until"] > first["until"]


def made_up(*records, about, start=7) -> bytes:
    """A recording; records: (cycle, kind, octets)."""
    head = json.dumps(about).encode()
    return (
        struct.pack("<8sII", b"ModeLive", 1, len(head))
        + head
        + struct.pack("<Q", start)
        + b"".join(
            struct.pack("<QHHI", cycle, kind, 0, len(octets)) + octets for cycle, kind, octets in records
        )
    )


def record(path, machine, conditions=None):
    """A session of a million cycles, without input."""
    state = live.serving(machine, "napi")
    start = state.cycle() + 1
    about = live.about(live.Request("napi"), state)
    about["conditions"] |= conditions or {}
    end = {"end_cycle": start + 1_000_000}
    path.write_bytes(made_up((start + 1_000_000, 4, json.dumps(end).encode()), about=about, start=start))
    return start


def test_recording_is_played_no_further_than_needed(lab, machine, tmp_path, capsys):
    start = record(tmp_path / "session", machine)
    shown = lab("--replay", "session", "--from", str(start + 5000), "--cycles", "100")
    assert (shown["from"], shown["until"]) == (start + 5000, start + 5099)
    shown = lab("--replay", "session", "--at", "rx-completed", "--before", "10", "--after", "20")
    assert shown["until"] - shown["from"] == 30
    assert f"of {tmp_path}/session, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "conditions", "says"),
    [
        ("--from 5", {}, "is from cycle"),
        ("", {"machine": "other", "version": "1234567"}, "was recorded by 1234567, on another machine"),
        ("", {"box": 0}, "is of two"),
    ],
)
def test_recording_that_cannot_be_shown(lab, machine, tmp_path, capsys, words, conditions, says):
    record(tmp_path / "session", machine, conditions)
    if "box" in conditions:
        for number, name in enumerate(("session", "session.1")):
            (tmp_path / name).write_bytes(made_up((20, 4, b"{}"), about={"box": number}))
    assert cli.main(f"wave --replay session {words} --output w.fst".split()) in (1, 2)
    *_, last = capsys.readouterr().err.splitlines()
    assert says in last and not (tmp_path / "w.fst").exists()


def test_replay_that_differs_has_no_wave(lab, machine, tmp_path, monkeypatch, capsys):
    record(tmp_path / "session", machine)
    monkeypatch.setenv("FAKE_DIFFERENCE", "a frame of port 1")
    assert cli.main("wave --replay session --output w.fst".split()) == 1
    assert "the replay differs from its recording: a frame of port 1" in capsys.readouterr().err
    assert not (tmp_path / "w.fst").exists()


TRIALS = [
    (Trial("napi", 64, 100, 32, 100), System(), "drop"),
    (Trial(LITEETH, 1518, 12.5, 5, 1000, traffic=Traffic(3, True)), System(LITEETH), ""),
    (
        Trial("original", 64, 100, 32, 100),
        System("offload", Choice("debug", 1000), 2, "queues", ("-C rx-usecs 50",), "dram", 84),
        "frame-bad",
    ),
    (Trial("offload", 64, 100, 32, 100), System("flows", Choice("xdp")), "frame-out:1"),
]


@pytest.mark.parametrize(("one", "system", "trigger"), TRIALS)
def test_command_is_for_the_same_trial(one, system, trigger, monkeypatch):
    made = []
    monkeypatch.setattr(wave, "wave", lambda request: made.append(request) or 0)
    command = again.command(one, system, trigger)
    assert command and cli.main(shlex.split(command)[1:]) == 0
    run, of = wave.what_runs(made[0])
    assert (run.trial, of) == (one, system)
    assert str(made[0].trigger) == trigger or not trigger


def test_other_variants_have_no_command():
    assert again.command(Trial("a setting", 64, 100, 32, 100), System()) is None


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
    "moderatomac0_receive0_fsm_text": "mac0.rx",
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
        "moderatomac0_receive0_fsm_text",
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


def test_signal_that_is_none_says_what_is_near():
    with pytest.raises(UsageError, match="cpu0_trace_p is not a signal; near it: cpu0_trace_pc"):
        accesses.watched(parse("value:cpu0_trace_p=1"), SIGNALS)
    (found,) = accesses.watched(parse("value:cpu0_trace_pc=1"), SIGNALS)
    assert found.name == "cpu0_trace_pc"


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
    signals.in_rooms(
        [
            (signals.SOC + "eth0_rx_valid", 1),
            (signals.SOC + "cpu0_trace_pc", 32),
            (signals.SOC + "moderatomac0_receive0_fsm_text", 56),
        ]
    ),
    1_000_000,
    9_000_000,
    [2_000_000],
)


def test_gtkwave_file_has_groups_formats_and_the_marker():
    lines = viewers.gtkwave(VIEW).splitlines()
    assert '[dumpfile] "/tmp/w.fst"' in lines
    assert any(line.startswith("*-21.0 2000000 -1") for line in lines)
    assert lines[lines.index("@820") + 1] == "derived.cpu0_function[319:0]"
    assert lines[lines.index("-mac0.wire") + 1 :][:2] == ["@28", "TOP.top.soc.eth0_rx_valid"]
    assert lines[lines.index("-cpu0") + 1 :][:2] == ["@22", "TOP.top.soc.cpu0_trace_pc[31:0]"]
    text = "TOP.top.soc.moderatomac0_receive0_fsm_text[55:0]"
    assert lines[lines.index("-mac0.rx") + 1 :][:2] == ["@820", text]
    assert lines.count("@800200") == lines.count("@1000200") == 4


def test_gtkwave_file_names_the_markers_of_several_windows():
    several = dataclasses.replace(VIEW, markers=[2_000_000, 3_000_000])
    assert "2000000 2000000 3000000 -1 -1" in viewers.gtkwave(several)


def test_surfer_file_has_the_same():
    assert viewers.surfer(VIEW).splitlines() == [
        "divider_add derived",
        "variable_add derived.cycle",
        "variable_add derived.cpu0_function",
        "divider_add cpu0",
        "variable_add TOP.top.soc.cpu0_trace_pc",
        "divider_add mac0.wire",
        "variable_add TOP.top.soc.eth0_rx_valid",
        "divider_add mac0.rx",
        "variable_add TOP.top.soc.moderatomac0_receive0_fsm_text",
        "item_focus b_",
        "item_set_format Unsigned",
        "item_focus c_",
        "item_set_format ASCII",
        "item_focus i_",
        "item_set_format ASCII",
        "item_unfocus",
        "cursor_set 2000000",
        "zoom_fit",
    ]
