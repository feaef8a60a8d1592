# SPDX-License-Identifier: BSD-2-Clause
"""A waveform of some cycles: it does not change the run, and other programs can read it.

The programs are Wellen, the reader of Surfer, and GTKWave's fst2vcd.
"""

import json
import signal
import subprocess

import pytest
import pywellen
from harness_commands import PROMPT, offer, trial

CYCLE = 10_000  # ps at 100 MHz
COUNTER = "TOP.top.soc.cycle"  # of the mock
TIMES = ("wall_seconds", "cpu_seconds")


def wave(begin, until, file="wave.fst", **fields):
    return {"do": "wave", "file": file, "from": begin, "until": until, **fields}


def value(path, name, cycle):
    """The value of a signal in a cycle."""
    return pywellen.Waveform(str(path))[name].signal.value_at(cycle * CYCLE)


def names(path):
    return {var.full_name for var in pywellen.Waveform(str(path)).all_vars()}


def text(number):
    return number.to_bytes(64, "big").lstrip(b"\0").decode()


def test_run_is_the_same_with_and_without_a_wave(sim, traced_sim):
    def known(replies):
        return [
            {name: value for name, value in reply.items() if name not in TIMES}
            for reply in replies
            if reply["do"] != "wave"
        ]

    commands = [PROMPT, trial(offer(frames=30), offer(frames=30)), {"do": "counters"}]
    without = sim(*commands)
    waved = traced_sim(PROMPT, wave(5_000, 15_000), *commands[1:])
    skipped = {"slept_cycles": without[-1].pop("slept_cycles")}
    assert waved[-1].pop("slept_cycles") <= skipped["slept_cycles"]
    assert known(waved) == known(without)


def test_wave_has_each_signal_in_each_cycle(traced_sim, tmp_path):
    _, _, stopped = traced_sim(
        wave(1_000, 1_099), {"do": "run", "cycles": 2_000}, {"do": "wave", "stop": True}
    )
    assert stopped["cycles"] == 100
    first = value(tmp_path / "wave.fst", COUNTER, 1_000)
    for cycle in range(1_000, 1_100):
        assert value(tmp_path / "wave.fst", COUNTER, cycle) == first + cycle - 1_000
        assert value(tmp_path / "wave.fst", "derived.cycle", cycle) == cycle
    assert {"TOP.top.soc.eth0_rx_valid", "TOP.clk"} < names(tmp_path / "wave.fst")


def test_shows_only_requested_signals(traced_sim, tmp_path):
    traced_sim(wave(1_000, 1_010, signals=[COUNTER, "none"]), {"do": "run", "cycles": 2_000})
    assert names(tmp_path / "wave.fst") == {COUNTER, "derived.cycle"}


def test_texts_change_in_their_cycles(traced_sim, tmp_path):
    (tmp_path / "texts").write_text(
        "5 function main\n1003 frame 0:1\n1005 function a_long_name of two words\n1007 frame\n"
    )
    traced_sim(wave(1_000, 1_010, signals=[COUNTER], texts="texts"), {"do": "run", "cycles": 2_000})

    def texts(name):
        return [text(value(tmp_path / "wave.fst", f"derived.{name}", 1_000 + n)) for n in range(8)]

    assert texts("function") == ["main"] * 5 + ["a_long_name of two words"] * 3
    assert texts("frame") == [""] * 3 + ["0:1"] * 4 + [""]


def test_gtkwave_reads_it(traced_sim, tmp_path):
    traced_sim(wave(1_000, 1_010, signals=[COUNTER]), {"do": "run", "cycles": 2_000})
    vcd = subprocess.check_output(["fst2vcd", tmp_path / "wave.fst"], text=True)
    assert "cycle [31:0]" in vcd
    assert vcd.count("\n#") == 11


def test_sleeping_cycles_are_in_the_wave(traced_sim, tmp_path):
    *_, counters = traced_sim(
        PROMPT,
        wave(2_000_000, 2_000_100, signals=[COUNTER]),
        {"do": "run", "cycles": 3_000_000},
        {"do": "counters"},
    )
    first = value(tmp_path / "wave.fst", COUNTER, 2_000_000)
    assert value(tmp_path / "wave.fst", COUNTER, 2_000_100) == first + 100


def test_leaves_out_gaps(traced_sim, tmp_path):
    gaps = [[1_000_005, 1_000_007], [1_000_010, 2_999_999]]
    *_, stopped = traced_sim(
        PROMPT,
        wave(1_000_000, 3_000_010, signals=[COUNTER], gaps=gaps),
        {"do": "run", "cycles": 4_000_000},
        {"do": "wave", "stop": True},
    )
    shown = [value for _, value in pywellen.Waveform(str(tmp_path / "wave.fst"))["derived.cycle"].signal]
    assert shown == [
        *range(1_000_000, 1_000_005),
        *range(1_000_008, 1_000_010),
        *range(3_000_000, 3_000_011),
    ]
    assert stopped["cycles"] == len(shown)


def test_is_whole_when_a_signal_ends_the_simulator(traced_binary, rom, tmp_path):
    process = subprocess.Popen(
        [traced_binary, "--load", rom, "--script", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    for command in (wave(1_000, 1 << 40, signals=[COUNTER]), {"do": "run", "cycles": 1 << 40}):
        process.stdin.write(json.dumps(command) + "\n")
    process.stdin.flush()
    while "progress" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 128 + signal.SIGINT
    first = value(tmp_path / "wave.fst", COUNTER, 1_000)
    assert value(tmp_path / "wave.fst", COUNTER, 5_000) == first + 4_000


@pytest.mark.parametrize(
    ("commands", "error"),
    [
        ([wave(10, 20, file="none/wave.fst")], "No such file or directory; check the path"),
        ([wave(10, 9)], "until: is before the first cycle"),
        ([wave(10, 90, gaps=[[10, 12]])], "gaps: are ranges in order"),
        ([wave(10, 90, gaps=[[11, 12], [13, 14]])], "gaps: are ranges in order"),
        ([wave(10, 90, gaps=[[15, 12]])], "gaps: are ranges in order"),
        ([wave(10, 90, gaps=[[15, 90]])], "gaps: are ranges in order"),
        ([{"do": "run", "cycles": 10}, wave(10, 20)], "cycle 10 has passed; this is cycle 10"),
        ([wave(10, 20), wave(30, 40)], "a wave is being made already; end it first"),
        ([wave(10, 20, file="/dev/full"), {"do": "run", "cycles": 30}], "; free some space"),
        ([{"do": "wave"}], "file: is missing, or no text"),
    ],
)
def test_rejects_what_it_cannot_show(traced_sim, commands, error):
    reply = traced_sim(*commands)[-1]
    assert not reply["ok"]
    assert error in reply["error"]


def test_simulator_without_tracing_rejects_wave(sim):
    (reply,) = sim(wave(10, 20))
    assert "this simulator was made without signals to show" in reply["error"]
