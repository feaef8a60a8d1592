# SPDX-License-Identifier: BSD-2-Clause
"""`moderato tcp` and `moderato receiver`, with a fake simulator."""

import json
import subprocess

import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.receiver.buffers import BUFFERS
from moderato.sim.lab.tcp import exchange, figures, receive_queue, transfers
from moderato.sim.lab.tcp.segments import SEGMENTS, context, segment
from moderato.sim.lab.tcp.transfer import DIRECTIONS, FAULTS, PEERS, Transfer


@pytest.fixture
def lab(machine, monkeypatch, tmp_path):
    """`moderato` with the fake machine."""
    program = tmp_path / "stream"
    program.write_text("stream")
    monkeypatch.setattr(transfers, "machine", lambda *_, **__: machine)
    monkeypatch.setattr(transfers, "program", lambda zerocopy: program)
    monkeypatch.setattr(transfers.symbols, "of_guest", lambda _: [])
    return lambda *words: cli.main(list(map(str, words)))


def records(lab, tmp_path, *words) -> list[dict]:
    assert lab(*words, "--json", tmp_path / "out.json") == 0
    return json.loads((tmp_path / "out.json").read_text())


def test_every_direction_variant_and_link(lab, tmp_path):
    found = records(lab, tmp_path, "tcp", "--variant", "original,napi-full", "--link", "100,1000")
    assert [(each["link_mbps"], each["direction"], each["variant"]) for each in found] == [
        (link, direction, variant)
        for link in (100, 1000)
        for direction in DIRECTIONS
        for variant in ("original", "napi-full")
    ]
    for each in found:
        assert each["problems"] == [] and each["nic"] == "moderato" and each["harts"] == 1
        assert each["goodput_mbps"] == pytest.approx(100)  # 8 cycles per octet at 100 MHz
        assert each["cpu_idle_percent"] == pytest.approx(25, abs=0.01)
        assert each["acks_per_segment"] == pytest.approx(0.5, abs=0.01)
        assert each["mean_window_bytes"] == 65535 and each["retransmissions"] == 0
        assert each["round_trip_us"]["median"] == 20 and "profile" not in each


def test_second_run_starts_no_transfer(lab, tmp_path, machine, capsys):
    words = ("tcp", "--variant", "napi", "--direction", "in,out")
    first = records(lab, tmp_path, *words)
    tables = capsys.readouterr().out
    journal = machine.simulator.parent / "journal"
    started = len(journal.read_text().splitlines())
    assert records(lab, tmp_path, *words) == first
    assert capsys.readouterr().out == tables
    assert len(journal.read_text().splitlines()) - started == 1  # to check that the state can be opened


def test_captures_are_made_in_a_transfer(lab, tmp_path, capsys):
    """Even if its record is stored already; other files in the folder stay, and nothing is run."""
    words = ("tcp", "--variant", "napi", "--direction", "in")
    (first,) = records(lab, tmp_path, *words)
    (again,) = records(lab, tmp_path, *words, "--pcap", tmp_path / "p")
    assert again["key"] == first["key"]
    folder = tmp_path / "p/napi-in-100-mbps"
    assert [file.name for file in folder.iterdir()] == ["port0-in.pcap"]
    assert capsys.readouterr().err.endswith(f"{tmp_path / 'out.json'}, {tmp_path / 'p'}\n")
    (folder / "mine").touch()
    assert lab(*words, "--pcap", tmp_path / "p") == 2
    assert "mine" in capsys.readouterr().err and (folder / "mine").exists()
    assert lab(*words, "--pcap", tmp_path / "q", "--scheduler", "127.0.0.1:9") == 2
    assert "leave out --scheduler" in capsys.readouterr().err


def test_settings_of_guest_and_tester():
    transfer = Transfer("out", "napi", octets=10, faults=("drop", "swap"), peer="stalls")
    wanted = exchange.request(transfer)
    assert wanted["direction"] == "out" and wanted["octets"] == 10 and wanted["check"]
    assert {(each["kind"], each["way"], each["port"]) for each in wanted["faults"]} == {
        (kind, way, 0) for kind in ("drop", "swap") for way in ("in", "out")
    }
    assert len({(each["frame"], each["way"]) for each in wanted["faults"]}) == 4
    assert wanted["stall"]["cycles"] == 100_000_000
    assert {
        each["port"] for each in exchange.request(Transfer("through", "napi", faults=FAULTS))["faults"]
    } == {0, 1}
    names = {
        Transfer(direction, "napi", faults=faults, peer=peer).name
        for direction in DIRECTIONS
        for faults in ((), FAULTS)
        for peer in (None, *PEERS)
    }
    assert len(names) == len(DIRECTIONS) * 2 * (1 + len(PEERS))


@pytest.mark.parametrize("clock", [80_000_000, 100_000_000, 125_000_000])
def test_a_peer_stalls_for_a_second(clock):
    """A second of the SoC's clock."""
    wanted = exchange.request(Transfer("out", "napi", peer="stalls"), clock)
    assert wanted["stall"] == {"after": 500_000, "cycles": clock}
    assert wanted["max_cycles"] > 10 * clock  # the limit is longer
    vanishes = exchange.request(Transfer("out", "napi", peer="vanishes"), clock)
    assert vanishes["vanish"] == {"after": 500_000} and "stall" not in vanishes


@pytest.mark.parametrize("state", ["closed", "established"])
def test_a_program_whose_peer_vanished_is_ended(state):
    """The program may also have ended at that moment, which is no failure."""
    asked = []

    class Guest:
        def call(self, do, **_):
            return {"connections": [{"state": state}]} if do == "collect" else {}

        def check(self, command):
            asked.append(command)
            return "42" if "/stream" in command else "0 10 0 - 1"

    _, told = exchange.talk(Transfer("in", "napi", octets=10), Guest(), None)
    assert told[0]["octets"] == 10
    assert asked[-1].startswith("kill 42 2> /dev/null; ") == (state != "closed")
    # As in the guest's shell, with a process that has ended.
    gone = subprocess.Popen(["true"])
    gone.wait()
    command = asked[-1].replace("42", str(gone.pid)).replace(exchange.RESULT, "/dev/null")
    assert subprocess.run(["sh", "-c", command], capture_output=True).stderr == b""


def test_nuttcp(lab, tmp_path):
    (found,) = records(
        lab, tmp_path, "tcp", "--variant", "napi", "--direction", "out", "--program", "nuttcp"
    )
    assert found["guest"][0]["goodput_mbps"] == 99.5 and found["problems"] == []


@pytest.mark.parametrize(
    "fault, says",
    [
        ("CORRUPTED", "the guest got 1 wrong octets over connection 0, the first one at 3"),
        ("REFUSED", "connection 0: the guest rejected the connection"),
        ("UNEVEN", "it was not steady: an eighth of the octets took"),
        ("MISCOUNT", "/proc/interrupts shows"),
    ],
)
def test_unsound_transfers_are_named(lab, monkeypatch, capsys, fault, says):
    monkeypatch.setenv(f"FAKE_{fault}", "1")
    assert lab("tcp", "--variant", "napi", "--direction", "in") == 1
    assert f"transfer napi in 100 Mb/s is unsound: {says}" in capsys.readouterr().err


def test_a_program_that_fails(lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_FAIL", "/tmp/stream -b 65536 -c 1 -n 4000000 -k 1 in /tmp/result")
    assert lab("tcp", "--variant", "napi", "--direction", "in") == 1
    assert "ended with status 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, says",
    [
        ("tcp --direction inn", "did you mean in?"),
        ("tcp --bytes 0", "1 to 1073741824 octets"),
        ("tcp --user-buffer 0", "1 to 1073741824 octets"),
        ("tcp --connections 65", "1 to 64 connections"),
        ("tcp --window 100", "2048 to 16777216 octets"),
        ("tcp --link 100,99", "10, 100 or 1000"),
        ("tcp --faults dropp", "did you mean drop?"),
        ("tcp --off tsoo", "did you mean tso?"),
        ("tcp --zerocopy --direction out", "add --direction out --nic offload"),
        ("tcp --zerocopy --nic offload --direction out --off sg", "--zerocopy"),
        ("tcp --program nuttcp", "add --direction out"),
        ("tcp --peer stalls", "add --direction out or through"),
        ("tcp --nic liteeth --variant napi", "leave --variant or --nic out"),
        ("receiver --user-buffer 64,big", "'big' is not a number of octets"),
        ("receiver --user-buffer 0", "1 to 1073741824 octets"),
        ("tcp --variant napi --json same --results same", "are the same file"),
        ("receiver --json same --results same", "are the same file"),
    ],
)
def test_wrong_words_are_rejected(lab, capsys, words, says):
    assert lab(*words.split()) == 2 and says in capsys.readouterr().err


# The study ----------------------------------------------------------------------------------------


def test_the_study_has_the_paper_s_buffers(lab, tmp_path, capsys):
    found = records(lab, tmp_path, "receiver")
    assert [each["user_buffer"] for each in found] == list(BUFFERS)
    for each in found:
        assert each["variant"] == "original" and each["socket"] == 32768
        assert each["octets"] >= 3 * each["user_buffer"]
        profile = each["profile"]
        assert profile["receive_queue"] == {
            "mean_skbs": 2.0,
            "mean_segments": 2.0,
            "begun": 1,
            "softirq_percent": 50.0,
        }
        third = profile["cycles"] // 3
        assert profile["contexts"] == {"syscall": third, "softirq": third, "idle": third, "kernel": 0}
        assert profile["segments"]["4"] == profile["segments"]["5"] == third
        assert profile["layers"]["TCP in"] == profile["layers"]["socket"] == third
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("64 B", "4 MiB", "50.0 %", *SEGMENTS.values()))


@pytest.mark.parametrize(
    "stack, where, what",
    [
        ("handle_exception;do_irq;riscv_intc_irq;moderato_rx_interrupt", "hardirq", "2"),
        ("handle_exception;do_irq;irq_exit_rcu;handle_softirqs;moderato_napi_poll", "softirq", "1"),
        (
            "handle_exception;do_irq;irq_exit_rcu;handle_softirqs;tcp_v4_rcv.part.0;memcpy",
            "softirq",
            "4",
        ),
        ("handle_softirqs;tcp_v4_rcv;tcp_rcv_established;__tcp_send_ack", "softirq", "3"),
        ("handle_softirqs;tcp_delack_timer;tcp_send_ack;moderato_start_xmit", "softirq", "8"),
        ("handle_exception;do_trap_ecall_u;sock_recvmsg;tcp_recvmsg;_copy_to_iter", "syscall", "5"),
        ("handle_exception;do_trap_ecall_u;tcp_recvmsg;tcp_cleanup_rbuf;memcpy", "syscall", "6"),
        (
            "handle_exception;do_trap_ecall_u;tcp_recvmsg;handle_exception;do_irq;plic",
            "hardirq",
            "interrupts",
        ),
        ("handle_exception;do_trap_ecall_u;sys_write", "syscall", "program"),
        ("[user]", "user", "program"),
        ("kthread;worker_thread", "kernel", "kernel"),
    ],
)
def test_segments(stack, where, what):
    functions = stack.split(";")
    assert (context(functions), segment(functions)) == (where, what)
    assert what in SEGMENTS


def test_the_queue_from_calls():
    queued, copied = (
        "handle_softirqs;tcp_rcv_established;tcp_queue_rcv",
        "tcp_recvmsg_locked.isra.0;skb_copy_datagram_iter",
    )
    calls = [
        f"{cycle} {stack}"
        for cycle, stack in (
            (1, queued),
            (2, queued),
            (3, queued),
            (3, "handle_softirqs;tcp_rcv_established;kfree_skb_partial"),  # merged with the second
            (4, "tcp_v4_rcv;tcp_add_backlog"),
            (4, "tcp_v4_rcv;tcp_add_backlog"),
            (4, "tcp_v4_rcv;tcp_add_backlog;kfree_skb_partial"),  # two segments in the backlog
            (10, "sys;tcp_recvmsg_locked"),
            (11, copied),
            (12, "tcp_recvmsg_locked.isra.0;sock_rfree"),
            (13, copied),  # continues
            (14, "release_sock;__release_sock;tcp_rcv_established"),
            (14, "release_sock;__release_sock;tcp_rcv_established;tcp_queue_rcv"),
            (15, "handle_softirqs;tcp_v4_rcv;tcp_rcv_established"),
            (16, "tcp_recvmsg_locked;sk_wait_data"),
            (17, copied),
            (20, "tcp_recvmsg_locked;sk_wait_data"),
            (21, copied),
        )
    ]  # after the window
    # Queues of 1 and 2 segments, then of 2 and 2; three segments handled, one of them in a softirq.
    assert receive_queue.figures(calls, 5, 20) == {
        "mean_skbs": 2.0,
        "mean_segments": 3.5,
        "begun": 2,
        "softirq_percent": 33.333,
    }
    assert receive_queue.figures([], 5, 20) == {
        "mean_skbs": None,
        "mean_segments": None,
        "begun": 0,
        "softirq_percent": None,
    }


def test_unsteady_windows():
    even = list(range(0, 900, 100))
    assert figures.unsteady(even) == []
    assert "3.0 times" in figures.unsteady([*even[:-1], even[-2] + 300])[0]
    assert "too few octets for a steady window" in figures.unsteady([])[0]


@pytest.mark.parametrize(
    "window",
    [None, {"start_cycle": 900, "end_cycle": 900, "octets": 0, "parts": [900] * 9, "idle_cycles": [0]}],
)
def test_too_few_octets_have_figures_of_the_whole_transfer(window):
    """If they all arrive at once, the window has no duration, and there is no rate."""
    events = dict.fromkeys(("rx_interrupt", "tx_interrupt", "rx_completed"), 3)
    counts = {
        "segments": {"in": 1, "out": 0},
        "octets": {"in": 1000, "out": 0},
        "acks": {"in": 0, "out": 1},
        "retransmitted": {"in": 0, "out": 0},
        "window": None,
        "round_trip_cycles": None,
    }
    none = counts | {"segments": {"in": 0, "out": 0}}
    port = counts | {
        "steady": window and none,
        "events": events,
        "window_events": window and dict.fromkeys(events, 0),
        "left": {"bad_fcs": 0, "bad_preamble": 0, "short_gap": 0},
    }
    reply = {
        "start_cycle": 500,
        "end_cycle": 1300,
        "octets": 1000,
        "idle_cycles": [400],
        "window": window,
        "ports": [port],
        "quiet": True,
        "connections": [{"number": 0, "state": "closed", "octets": 1000, "corrupted": 0}],
    }
    wanted = Transfer("in", "napi", octets=1000)
    found = figures.figures(wanted, reply, 100_000_000)
    assert found["goodput_mbps"] == 1000.0 and found["cpu_idle_percent"] == 50.0
    assert (found["segments"], found["rx_interrupts"]) == (1, 3)
    served = [{"number": 0, "octets": 1000, "corrupted": 0}]
    assert "too few octets for a steady window" in figures.problems(wanted, reply, served)[0]
