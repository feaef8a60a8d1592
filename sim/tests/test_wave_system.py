# SPDX-License-Identifier: BSD-2-Clause
"""A wave of the real SoC: the requested cycles, in agreement with the profiler and the tester."""

import bisect
import contextlib
import functools
import ipaddress
import json
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
import pywellen

from moderato.sim.lab import cli
from moderato.sim.lab.captures import pcap
from moderato.sim.lab.explain import symbols
from moderato.sim.lab.live import live
from moderato.sim.lab.run import runner, state
from moderato.sim.lab.run.machine import Machine, machine, traced
from moderato.sim.lab.run.session import Refused, Session
from moderato.sim.lab.run.stations import ROUTER, TESTER
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
    wave = pywellen.Waveform(str(path))
    found = wave[name].signal
    return [found.value_at(time) for time, _ in wave["derived.cycle"].signal]


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


def functions_of_instructions(file: Path, of: Machine, variant: str, hart: int = 0) -> set[str]:
    """The functions in a wave. When an instruction retires, the profiler's function is that of its
    address."""
    functions = sorted(symbols.of_guest(state.ready(of, variant)), key=lambda symbol: symbol.address)
    addresses = [symbol.address for symbol in functions]
    valid, counter, shown = (
        read(file, f"{SOC}cpu{hart}_trace_valid"),
        read(file, f"{SOC}cpu{hart}_trace_pc"),
        texts(file, f"cpu{hart}_function"),
    )
    compared = set()
    for cycle, retired in enumerate(valid):
        if not retired:
            continue
        symbol = functions[bisect.bisect_right(addresses, counter[cycle]) - 1]
        assert symbol.address <= counter[cycle] < symbol.address + symbol.size
        assert shown[cycle] == symbol.name, cycle
        compared.add(symbol.name)
    return compared


def test_functions_agree_with_the_program_counter(folder):
    compared = functions_of_instructions(folder / "frame.fst", machine(), VARIANT)
    assert any(name.startswith("moderato_") for name in compared) and len(compared) > 30


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


def waved(tmp_path, words: str) -> Path:
    """The wave of a short trial."""
    command = f"wave --variant {VARIANT} --frames 4 {words} --output {tmp_path}/w.fst"
    assert cli.main(command.split()) == 0
    return tmp_path / "w.fst"


def test_windows_around_writes_of_a_register(tmp_path):
    """The strobe comes with each; between them nothing is shown."""
    file = waved(tmp_path, "--at csr-write:RX_DOORBELL --every 2 --before 10 --after 20")
    wave_ = pywellen.Waveform(str(file))
    shown = [value for _, value in wave_["derived.cycle"].signal]
    strobes = [
        wave_[f"{SOC}moderatomac{port}_registerfile{port}_strobe_rx_doorbell"].signal
        for port in range(2)
    ]
    written = [cycle for cycle in shown if any(strobe.value_at(cycle * CYCLE) for strobe in strobes)]
    assert len(written) == 2
    assert shown == [
        *range(written[0] - 10, written[0] + 22),  # and the cycle in which the window's number ends
        *range(written[1] - 10, written[1] + 21),
    ]
    assert [value & 0xFF for _, value in wave_["derived.window"].signal] == [ord("1"), 0, ord("2")]


@pytest.mark.slow
def test_descriptor_completes_with_the_event(tmp_path, capsys):
    """In the ring's first pass, its index is the one that the doorbell gave it."""
    words = "--at rx-descriptor:0:65535 --before 10 --after 20"
    command = f"wave --variant {VARIANT} --frames 4 {words} --output {tmp_path}/w.fst"
    assert cli.main(command.split()) == 2
    indices = [int(each) for each in re.findall(r"rx-descriptor:0:(\d+):0 1", capsys.readouterr().err)]
    assert indices == [*range(indices[0], indices[0] + 4)]
    file = waved(tmp_path, f"--at rx-descriptor:0:{indices[1]} --before 10 --after 20")
    assert "rx_completed" in texts(file, "mac0_event")[10]


@pytest.mark.slow
def test_signal_takes_a_value(tmp_path):
    file = waved(tmp_path, "--at value:moderatomac0_irq_rx=1 --before 10 --after 20")
    assert read(file, SOC + "moderatomac0_irq_rx")[9:11] == [0, 1]


@pytest.mark.slow
def test_wave_of_a_capture(tmp_path):
    """The guest's ARP request leaves first. A frame keeps its name on its way."""
    content = struct.pack("!4H", 9, 9, 26, 0) + bytes(18)
    header = struct.pack("!BBHHHBBH", 0x45, 0, 46, 0, 0, 64, 17, 0) + b"".join(
        ipaddress.ip_address(tester.ipv4).packed for tester in TESTER
    )
    total = sum(struct.unpack("!10H", header))
    checksum = struct.pack("!H", ~(total % 0xFFFF) & 0xFFFF)
    octets = b"".join(bytes.fromhex(each.mac.replace(":", "")) for each in (ROUTER[0], TESTER[0]))
    octets += b"\x08\0" + header[:10] + checksum + header[12:] + content
    pcap.write(tmp_path / "in.pcap", [pcap.Frame(time * 1_000_000, octets) for time in range(3)])
    command = f"wave --variant {VARIANT} --replay {tmp_path}/in.pcap --at frame-out:1 --nth 2"
    assert cli.main([*command.split(), "--output", str(tmp_path / "w.fst")]) == 0
    file = tmp_path / "w.fst"
    assert texts(file, "port1_out")[999:1001] == ["", "0#0"]
    assert any(read(file, SOC + "eth1_tx_valid")[1000:1600])


@pytest.mark.slow
@pytest.mark.parametrize(
    "system",
    [
        "--variant napi --harts 2",
        "--variant napi --nic offload",
        "--variant napi --memory dram --clock 84",
        "--variant offload",
    ],
)
def test_wave_of_each_system(tmp_path, system):
    """Both simulators agree, and the MACs break no rule."""
    words = f"wave {system} --frames 20 --load 100 --at frame-in:0 --nth 9 --output {tmp_path}/w.fst"
    assert cli.main(words.split()) == 0
    assert texts(tmp_path / "w.fst", "port0_in")[999:1001] == ["", "0:8"]


@pytest.fixture(scope="session")
def recording(tmp_path_factory):
    """A recording of 0.2 s. The guest pings a station that does not answer."""
    file = tmp_path_factory.mktemp("recording") / "session"
    ready = live.serving(machine(), VARIANT)
    with ready.open() as session:
        session.call(
            "live",
            keys="ping -c 1 -W 1 198.18.0.9 > /dev/null &\n",
            record=str(file),
            about=live.about(live.Request(VARIANT), ready),
            until=session.call("run", cycles=0)["cycle"] + 20_000_000,
            link_mbps=100,
            pace=1000,
        )
    return file


@pytest.mark.slow
def test_wave_of_a_recording(recording, tmp_path):
    """The guest's ARP request leaves in the cycle in which it left."""
    command = f"wave --replay {recording} --at frame-out:0 --after 2000"
    assert cli.main([*command.split(), "--output", str(tmp_path / "w.fst")]) == 0
    file = tmp_path / "w.fst"
    frame = texts(file, "port0_out")
    assert frame[999:1001] == ["", "another frame"]
    valid = read(file, SOC + "eth0_tx_valid")
    assert not any(valid[:1000]) and any(valid[1000:1600])
    first, _ = cycles(file)
    command = f"wave --replay {recording} --from {first} --cycles 3001"
    assert cli.main([*command.split(), "--output", str(tmp_path / "again.fst")]) == 0
    assert read(tmp_path / "again.fst", SOC + "eth0_tx_valid") == valid


@pytest.mark.slow
def test_functions_agree_with_the_profile(recording, tmp_path):
    """In the same cycles of a replay, each function has as many as in its profile."""
    command = f"wave --replay {recording} --at frame-out:0 --before 50000 --after 1000"
    assert cli.main([*command.split(), "--output", str(tmp_path / "w.fst")]) == 0
    first, _ = cycles(tmp_path / "w.fst")
    shown = texts(tmp_path / "w.fst", "cpu0_function")
    # The profile's last cycles are those of an instruction that has not retired: end inside a function.
    end = max(at for at in range(100, len(shown) - 100) if len({*shown[at - 100 : at + 100]}) == 1)
    command = f"live --replay {recording} --from {first - 1} --until {first + end - 1}"
    assert cli.main([*command.split(), "--folded", str(tmp_path / "stacks")]) == 0
    profile = Counter()
    for line in (tmp_path / "stacks").read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        profile[stack.rpartition(";")[2]] += int(count)
    assert profile == Counter(shown[:end]) and len(profile) > 50


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--at drop", "drop comes 0 times in this run, not 1; others come: frame-in:0 4"),
        ("--at function:moderato_napi_pol", "functions near that name: moderato_napi_poll"),
        ("--from 5", "--from 5: this run is from cycle"),
        pytest.param(
            "--at csr-write:URGENT",
            "csr-write:URGENT comes 0 times in this run, not 1; others come: csr-",
            marks=pytest.mark.slow,
        ),
        ("--at value:cpu0_wf=1", "cpu0_wf is not a signal; near it: cpu0_wfi"),
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


def running(words: str, file: Path, *before: str) -> subprocess.Popen:
    """The command as a process, on the machine's own terms."""
    program = [sys.executable, "-P", "-m", "moderato.sim.lab.cli"]
    command = [*before, *program, "wave", "--variant", VARIANT, *words.split(), "--output", str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_a_window(tmp_path):
    """The wave ends before the window does, and has all cycles until then."""
    wanted = 6_000_000
    words = f"--frames 100 --load 1 --before 0 --after {wanted} --signals cpu0_wfi"
    command = running(words, tmp_path / "w.fst")
    begun = False
    while not begun:  # until the simulator has opened the wave
        assert command.poll() is None
        time.sleep(0.1)
        with contextlib.suppress(psutil.Error):
            opened = [each.open_files() for each in psutil.Process(command.pid).children()]
            begun = any(Path(file.path).parent == tmp_path for files in opened for file in files)
    time.sleep(3)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate()
    assert command.returncode == 128 + signal.SIGINT
    assert f"wrote {tmp_path}/w.fst" in errors and errors.endswith("moderato: stopped\n")
    assert 1000 < cycles(tmp_path / "w.fst")[1] <= wanted
    assert {file.name for file in tmp_path.iterdir()} == {"w.fst", "w.gtkw", "w.sucl"}


@pytest.mark.slow
def test_window_larger_than_the_disk(tmp_path):
    """The disk is a memory file system of 64 KB; the wave needs more."""
    script = (
        f'mount -t tmpfs -o size=64k tmpfs {tmp_path} && "$@"; status=$?; ls -A {tmp_path}; exit $status'
    )
    ours = ["unshare", "--mount", *["--map-root-user"] * bool(os.getuid()), "sh", "-c"]
    if subprocess.run([*ours, f"mount -t tmpfs tmpfs {tmp_path}"], capture_output=True).returncode:
        pytest.skip("this kernel does not permit mounts of the user's own")
    words = "--frames 4 --after 50000 --scope mac0"
    command = running(words, tmp_path / "w.fst", *ours, script, "wave")
    output, errors = command.communicate()
    assert command.returncode == 1 and not output  # no file is left
    *_, last = errors.splitlines()
    assert last.startswith(f"moderato: {tmp_path}/w.fst: cannot be written completely; free some space")


def test_violation_leaves_the_cycles_until_it(tmp_path, monkeypatch, capsys):
    run_all = runner.run_all

    def violated(jobs, what):
        results = run_all(jobs, what)
        if jobs[0][0] == wave.LAST_PASS:
            error = f"moderatomac0_moderation0 breaks one_shot {wave.CHECKED}moderation.py)"
            raise Refused({"error": error, "cycle": results[0]["report"]["start_cycle"] + 50})
        return results

    monkeypatch.setattr(runner, "run_all", violated)
    command = f"wave --variant {VARIANT} --frames 4 --before 10 --after=100 --output {tmp_path}/w.fst"
    assert cli.main(command.split()) == 1
    first, count = cycles(tmp_path / "w.fst")
    *_, last = capsys.readouterr().err.splitlines()
    found = re.search(r"cycle (\d+): .* to see it: \./moderato (.* --from (\d+) --cycles (\d+))", last)
    marker, begin, length = int(found[1]), int(found[3]), int(found[4])
    assert first < marker < first + count
    assert f"0 {marker * CYCLE} " in (tmp_path / "w.gtkw").read_text()
    assert cli.main([*found[2].split()[:-1], str(length + 1), "--output", f"{tmp_path}/v.fst"]) == 1
    assert cycles(tmp_path / "v.fst") == (begin, length + 1) and begin + length - 1 == marker


def test_simulator_with_all_signals_skips_idle_cycles(tmp_path):
    """Afterwards every signal is as if they had been simulated."""
    of = traced(machine())
    begin, idle = state.loaded(of, True), 2_000_000
    commands = (
        {"do": "run", "cycles": idle},
        {"do": "wave", "file": "w.fst", "from": begin.cycle() + idle + 1, "until": 1 << 40},
        {"do": "run", "cycles": 100},
        {"do": "wave", "stop": True},
        {"do": "counters"},
    )
    shown = []
    for options in [], ["--ungated"]:
        done = subprocess.run(
            [of.simulator, *options, "--restore", begin.checkpoint, "--script", "-"],
            input="".join(json.dumps(each) + "\n" for each in commands),
            cwd=tmp_path,
            text=True,
            check=True,
            capture_output=True,
        )
        slept = json.loads(done.stdout.splitlines()[-1])["slept_cycles"]
        assert (slept > 1_000_000) == (not options)
        vcd = subprocess.check_output(["fst2vcd", tmp_path / "w.fst"], text=True)
        shown.append(vcd.partition("$end")[2])  # without the date
    assert shown[0] == shown[1]


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
