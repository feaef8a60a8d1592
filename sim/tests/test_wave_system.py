# SPDX-License-Identifier: BSD-2-Clause
"""A wave of the real SoC: the requested cycles, in agreement with the profiler and the tester."""

import bisect
import functools
import signal
import subprocess
import threading
from pathlib import Path

import pytest
import pywellen

from moderato.sim.lab import cli
from moderato.sim.lab.explain import symbols
from moderato.sim.lab.run import runner, state
from moderato.sim.lab.run.machine import machine, traced
from moderato.sim.lab.run.session import Session
from moderato.sim.lab.show.errors import LabError
from moderato.sim.lab.wave import wave

VARIANT = "napi"
BEFORE, AFTER = 500, 12_000
CYCLE = 10_000  # ps
SOC = "TOP.top.soc."


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the wave of the second frame that enters port 0."""
    path = tmp_path_factory.mktemp("wave")
    words = f"--variant {VARIANT} --frames 4 --nth 2 --before {BEFORE} --after {AFTER}".split()
    assert cli.main(["wave", *words, "--output", str(path / "frame.fst")]) == 0
    return path


@functools.cache
def read(path: Path, name: str) -> list[int]:
    """The values of a signal, in each cycle of the wave."""
    found = pywellen.Waveform(str(path))[name].signal
    first, count = cycles(path)
    return [found.value_at((first + number) * CYCLE) for number in range(count)]


@functools.cache
def cycles(path: Path) -> tuple[int, int]:
    """The first cycle of a wave, and the number of cycles."""
    found = [value for _, value in pywellen.Waveform(str(path))["derived.cycle"].signal]
    assert found == list(range(found[0], found[0] + len(found)))
    return found[0], len(found)


def texts(path: Path, name: str) -> list[str]:
    return [value.to_bytes(64, "big").lstrip(b"\0").decode() for value in read(path, f"derived.{name}")]


def test_wave_has_the_cycles_around_the_trigger(folder):
    _, count = cycles(folder / "frame.fst")
    assert count == BEFORE + 1 + AFTER
    assert texts(folder / "frame.fst", "port0_in")[BEFORE - 1 : BEFORE + 1] == ["", "0:1"]


def test_signals_agree_with_the_tester_and_the_macs(folder):
    """The MAC gets each word in its frame's cycles; an interrupt's line rises a cycle later."""
    file = folder / "frame.fst"
    valid, frame = read(file, SOC + "eth0_rx_valid"), texts(file, "port0_in")
    assert any(valid)
    assert all(frame[cycle] or frame[cycle - 1] for cycle, bit in enumerate(valid) if bit)
    line, event = read(file, SOC + "moderatomac0_irq_rx"), texts(file, "mac0_event")
    risen = [cycle for cycle in range(1, len(line)) if line[cycle] > line[cycle - 1]]
    told = [cycle for cycle, text in enumerate(event) if "rx_interrupt" in text]
    assert risen == [cycle + 1 for cycle in told] != []


def test_functions_agree_with_the_program_counter(folder):
    """For each instruction that retires: the profiler's function has the symbol of its address."""
    file = folder / "frame.fst"
    functions = sorted(
        symbols.of_guest(state.ready(machine(), VARIANT)), key=lambda symbol: symbol.address
    )
    addresses = [symbol.address for symbol in functions]
    valid, counter, shown = (
        read(file, SOC + "cpu0_trace_valid"),
        read(file, SOC + "cpu0_trace_pc"),
        texts(file, "cpu0_function"),
    )
    compared = set()
    for cycle, retired in enumerate(valid):
        if not retired:
            continue
        symbol = functions[bisect.bisect_right(addresses, counter[cycle]) - 1]
        assert symbol.address <= counter[cycle] < symbol.address + symbol.size
        assert shown[cycle] == symbol.name, cycle
        compared.add(symbol.name)
    assert "moderato_napi_poll" in compared and len(compared) > 30


def test_states_and_status_have_names(folder):
    """Each status that is written completes a frame of 60 octets, in the state that writes it."""
    file, ring = folder / "frame.fst", SOC + "moderatomac0_rxring0_rxring0_completions_"
    written, length = read(file, ring + "status_written"), read(file, ring + "status_LENGTH")
    states = [value.to_bytes(7, "big").lstrip(b"\0").decode() for value in read(file, ring + "fsm_text")]
    assert set(states) == {"REQUEST", "DATA"}
    found = {(length[cycle], states[cycle]) for cycle, bit in enumerate(written) if bit}
    assert found == {(60, "DATA")}
    assert all(read(file, SOC + "moderatomac0_registerfile0_reg_ctrl_RX_ENABLE"))


def test_viewers_files_name_signals_of_the_wave(folder):
    known = {var.full_name for var in pywellen.Waveform(str(folder / "frame.fst")).all_vars()}
    surfer = (folder / "frame.sucl").read_text().splitlines()
    added = {line.removeprefix("variable_add ") for line in surfer if line.startswith("variable_add")}
    saved = {
        line.partition("[")[0]
        for line in (folder / "frame.gtkw").read_text().splitlines()
        if line.startswith(("TOP.", "derived."))
    }
    assert added == saved == known
    assert subprocess.check_output(["fst2vcd", folder / "frame.fst"]).count(b"$var") == len(known)


def test_wave_of_a_command(tmp_path):
    """The first frame that the guest receives is the reply to its ping."""
    words = ["wave", "--variant", VARIANT, "-c", "ping -c 1 198.18.0.2", "--after", "2000"]
    assert cli.main([*words, "--output", str(tmp_path / "ping.fst")]) == 0
    _, count = cycles(tmp_path / "ping.fst")
    assert count == 3001
    assert "rx_completed" in texts(tmp_path / "ping.fst", "mac0_event")[1000]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--at drop", "drop comes 0 times in this run, not 1; others come: frame-in:0 4"),
        ("--at function:moderato_napi_pol", "functions near that name: moderato_napi_poll"),
        ("--from 5", "--from 5: this run is from cycle"),
        ("--scope mac0.queue1", "near it: mac0.queue0"),
        ("--signals *_irqrx", "moderatomac0_irq_rx"),
    ],
)
def test_errors_are_one_line(words, says, tmp_path, capsys):
    command = f"wave --variant {VARIANT} --frames 4 {words} --output {tmp_path}/w.fst"
    assert cli.main(command.split()) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert says in last
    assert not [*tmp_path.iterdir()]


def test_ctrl_c_leaves_the_cycles_so_far(tmp_path, monkeypatch, capsys):
    run_all = runner.run_all

    def stopped(jobs, what):
        results = run_all(jobs, what)
        if jobs[0][0] == wave.LAST_PASS:
            raise KeyboardInterrupt
        return results

    monkeypatch.setattr(runner, "run_all", stopped)
    command = f"wave --variant {VARIANT} --frames 4 --after 100 --output {tmp_path}/w.fst"
    assert cli.main(command.split()) == 128 + signal.SIGINT
    assert f"wrote {tmp_path}/w.fst" in capsys.readouterr().err
    assert cycles(tmp_path / "w.fst")[1] == 101


def test_simulation_that_is_ended_completes_its_wave(tmp_path):
    of = traced(machine())
    with Session(of.simulator, load=of.images) as session:
        session.finishes = True
        chosen = [SOC + "cpu0_wfi"]
        session.call("wave", file=str(tmp_path / "w.fst"), signals=chosen, until=1 << 40, **{"from": 1})
        session.progress = lambda _: threading.Thread(target=session.end).start()
        with pytest.raises((LabError, ValueError)):
            session.call("run", cycles=1 << 40)
    assert cycles(tmp_path / "w.fst")[1] > 100
