# SPDX-License-Identifier: BSD-2-Clause
"""The lab with a fake simulator: states, trials, tables, files, failures."""

import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import traceback
import typing
from pathlib import Path
from types import SimpleNamespace

import documented
import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.measure import forward, results, trial_tables
from moderato.sim.lab.measure.traffic import Traffic
from moderato.sim.lab.measure.trial import begin, request, strayed
from moderato.sim.lab.run import ethtool, guest, state
from moderato.sim.lab.run.machine import KERNELS
from moderato.sim.lab.run.session import Refused, Session, none_left
from moderato.sim.lab.run.system import SPREADS, SYMMETRIC_KEY, System
from moderato.sim.lab.show import delivery
from moderato.sim.lab.show.errors import LabError
from moderato.sim.lab.wave import triggers
from moderato.soc.linux.kernel import DEBUG, NORMAL, Choice


@pytest.fixture
def lab(machine, monkeypatch):
    """Runs `moderato` with the fake machine; returns status, standard output and error."""
    from moderato.sim.lab import cli

    monkeypatch.setattr(forward, "machine", lambda *_, **__: machine)

    def run(*words):
        return cli.main([*words])

    return run


def processes(machine) -> list[str]:
    """Arguments of the simulators that have started."""
    journal = machine.simulator.parent / "journal"
    return journal.read_text().splitlines() if journal.exists() else []


def forward_once(lab, *more):
    return lab("forward", "--variant", "napi", "--frame-size", "64", "--frames", "2000", *more)


@pytest.mark.parametrize(
    "words, system",
    [
        ([], System()),
        (["--kernel", "debug"], System(kernel=DEBUG)),
        (["--hz", "250"], System(kernel=Choice("normal", 250))),
        (["--memory", "dram", "--clock", "80"], System(memory="dram", clock_mhz=80)),
        (["--harts", "2"], System(harts=2, spread="common")),
        (["--harts", "2", "--spread", "pinned"], System(harts=2, spread="pinned")),
    ],
)
def test_system_is_chosen(lab, machine, monkeypatch, words, system):
    chosen = []
    monkeypatch.setattr(forward, "machine", lambda link, system: chosen.append(system) or machine)
    assert forward_once(lab, *words) == 0 and chosen == [system]


def test_traceback_has_the_guests_output():
    """After a panic, it is the only cause in sight."""
    refused = Refused({"error": "the guest did not print", "output": "Oops [#1]"})
    assert "Oops [#1]" in "".join(traceback.format_exception(refused))


def test_work_is_spread_over_harts():
    """With one hart there are no commands; each way resets the settings of the others."""
    assert System().commands() == []
    names = {spread: System(harts=2, spread=spread).commands() for spread in SPREADS}
    assert len({tuple(commands) for commands in names.values()}) == len(SPREADS)
    for spread, commands in names.items():
        words = "; ".join(commands)
        assert words.count("echo 2 > /proc/irq") == {"pinned": 1, "queues": 2}.get(spread, 0)
        assert words.count("rx-shared on") == 2 * (spread == "ipi")
        assert words.count("rx-shared off") == 2 * (spread != "ipi")
        assert words.count("pin 2 $task") == (spread == "threaded")
    assert not any("rx-shared" in command for command in System("liteeth", harts=2).commands())
    for spread in SPREADS:
        words = "; ".join(System("offload", harts=2, spread=spread).commands())
        assert words.count("combined 2") == 2 * (spread == "queues")
        assert words.count("combined 1") == 2 * (spread != "queues")
        assert words.count(f"hkey {SYMMETRIC_KEY}") == 2 * (spread == "queues")


def test_traffic_of_several_streams_and_of_one_direction():
    usual = request(results.Trial("napi", 64, 10, 1000, 100), 1000)["ports"]
    assert len(usual) == 2 and not any("streams" in port for port in usual)
    (one,) = request(results.Trial("napi", 64, 10, 1000, 100, traffic=Traffic(8, True)), 1000)["ports"]
    assert one == usual[0] | {"streams": 8}


class Learning:
    """A session that ends after the learning frames."""

    def __init__(self, quiet=True):
        self.asked, self.quiet = [], quiet

    def call(self, do, **fields):
        self.asked.append(fields)
        return {"ports": [], "quiet": self.quiet}

    def check(self, command):
        raise InterruptedError  # the learning frames are over


def test_learning_frames_wait_like_trials(machine):
    """A setting of --ethtool may delay a frame for longer than the usual quiet time."""
    session, settings = Learning(), ("-C rx-usecs 160000 rx-frames 64",)
    one = results.Trial("offload", 64, 10, 1000, 100)
    ready = SimpleNamespace(machine=dataclasses.replace(machine, system=System(ethtool=settings)))
    with pytest.raises(InterruptedError):
        begin(one, ready, session)
    learning, hz = session.asked[0], ready.machine.sys_clk_hz
    assert learning["quiet_cycles"] == request(one, hz, settings)["quiet_cycles"] == 0.17 * hz
    assert learning["quiet_cycles"] < learning["max_cycles"]


def test_endless_learning_frames(machine):
    """No trial begins before they end."""
    with pytest.raises(LabError, match="did not become quiet after all learning frames"):
        begin(
            results.Trial("offload", 64, 10, 1000, 100),
            SimpleNamespace(machine=machine),
            Learning(quiet=False),
        )


def test_boot_limit_depends_on_the_kernel(machine, monkeypatch):
    """A slow kernel may take longer to boot than the normal one."""
    asked = []
    call = Session.call
    monkeypatch.setattr(
        Session,
        "call",
        lambda self, do, **fields: (
            asked.append(fields["max_cycles"]) if fields.get("text") == "MODERATO-BOOTED" else None,
            call(self, do, **fields),
        )[1],
    )
    for kernel in KERNELS:
        state.booted(dataclasses.replace(machine, build_id=kernel, system=System(kernel=Choice(kernel))))
    assert asked == [needs.boot_cycles for needs in KERNELS.values()]
    assert KERNELS[NORMAL.name].boot_cycles < KERNELS[DEBUG.name].boot_cycles


# Results ------------------------------------------------------------------------------------------


def promised() -> dict:
    """The documented fields of a trial on one hart without --ethtool and --memory."""
    found = documented.fields("`--json`")
    for name in ("spread", "memory", "ethtool"):
        del found["conditions"][name]
    return found


def test_json_has_the_documented_fields(lab, tmp_path):
    file = tmp_path / "out.json"
    assert (
        lab(
            "forward",
            "--variant",
            "napi,original",
            "--frame-size",
            "64,512",
            "--load",
            "12.5",
            "--frames",
            "2000",
            "--json",
            str(file),
        )
        == 0
    )
    trials = json.loads(file.read_text())
    assert [(trial["variant"], trial["frame_bytes"]) for trial in trials] == [
        ("napi", 64),
        ("original", 64),
        ("napi", 512),
        ("original", 512),
    ]
    kinds = typing.get_type_hints(results.Port) | {"lost": int}
    for trial in trials:
        assert documented.shape(trial) == promised()
        assert len(trial["ports"]) == 2
        for port in trial["ports"]:
            assert set(port) == set(kinds)
            assert all(isinstance(port[name], kind) for name, kind in kinds.items())
            assert port["lost"] == port["offered"] - port["forwarded"]
    assert trials[0]["load_percent"] == 12.5
    assert trials[0]["offered_fps"] == 37202.381  # 2 x 12.5 % of 148 809.5
    assert trials[0]["latency_ns"] == {"min": 10_000, "median": 20_000, "p99": 30_000, "max": 40_010}
    assert trials[0]["cpu_idle_percent"] == 25.0
    # 2000 frames in a window of 10 ms, at each of two ports
    assert trials[0]["throughput"] == {"fps": 400_000.0, "mbps": 204.8}


def test_same_figures_twice(lab, tmp_path):
    runs = []
    for name in ("a", "b"):
        forward_once(lab, "--json", str(tmp_path / name))
        trials = json.loads((tmp_path / name).read_text())
        for trial in trials:
            del trial["simulation"]
        runs.append(trials)
    assert runs[0] == runs[1]


def test_table_says_where_frames_were_lost(lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_LOST", "300")
    assert forward_once(lab) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "64-byte frames, 100 % of 100 Mb/s" in lines[0] and "2000 frames per port" in lines[0]
    row = next(line for line in lines if line.startswith("napi"))
    #           offered received forwarded lost  ring  FIFO backlog Tx elsewhere corrupted
    assert row.split()[1:] == ["4000", "3700", "3700", "300", "300", "0", "0", "0", "0", "0"]


def test_table_columns_line_up():
    trial = results.Trial("napi-tx-off", 1518, 100, 10, 10)
    names = [field.name for field in dataclasses.fields(results.Port)]
    port = results.Port(**dict.fromkeys(names, 10) | {"rx_interrupts": 1_234_567})
    row = results.Result(
        trial, 100_000_000, 1000, [port, port], dict.fromkeys(results.LATENCY), 99.9, 0, 0, 1.0, []
    )
    blocks = trial_tables.render([row]).split("\n\n")
    for block in blocks[1:]:
        above, head, rule, body = block.splitlines()
        assert len(head) == len(rule) == len(body) >= len(above)
    assert body.split().count("-") == 4  # latency was not measured


def test_table_of_two_harts():
    """Each hart has its idle time and its interrupts; with one hart, there are no such columns."""
    trial = results.Trial("napi", 64, 100, 10, 100)
    port = results.Port(**dict.fromkeys([field.name for field in dataclasses.fields(results.Port)], 1))
    one = results.Result(
        trial,
        100_000_000,
        1000,
        [port, port],
        dict.fromkeys(results.LATENCY, 1),
        20.0,
        0,
        0,
        1.0,
        [],
        idle_per_hart=[20.0],
        interrupts_per_hart=[7],
    )
    two = dataclasses.replace(one, idle_per_hart=[1.0, 39.0], interrupts_per_hart=[7, 5])
    assert "hart by hart" not in trial_tables.render([one])
    *_, head, _, body = trial_tables.render([two]).splitlines()
    assert head.endswith("CPU idle  idle 0  idle 1  interrupts 0  interrupts 1")
    assert body.split()[-8:] == ["20.0", "%", "1.0", "%", "39.0", "%", "7", "5"]


def test_interrupts_by_source_and_hart():
    text = (
        "           CPU0       CPU1\n"
        "  1:        855          0  SiFive PLIC   1 Edge      liteuart\n"
        "  2:         12          3  SiFive PLIC   3 Edge      eth0-rx\n"
        "  5:         54         60  RISC-V INTC   5 Edge      riscv-timer\n"
        "  6:          0          9  SiFive PLIC   6 Edge      eth1-tx\n"
    )
    found = guest.taken(text)
    assert found == {3: [12, 3], 6: [0, 9]}
    claims = [[0, 855, 0, 12, 0, 0, 0], [0, 0, 0, 3, 0, 0, 9]]
    assert strayed(found, claims) == []
    claims[1][3] = 2
    (complaint,) = strayed(found, claims)
    assert "3 interrupts of source 3 at hart 1, which took 2" in complaint
    with pytest.raises(LabError, match="no source of the PLIC for eth0 or eth1"):
        guest.taken("  1:  855  SiFive PLIC   1 Edge      liteuart\n")


def test_default_number_of_frames_outlasts_the_rings():
    assert results.frames_for(0.3, 64, 100, 100) == 44643  # 148 809.5 frames/s
    assert results.frames_for(0.001, 1518, 1, 10) == 5 * 256


# Guest --------------------------------------------------------------------------------------------

PROC = """\
           CPU0       CPU1
  1:        124          0  SiFive PLIC   1 Edge      ttyLXU0
 12:          7         10  SiFive PLIC   3 Level     eth0-rx
 13:          0          0  SiFive PLIC   4 Level     eth0-tx
 14:        900          0  SiFive PLIC   5 Level     eth1-rx
 15:     123456          0  SiFive PLIC   6 Level     eth1-tx
IPI0:         0          0  Rescheduling interrupts
00000a31 0000001f 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000000
00000001 00000001 00000003 00000000 00000000 00000000 00000000 00000000 00000000 00000001
Inter-|   Receive                                 |  Transmit
 face |bytes    packets errs drop fifo frame c m|bytes    packets errs drop fifo colls carrier c
    lo:       0       0    0    0    0     0 0 0        0       0    0    0    0     0       0 0
  eth0:  123456    2000    1    2    3     4 5 6   654321    1999    7    8    9     0       0 0
  eth1:1234567890   11    0    0    0     0  0 0        0      12    0    0    0     0       0 0
"""


def test_output_is_shown_at_once(machine):
    """In pieces, with whole ends of lines, and without the mark at the end. Similar output is not
    mistaken for the mark."""
    pieces = []
    with state.booted(machine).open() as session:
        assert session.run(b"any", 1000, lambda piece, _: pieces.append(piece)) == 7
        assert session.type("echo more") == (0, "")  # continues after the last prompt
    assert "".join(pieces) == "hello\n@end@5@\n# \n@end of it\n" and len(pieces) > 3


def test_output_before_the_guest_powers_off_is_whole(machine, monkeypatch):
    pieces = []
    state.booted(machine)
    monkeypatch.setenv("FAKE_OFF", "1")
    with state.booted(machine).open() as session, pytest.raises(LabError, match="powered off"):
        session.run(b"any", 1000, lambda piece, _: pieces.append(piece))
    assert "".join(pieces) == "hello\nbefore\n"


def test_guest_counters():
    counters = guest.parse(PROC)
    assert counters.rx_interrupts == [17, 900] and counters.tx_interrupts == [0, 123456]
    assert counters.rx_packets == [2000, 11] and counters.rx_dropped == [2, 0]
    assert counters.tx_packets == [1999, 12] and counters.tx_dropped == [8, 0]
    assert counters.backlog_dropped == 0x20
    assert counters.since(counters).tx_packets == [0, 0]


def test_guest_counters_of_shared_lines():
    shared = PROC.replace("eth0-rx", "eth0").replace("eth1-tx", "eth1")
    counters = guest.parse("\n".join(line for line in shared.splitlines() if "-" not in line))
    assert counters.shared_interrupts == [17, 123456]
    assert counters.rx_interrupts == counters.tx_interrupts == []
    assert counters.since(counters).shared_interrupts == [0, 0]


@pytest.mark.parametrize("gone", ["eth1-tx", "eth0:", "00000a31"])
def test_guest_counters_missing(gone):
    text = "\n".join(
        line for line in PROC.splitlines() if gone not in line and not line.startswith("00000001 ")
    )
    with pytest.raises(LabError):
        guest.parse(text)


# States -------------------------------------------------------------------------------------------


def test_states_are_made_once(lab, machine):
    assert forward_once(lab) == 0
    first = processes(machine)
    assert sum("--load" in line for line in first) == 1  # one boot
    assert forward_once(lab) == 0
    assert len(processes(machine)) - len(first) == 1  # the trial's own simulation


def test_states_depend_on_what_made_them(machine, tmp_path):
    before = [state.booted(machine).folder, state.ready(machine, "napi").folder]
    machine.driver.write_text("another driver")
    after = [state.booted(machine).folder, state.ready(machine, "napi").folder]
    assert after[0] == before[0] and after[1] != before[1]
    (tmp_path / "Image").write_text("another kernel")
    assert state.booted(machine).folder != before[0]
    assert state.ready(machine, "napi").folder not in (before[1], after[1])


@pytest.mark.parametrize("content", [b"", b"\0garbage"])
def test_damaged_checkpoint_is_made_again(lab, machine, capsys, content):
    forward_once(lab)
    checkpoint = state.ready(machine, "napi").checkpoint
    checkpoint.write_bytes(content)
    capsys.readouterr()
    assert forward_once(lab) == 0
    message = capsys.readouterr().err
    assert f"{checkpoint}: the checkpoint is damaged; making it again" in message
    json.loads(checkpoint.read_text())  # complete again


def test_failed_preparation_leaves_no_state(lab, machine, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_FAIL", "insmod /tmp/moderato.ko")
    assert forward_once(lab) == 1
    assert "`insmod /tmp/moderato.ko` ended with status 1" in capsys.readouterr().err
    loaded = Path(os.environ["MODERATO_CACHE"]) / "checkpoint-loaded"
    assert [path for path in loaded.iterdir() if not path.name.endswith(".lock")] == []


# Unsound trials -----------------------------------------------------------------------------------


def test_interrupts_that_disagree_fail_the_run(lab, monkeypatch, capsys):
    forward_once(lab)  # makes the states, which are sound
    capsys.readouterr()
    monkeypatch.setenv("FAKE_MISCOUNT", "1")
    assert forward_once(lab) == 1
    output = capsys.readouterr()
    assert "/proc/interrupts shows 2001 rx interrupts of port 0, the hardware raised 2000" in output.err
    assert (
        "/proc/interrupts shows 2001 interrupts of source 3 at hart 0, which took 2000 from the PLIC"
        in output.err
    )
    assert "napi" in output.out  # the table is still printed


def test_withdrawn_interrupts_are_no_disagreement(lab, monkeypatch, capsys, tmp_path):
    """Raised = claimed + withdrawn; the lab reports other differences."""
    forward_once(lab)  # makes the states, without withdrawn interrupts
    file = tmp_path / "out.json"
    monkeypatch.setenv("FAKE_WITHDRAWN", "2")
    assert forward_once(lab, "--json", str(file)) == 0
    (trial,) = json.loads(file.read_text())
    assert [
        (port["rx_interrupts"], port["rx_withdrawn"], port["tx_withdrawn"]) for port in trial["ports"]
    ] == [(2000, 2, 0)] * 2
    capsys.readouterr()
    monkeypatch.setenv("FAKE_MISCOUNT", "-1")
    assert forward_once(lab) == 1
    assert (
        "/proc/interrupts shows 1997 rx interrupts of port 0, the hardware raised 2000, "
        "2 of which were withdrawn\n"
    ) in capsys.readouterr().err


def test_corrupted_frames_fail_the_run(lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_CORRUPTED", "3")
    assert forward_once(lab) == 1
    shown = capsys.readouterr().err
    assert "3 frames that entered at port 0 left corrupted" in shown
    command = re.search("its first bad frame: ./moderato (.*)", shown)
    assert command and cli.parse(shlex.split(command[1])).trigger == triggers.parse(triggers.BAD)


def test_simulator_that_dies(lab, machine, capsys):
    machine.simulator.write_text("#!/bin/sh\necho 'moderato-sim: out of memory' >&2\nexit 1\n")
    assert forward_once(lab) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "moderato: the simulator failed: out of memory"


@pytest.mark.parametrize("status", [129, 130, 143])
def test_simulator_that_is_stopped(lab, machine, capsys, status):
    """A service manager ends every process: that is no failure."""
    machine.simulator.write_text(f"#!/bin/sh\nexit {status}\n")
    assert forward_once(lab) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "moderato: the simulator was stopped"


# Another NIC --------------------------------------------------------------------------------------


def liteeth_once(lab, *more):
    return lab("forward", "--nic", "liteeth", "--frame-size", "64", "--frames", "2000", *more)


def test_liteeth_is_a_variant_without_settings(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("FAKE_SHARED", "1")
    file = tmp_path / "out.json"
    assert liteeth_once(lab, "--json", str(file)) == 0
    (trial,) = json.loads(file.read_text())
    assert trial["variant"] == "liteeth" and documented.shape(trial) == promised()
    made = [path.name for path in Path(os.environ["MODERATO_CACHE"]).glob("checkpoint-*")]
    assert sorted(made) == ["checkpoint-booted", "checkpoint-loaded"]  # no ready state


def test_shared_interrupts_that_disagree_fail_the_run(lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_SHARED", "1")
    liteeth_once(lab)  # makes the states, which are sound
    capsys.readouterr()
    monkeypatch.setenv("FAKE_MISCOUNT", "1")
    assert liteeth_once(lab) == 1
    assert (
        "/proc/interrupts shows 4001 shared interrupts of port 0, the hardware raised 4000"
        in capsys.readouterr().err
    )


# Files --------------------------------------------------------------------------------------------


def test_pcap_folder(lab, tmp_path):
    folder = tmp_path / "captures"
    for _ in range(2):  # the second time replaces the first files
        assert forward_once(lab, "--pcap", str(folder)) == 0
        assert [str(path.relative_to(folder)) for path in folder.rglob("*")] == [
            "napi-64-100percent-100mbps",
            "napi-64-100percent-100mbps/port0-in.pcap",
        ]


def test_full_disk_leaves_the_old_result(lab, tmp_path, monkeypatch, capsys):
    file = tmp_path / "out.json"
    file.write_text("old")

    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr(forward, "run", lambda *_: [])
    assert forward_once(lab, "--json", str(file)) == 1
    assert "No space left on device; free some space" in capsys.readouterr().err
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def heed_hangups():
    """Under nohup, tests ignore SIGHUP, and their children would do the same."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("signals", [["SIGINT"], ["SIGINT"] * 3, ["SIGHUP"], ["SIGTERM", "SIGINT"]])
def test_interrupt_ends_every_process(machine, tmp_path, signals):
    program = (
        "import sys\nfrom pathlib import PosixPath\n"
        "from moderato.sim.lab import cli\n"
        "from moderato.sim.lab.measure import forward\n"
        "from moderato.sim.lab.run.machine import Machine\n"
        "from moderato.soc.linux.kernel import Choice\n"
        "from moderato.sim.lab.run.system import System\n"
        f"forward.machine = lambda link, system: {machine!r}\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    folder = tmp_path / "captures"
    lab = subprocess.Popen(
        [
            sys.executable,
            "-c",
            program,
            "forward",
            "--variant",
            "napi,original",
            "--frame-size",
            "64",
            "--frames",
            "2000",
            "--pcap",
            str(folder),
        ],
        env={**os.environ, "FAKE_STALL": "1"},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_hangups,
    )
    while len(list(folder.glob(".*"))) < min(2, len(os.sched_getaffinity(0))):  # trials in progress
        assert lab.poll() is None
        time.sleep(0.05)
    for name in signals:
        lab.send_signal(getattr(signal, name))
        time.sleep(0.02)
    assert lab.wait() == 128 + getattr(signal, signals[0])
    assert lab.stderr.read().splitlines()[-1] == "moderato: stopped"
    assert not folder.exists()
    commands = map(text_of, Path("/proc").glob("[0-9]*/cmdline"))
    assert not [command for command in commands if str(machine.simulator) in command]


def test_no_simulation_begins_while_all_are_ended(machine):
    """A job may be about to start a simulation when the lab stops, which would then wait for it."""
    with none_left(), pytest.raises(LabError):
        Session(machine.simulator)
    with Session(machine.simulator) as after:
        assert after.call("counters")["ok"]


def text_of(path: Path) -> str:
    """The text of a file that may be removed meanwhile."""
    try:
        return path.read_text()
    except OSError:
        return ""


# Settings of the user -----------------------------------------------------------------------------


def own(machine, monkeypatch):
    """The fake machine, for any chosen system."""
    monkeypatch.setattr(
        forward, "machine", lambda link, system: dataclasses.replace(machine, system=system)
    )


def test_user_settings(lab, machine, monkeypatch, tmp_path, capsys):
    """They are applied to both ports, in a state of their own, and named with the figures."""
    own(machine, monkeypatch)
    forward_once(lab, "--json", str(tmp_path / "usual"))
    usual = processes(machine)
    forward_once(
        lab, "--ethtool", "-C rx-usecs 50", "--ethtool", "-G rx '64'", "--json", str(tmp_path / "own")
    )
    assert "; ethtool -C rx-usecs 50; ethtool -G rx '64'" in capsys.readouterr().out
    first, second = (json.loads((tmp_path / name).read_text())[0] for name in ("usual", "own"))
    assert first["ethtool"] == [] and "ethtool" not in first["conditions"]
    assert second["ethtool"] == second["conditions"]["ethtool"] == ["-C rx-usecs 50", "-G rx '64'"]
    assert first["conditions"]["checkpoint"] != second["conditions"]["checkpoint"]
    assert len(processes(machine)) == len(usual) + 3  # ready state, trial, time of the boot
    forward_once(lab, "--ethtool", "-G rx '64'", "--ethtool", "-C rx-usecs 50")
    assert len(processes(machine)) == len(usual) + 5  # another order is another state


def test_rejected_setting(lab, machine, monkeypatch, capsys):
    own(machine, monkeypatch)
    monkeypatch.setenv("FAKE_FAIL", "ethtool -C eth1 rx-usecs 9")
    monkeypatch.setenv("FAKE_SAYS", "netdevice says no")
    assert forward_once(lab, "--ethtool", "-C rx-usecs 9") == 1
    *_, said = capsys.readouterr().err.splitlines()
    assert said == (
        "moderato: --ethtool '-C rx-usecs 9' was rejected; `ethtool -C eth1 rx-usecs 9` "
        "in the guest: netdevice says no"
    )
    monkeypatch.setenv("FAKE_SAYS", "no coalesce parameters changed, aborting")
    assert forward_once(lab, "--ethtool", "-C rx-usecs 9") == 0  # it was set before


SHOWN = {
    "-C adaptive-rx on rx-frames-low 3": """\
Coalesce parameters for eth0:
Adaptive RX: {}  TX: off
rx-usecs: 7

rx-frame-low: {}
""",
    "-G rx 0x40 tx 64": """\
Ring parameters for eth0:
Pre-set maximums:
RX:		4096
TX:		4096
Current hardware settings:
RX:		{}
TX:		{}
""",
    "-K rx on tx-tcp-segmentation off": """\
Features for eth0:
rx-checksumming: {}
tcp-segmentation-offload: on
	tx-tcp-segmentation: {} [requested on]
""",
    "--set-priv-flags rx-napi on tx-reclaim-on-xmit off": """\
Private flags for eth0:
rx-napi           : {}
tx-reclaim-on-xmit: {}
""",
    "-A autoneg on tx off": "Pause parameters for eth0:\nAutonegotiate:\t{}\nRX:\t\ton\nTX:\t\t{}\n",
}


@pytest.mark.parametrize("setting", SHOWN)
def test_value_that_ethtool_prints_decides(setting):
    """For each name and value of a setting, whatever ethtool's status was."""
    wanted = [value for _, value in ethtool.pairs(setting)]
    show = ethtool.commands(setting)[1]
    right = ["64" if value == "0x40" else value for value in wanted]
    ethtool.require(setting, ethtool.pairs(setting), show, SHOWN[setting].format(*right))
    for place, (name, _) in enumerate(ethtool.pairs(setting)):
        wrong = [*right]
        wrong[place] = "17"
        with pytest.raises(LabError, match=f"effect: `{show}` in the guest shows {name} 17"):
            ethtool.require(setting, ethtool.pairs(setting), show, SHOWN[setting].format(*wrong))


def test_ignored_setting(lab, machine, monkeypatch, capsys):
    """ethtool mistakes -1 for no request. The lab reports no trial with the setting."""
    own(machine, monkeypatch)
    monkeypatch.setattr(state, "ALL", {"napi": SimpleNamespace(commands=list)})
    monkeypatch.setenv("FAKE_IGNORED", "1")
    assert forward_once(lab, "--ethtool", "-C rx-usecs -1") == 1
    *_, said = capsys.readouterr().err.splitlines()
    assert said == (
        "moderato: --ethtool '-C rx-usecs -1' did not take effect: `ethtool -c eth0` in the "
        "guest shows rx-usecs 0"
    )
    assert forward_once(lab, "--ethtool", "-C rx-usecs 0") == 0  # it was set before


# What made a figure -------------------------------------------------------------------------------


def test_table_names_its_origin(capsys):
    made = {"version": "1a2b3c4", "kernel_source": "linux-source-6.12 6.12.1-1", "compiler": "gcc 12"}
    delivery.deliver(lambda: "table\n", conditions=made)
    assert capsys.readouterr().out == "table\n\nMade by 1a2b3c4; linux-source-6.12 6.12.1-1; gcc 12.\n"


def test_tools_that_differ_from_the_published_ones_are_named(monkeypatch, tmp_path):
    published = tmp_path / "lab.json"
    monkeypatch.setattr(forward, "PUBLISHED", published)
    here = {"kernel_source": "6.12.1-1", "compiler": "gcc 14"}
    published.write_text(
        json.dumps([{"conditions": {"kernel_source": "6.12.1-1", "compiler": "gcc 12"}}])
    )
    [line] = forward.other_tools(here)
    assert "gcc 12" in line and "gcc 14" in line
    published.write_text(json.dumps([{"conditions": here}]))
    assert forward.other_tools(here) == []
