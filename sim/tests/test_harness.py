# SPDX-License-Identifier: BSD-2-Clause
"""moderato-sim around a mock of the SoC (mock/sim.sv): an ideal router, and a console that echoes."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.utils import PcapReader, wrpcap

from moderato.sim.harness.build import simulator

MOCK = Path(__file__).parent / "mock"
ROM = b"MOCK\n# \0"
MAILBOX = 0x4000_1000
GUEST, TESTER = "02:4d:6f:64:00:0{}", "02:54:73:74:00:0{}"


@pytest.fixture(scope="session")
def binary():
    return simulator(MOCK)


@pytest.fixture
def sim(binary, tmp_path):
    """sim(*commands, *, options) → replies; `# ` is printed first unless a checkpoint is restored."""
    (tmp_path / "rom").write_bytes(ROM)

    def run(*commands, restore=None, status=0, options=()):
        start = ["--restore", restore] if restore else ["--load", f"{tmp_path}/rom@0"]
        lines = "".join(json.dumps(command) + "\n" for command in commands)
        done = subprocess.run([binary, *start, *options, "--script", "-"], input=lines, text=True,
                              capture_output=True, timeout=120, cwd=tmp_path)
        assert done.returncode == status, done.stderr
        run.errors = done.stderr
        replies = [json.loads(line) for line in done.stdout.splitlines()]
        return [reply for reply in replies if "progress" not in reply]

    return run


PROMPT = {"do": "expect", "text": "# ", "max_cycles": 100_000}


def offer(frame_bytes=64, load_percent=100, frames=100, **more):
    return {"frame_bytes": frame_bytes, "load_percent": load_percent, "frames": frames, **more}


def trial(*ports, **fields):
    return {"do": "trial", "ports": list(ports), "quiet_cycles": 10_000, **fields}


def without_time(reply):
    return {key: value for key, value in reply.items() if not key.endswith("_seconds")}


# Console and memory -------------------------------------------------------------------------------

def test_console_prints_and_echoes(sim, tmp_path):
    prompt, _, echo, rest = sim(PROMPT, {"do": "send", "text": "hello world"},
                                {"do": "expect", "text": "lo wo", "max_cycles": 100_000}, {"do": "console"},
                                options=["--console", tmp_path / "log"])
    assert prompt["ok"] and prompt["output"] == "MOCK\n# "
    assert echo["output"] == "hello wo" and echo["cycle"] > prompt["cycle"]
    assert rest["output"] == ""
    assert (tmp_path / "log").read_text() == "MOCK\n# hello wo"


def test_expect_gives_up_at_the_cycle_limit(sim):
    prompt, failed, after = sim(PROMPT, {"do": "expect", "text": "never", "max_cycles": 5000}, {"do": "run", "cycles": 3})
    assert not failed["ok"] and "never" in failed["error"] and failed["cycle"] == prompt["cycle"] + 5000
    assert after["ok"] and after["cycle"] == failed["cycle"] + 3


def test_mailbox(sim, tmp_path):
    (tmp_path / "file").write_bytes(b"content of the file")
    *_, sent, printed = sim(PROMPT, {"do": "mailbox", "file": "file", "address": MAILBOX},
                            {"do": "send", "text": "!"}, {"do": "expect", "text": "file", "max_cycles": 100_000})
    assert printed["output"] == "!content of the file"


@pytest.mark.parametrize("address, message", [(0x4000_FFF0, "do not fit"), (0x8000_0000, "neither in RAM nor in ROM")])
def test_mailbox_outside_of_memory(sim, tmp_path, address, message):
    (tmp_path / "file").write_bytes(bytes(64))
    (reply,) = sim({"do": "mailbox", "file": "file", "address": address})
    assert not reply["ok"] and message in reply["error"]


# Trials -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [64, 65, 66, 67, 512, 1518])
@pytest.mark.parametrize("mbps", [10, 100, 1000])
def test_every_frame_is_checked(sim, size, mbps):
    frames = 20
    (reply,) = sim(trial(offer(size, frames=frames), offer(size, frames=frames, phase=3), link_mbps=mbps))[0:1]
    assert reply["quiet"]
    octet = 800 / mbps
    for port in reply["ports"]:
        assert port["offered"] == port["forwarded"] == frames and port["lost"] == port["corrupted"] == 0
        assert port["left"] == {"frames": frames, "test": frames, "arp": 0, "other": 0, "bad_fcs": 0,
                                "bad_preamble": 0, "short_gap": 0, "unrecognised": 0}
        # Store and forward: two registers after the last bit in, preamble and SFD, first bit out.
        assert abs(port["latency_cycles"]["min"] - (8 * octet + 2)) <= 1 + (octet < 1) * octet * 4
        assert port["events"]["rx_completed"] == frames
    slots = (frames - 1) * (8 + size + 12) + 8 + size
    assert reply["offered_cycle"] - reply["start_cycle"] == pytest.approx(slots * octet + 3, abs=1)


def test_load_and_window(sim):
    (reply,) = sim(trial(offer(64, 50, 1000), None))
    slot = 84 * 8 / 0.5
    assert reply["offered_cycle"] - reply["start_cycle"] == 999 * slot + 72 * 8
    window, flow = reply["window"], reply["ports"][0]["window"]
    assert window["start_cycle"] - reply["start_cycle"] == 199 * slot + 72 * 8
    assert window["end_cycle"] == reply["offered_cycle"]
    assert flow == {"offered": 800, "forwarded": 800}  # one that came in before, one that leaves after
    length = window["end_cycle"] - window["start_cycle"]
    assert window["idle_cycles"] == [pytest.approx(length / 4, abs=1)]  # the mock waits every fourth cycle


def test_fractional_load_accumulates_no_error(sim):
    (reply,) = sim(trial(offer(64, 33.3333, 3000), None, link_mbps=1000))
    exact = 2999 * 84 * 0.8 / 0.333333 + 72 * 0.8
    assert reply["offered_cycle"] - reply["start_cycle"] == pytest.approx(exact, abs=2)
    assert reply["ports"][0]["forwarded"] == 3000


def test_trial_in_the_background(sim):
    replies = sim(PROMPT, {"do": "offer", "ports": [offer(frames=2000)], "quiet_cycles": 10_000},
                  {"do": "send", "text": "ab"}, {"do": "expect", "text": "ab", "max_cycles": 100_000},
                  {"do": "save", "file": "x"}, {"do": "collect"}, {"do": "collect"})
    assert [reply["ok"] for reply in replies] == [True, True, True, True, False, True, False]
    assert replies[3]["cycle"] < replies[5]["offered_cycle"] and replies[5]["ports"][0]["forwarded"] == 2000


# The checker notices ------------------------------------------------------------------------------

def faulty(sim, size=128, **fault):
    (reply,) = sim(trial(offer(size, frames=50), None, faults=[{"port": 1, "frame": 7, **fault}]))
    return reply["ports"][0], reply["ports"][1]["left"]


@pytest.mark.parametrize("octet, where", [
    (0, "addresses"), (11, "addresses"), (18, "header"), (22, "header"), (25, "header"), (34, "header"),
    (52, "payload"), (100, "payload"), (123, "payload"), (42, "unrecognised"), (49, "unrecognised"),
])
@pytest.mark.parametrize("bit", [0, 7])
def test_a_changed_octet_is_noticed_even_with_good_fcs(sim, octet, bit, where):
    flow, left = faulty(sim, kind="flip", octet=octet, bit=bit, fcs="repair")
    assert flow["forwarded"] == 49 and flow["lost"] == 1 and flow["corrupted"] == 1
    assert flow["corruption"][where] == 1


@pytest.mark.parametrize("octet", [0, 13, 60, -5, -4, -1])
def test_a_wrong_fcs_is_noticed(sim, octet):
    flow, left = faulty(sim, kind="flip", octet=octet)
    assert (flow["forwarded"], flow["corrupted"], flow["corruption"]["fcs"], left["bad_fcs"]) == (49, 1, 1, 1)


def test_no_octet_of_a_frame_is_unchecked(sim):
    """Each octet of a frame changed, with its FCS repaired, one after the other."""
    size = 64
    faults = [{"port": 1, "frame": n, "kind": "flip", "octet": n, "bit": n % 8, "fcs": "repair"}
              for n in range(size - 4)]
    (reply,) = sim(trial(offer(size, frames=size - 4), None, faults=faults))
    flow, left = reply["ports"][0], reply["ports"][1]["left"]
    assert flow["forwarded"] == 0
    assert flow["corrupted"] + left["arp"] + left["other"] == size - 4
    assert left["other"] <= 6  # the octets that make it a test frame: type, IP version, protocol, UDP port


def test_loss_duplication_and_reordering_are_noticed(sim):
    assert faulty(sim, kind="drop")[0]["lost"] == 1
    flow = faulty(sim, kind="duplicate")[0]
    assert (flow["forwarded"], flow["duplicated"], flow["reordered"]) == (50, 1, 0)
    flow = faulty(sim, kind="swap")[0]
    assert (flow["forwarded"], flow["duplicated"], flow["reordered"]) == (50, 0, 1)


def test_frames_that_were_not_rewritten_are_no_forwarded_ones(sim):
    (reply,) = sim(trial(offer(frames=10), None, device="wire"))
    assert reply["ports"][0]["forwarded"] == 0 and reply["ports"][0]["corruption"]["addresses"] == 10


# Checkpoints --------------------------------------------------------------------------------------

def test_a_restored_run_is_the_same_to_the_bit(sim, tmp_path):
    later = [trial(offer(100, 80, 200), offer(1518, 100, 20, phase=5)), {"do": "send", "text": "abcdef"},
             {"do": "expect", "text": "bcd", "max_cycles": 100_000}, {"do": "counters"}]
    first = [PROMPT, {"do": "send", "text": "hello"}, {"do": "run", "cycles": 2345},
             {"do": "save", "file": "middle"}]
    straight = sim(*first, *later, {"do": "save", "file": "one"})[len(first):]
    restored = sim(*later, {"do": "save", "file": "two"}, restore="middle")
    assert list(map(without_time, straight)) == list(map(without_time, restored))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def damage(path, mend):
    path.write_bytes(mend(path.read_bytes()))


@pytest.mark.parametrize("mend, message", [
    (lambda b: b[:-1], "is damaged"),
    (lambda b: b[:100], "is damaged"),
    (lambda b: b[:20], "is not a checkpoint"),
    (lambda b: b"", "is not a checkpoint"),
    (lambda b: b[:150] + bytes([b[150] ^ 1]) + b[151:], "is damaged"),
    (lambda b: b + b"x", "is damaged"),
    (lambda b: b"x" + b[1:], "is not a checkpoint"),
    (lambda b: b[:12] + b"0" * 32 + b[44:], "another build"),
    (lambda b: b[:8] + b"\xff" + b[9:], "checkpoint format"),
], ids=["truncated", "head-only", "short", "empty", "bit", "longer", "magic", "build", "format"])
def test_unusable_checkpoints_are_refused(sim, tmp_path, mend, message):
    sim(PROMPT, {"do": "save", "file": "c"})
    damage(tmp_path / "c", mend)
    sim(restore="c", status=3)
    assert message in sim.errors and sim.errors.count("\n") == 1
    kept, refused, after = sim(PROMPT, {"do": "restore", "file": "c"}, {"do": "counters"})
    assert not refused["ok"] and after["cycle"] == kept["cycle"]


def test_a_missing_checkpoint(sim):
    sim(restore="nowhere", status=3)
    assert "No such file" in sim.errors and sim.errors.count("\n") == 1


def test_a_full_disk_leaves_nothing(sim, binary, tmp_path):
    """Writing beyond the file size limit fails as on a full disk."""
    small = "import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
    small += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    (tmp_path / "rom").write_bytes(ROM)
    lines = "\n".join(json.dumps(c) for c in [PROMPT, trial(offer(frames=10)), {"do": "save", "file": "c"}])
    done = subprocess.run(["python3", "-c", small, binary, "--load", "rom@0", "--script", "-"], input=lines,
                          text=True, capture_output=True, cwd=tmp_path)
    saved = json.loads(done.stdout.splitlines()[-1])
    assert not saved["ok"] and "cannot be written" in saved["error"]
    assert sorted(os.listdir(tmp_path)) == ["rom"]


# Replay, captures, ARP ----------------------------------------------------------------------------

def packet(n, size=80):
    head = Ether(dst=GUEST.format(0), src=TESTER.format(0)) / IP(src="198.18.0.9", dst="198.19.0.9", ttl=10 + n)
    return head / UDP(sport=n, dport=9) / bytes(size)


def test_replay_keeps_the_times(sim, tmp_path):
    packets = [packet(n) for n in range(10)]
    for n, item in enumerate(packets):
        item.time = 1000 + n * 0.001
    wrpcap(str(tmp_path / "in"), packets, nano=True)
    (reply,) = sim({"do": "replay", "in": ["in", None], "out": [None, "out"], "quiet_cycles": 10_000})
    assert reply["ok"] and reply["ports"][0]["offered"] == 10 and reply["ports"][1]["left"]["other"] == 10
    left = list(PcapReader(str(tmp_path / "out")))
    assert [p[IP].ttl for p in left] == [9 + n for n in range(10)]
    for item in left:  # scapy as the independent judge
        assert item.src == GUEST.format(1) and item.dst == TESTER.format(1)
        good = IP(bytes(item[IP]))
        del good.chksum
        assert item[IP].chksum == IP(bytes(good)).chksum
    gaps = {round((b.time - a.time) * 10**9) for a, b in zip(left, left[1:])}
    assert gaps == {1_000_000}


def test_replay_back_to_back(sim, tmp_path):
    wrpcap(str(tmp_path / "in"), [packet(n) for n in range(10)])
    (reply,) = sim({"do": "replay", "in": ["in"], "timing": "back-to-back", "quiet_cycles": 0})
    size = 14 + 20 + 8 + 80 + 4
    assert reply["end_cycle"] - reply["start_cycle"] == (10 * (8 + size + 12) - 12) * 8


@pytest.mark.parametrize("spoil, message", [
    (lambda b: b[:-1], "truncated in record 3"), (lambda b: b[:30], "truncated in record 1"),
    (lambda b: b[:10], "truncated inside the pcap header"), (lambda b: b"GET / HTTP", "is not a pcap file"),
    (lambda b: b"", "is not a pcap file"), (lambda b: b[:20] + b"\x65" + b[21:], "not Ethernet"),
])
def test_unusable_pcaps_are_refused(sim, tmp_path, spoil, message):
    wrpcap(str(tmp_path / "in"), [packet(n) for n in range(3)])
    damage(tmp_path / "in", spoil)
    (reply,) = sim({"do": "replay", "in": ["in"], "out": [None, "out"]})
    assert not reply["ok"] and message in reply["error"] and reply["cycle"] == 0
    assert not (tmp_path / "out").exists()


def test_a_missing_pcap(sim):
    (reply,) = sim({"do": "replay", "in": ["nowhere"]})
    assert not reply["ok"] and "nowhere" in reply["error"] and "No such file" in reply["error"]


def test_capture_of_a_trial(sim, tmp_path):
    (reply,) = sim(trial(offer(200, 50, 30), offer(64, 100, 10), pcap=str(tmp_path)))
    went = list(PcapReader(str(tmp_path / "port0-in.pcap")))
    left = list(PcapReader(str(tmp_path / "port1-out.pcap")))
    assert len(went) == len(left) == 30 and len(list(PcapReader(str(tmp_path / "port1-in.pcap")))) == 10
    assert went[0].dst == GUEST.format(0) and len(went[0]) == 196 and went[0][UDP].dport == 7
    good = IP(bytes(went[0][IP]))
    del good.chksum
    assert IP(bytes(good)).chksum == went[0][IP].chksum
    assert [bytes(a[UDP].payload) for a in went] == [bytes(b[UDP].payload) for b in left]
    latency = reply["ports"][0]["latency_cycles"]["median"]
    assert round((left[0].time - went[0].time) * 10**9) == (latency + 200 * 8) * 10


def request(address):
    arp = ARP(op=1, hwsrc=GUEST.format(1), psrc="198.19.0.1", pdst=address)
    return Ether(src=GUEST.format(1), dst="ff:ff:ff:ff:ff:ff") / arp


def test_the_tester_answers_arp_for_its_own_address_only(sim, tmp_path):
    """A request passes from port 0 to port 1, where the tester answers; the answer comes out of port 0."""
    wrpcap(str(tmp_path / "in"), [request("198.19.0.77"), request("198.18.0.2"), request("198.19.0.2")])
    (reply,) = sim({"do": "replay", "in": ["in"], "out": ["out"], "timing": "back-to-back", "quiet_cycles": 10_000})
    assert [port["left"]["arp"] for port in reply["ports"]] == [1, 3]
    (answer,) = PcapReader(str(tmp_path / "out"))
    assert (answer.src, answer.dst) == (TESTER.format(1), GUEST.format(1))
    assert (answer[ARP].op, answer[ARP].hwsrc, answer[ARP].psrc) == (2, TESTER.format(1), "198.19.0.2")
    assert (answer[ARP].hwdst, answer[ARP].pdst) == (GUEST.format(1), "198.19.0.1")


def test_an_answer_waits_for_a_free_line(sim, tmp_path):
    """Scheduled frames keep their cycles: the answer is sent after them, or in a gap that is large enough."""
    ask = request("198.19.0.2")
    ask.time = 0
    wrpcap(str(tmp_path / "ask"), [ask])
    for timing, last in (("back-to-back", True), ("timestamps", False)):
        packets = [packet(n) for n in range(20)]
        for n, item in enumerate(packets):
            item.time = n * 0.001
        wrpcap(str(tmp_path / "busy"), packets)
        (reply,) = sim({"do": "replay", "in": ["ask", "busy"], "out": ["out"], "timing": timing, "quiet_cycles": 10_000})
        left = [ARP in item for item in PcapReader(str(tmp_path / "out"))]
        assert reply["ports"][0]["left"]["short_gap"] == 0
        assert len(left) == 21 and left.index(True) == (20 if last else 1)


# Malformed frames: the mock passes IPv4 by its type alone, so they show at the tester.
def test_frames_on_the_wire_as_given(sim, tmp_path):
    good = bytes(packet(0))
    frames = [{"hex": good.hex()}, {"hex": good.hex(), "fcs": "bad"}, {"hex": good[:20].hex(), "gap": 5},
              {"hex": "ff"}, {"hex": (good + bytes(3000)).hex(), "fcs": "none"}, {"hex": good.hex(), "gap": 96}]
    (reply,) = sim({"do": "replay", "in": [frames], "out": [None, "out"], "quiet_cycles": 10_000})
    assert reply["ok"] and reply["ports"][0]["offered"] == len(frames)
    assert reply["ports"][1]["left"]["frames"] == 5  # not the one of one octet: it has no type


@pytest.mark.parametrize("frame, message", [
    ({"hex": "f"}, "odd"), ({"hex": "xy"}, "hexadecimal"), ({"hex": "00", "fcs": "?"}, "fcs"), ({}, "hex")])
def test_wrong_frames_are_refused(sim, frame, message):
    (reply,) = sim({"do": "replay", "in": [[frame]]})
    assert not reply["ok"] and message in reply["error"]


# Wrong commands -----------------------------------------------------------------------------------

@pytest.mark.parametrize("command, message", [
    (trial(offer(63)), "frame_bytes"), (trial(offer(1519)), "frame_bytes"), (trial(offer(load_percent=0)), "load_percent"),
    (trial(offer(load_percent=100.1)), "load_percent"), (trial(offer(frames=0)), "frames"), (trial(), "ports"),
    (trial(offer(), offer(), offer()), "ports"), (trial(offer(), link_mbps=40), "link"),
    (trial(offer(), pcap="/nowhere"), "/nowhere"), ({"do": "run"}, "cycles"), ({"do": "dance"}, "dance"),
    ({"do": "save", "file": "/nowhere/c"}, "/nowhere/c"), ({"do": "expect", "text": ""}, "empty"), ({}, "do"),
    ({"do": "profile", "every": 0}, "every"), ({"do": "profile", "stop": "x"}, "none is under way"),
])
def test_wrong_commands_are_refused_and_the_run_goes_on(sim, command, message):
    reply, after = sim(command, {"do": "run", "cycles": 5})
    assert not reply["ok"] and message in reply["error"] and "\n" not in reply["error"]
    assert after["ok"] and after["cycle"] == 5


@pytest.mark.parametrize("words", [["--load", "x"], ["--load", "x@y", "--script", "-"], ["--dance"], [], ["--restore"],
                                   ["--script", "-", "--interactive"]])
def test_wrong_usage(binary, words):
    done = subprocess.run([binary, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and done.stderr.startswith("moderato-sim: ")


# Profile, progress, signals, terminal -------------------------------------------------------------

def test_profile(sim, tmp_path):
    sim({"do": "profile", "every": 1}, {"do": "run", "cycles": 8000}, {"do": "profile", "stop": "all"},
        {"do": "profile", "every": 7}, {"do": "run", "cycles": 7000}, {"do": "profile", "stop": "sampled"})
    rows = [line.split() for line in (tmp_path / "all").read_text().splitlines()]
    assert sum(int(count) for *_, count in rows) == pytest.approx(4000, abs=2)
    assert {pc for _, pc, _ in rows} == {hex(0x0C000000 + 8 * n).replace("0xc", "0x0c") for n in range(8)}
    rows = [line.split() for line in (tmp_path / "sampled").read_text().splitlines()]
    assert sum(int(count) for *_, count in rows) == pytest.approx(1000, abs=2)
    assert dict((row[0], int(row[2])) for row in rows)["idle"] == pytest.approx(250, abs=2)


def test_progress_and_interruption(binary, tmp_path):
    (tmp_path / "rom").write_bytes(ROM)
    process = subprocess.Popen([binary, "--load", f"{tmp_path}/rom@0", "--script", "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    process.stdin.write(json.dumps({"do": "run", "cycles": 10**12}) + "\n")
    process.stdin.flush()
    state = json.loads(process.stdout.readline())["progress"]
    assert state["do"] == "run" and state["of"] == 10**12 and 0 < state["cycles"] < 10**12
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    process.stdin.close()
    process.stdout.close()
    assert sorted(os.listdir(tmp_path)) == ["rom"]


def test_interactive_on_a_terminal(binary, tmp_path):
    import pty
    import termios
    (tmp_path / "rom").write_bytes(ROM)
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = subprocess.Popen([binary, "--load", f"{tmp_path}/rom@0", "--interactive"], stdin=theirs, stdout=theirs)
    seen = b""
    while b"# " not in seen:
        seen += os.read(ours, 100)
    os.write(ours, b"echo")
    while b"echo" not in seen:
        seen += os.read(ours, 100)
    os.write(ours, b"\x01x")
    assert process.wait(timeout=10) == 0
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


def test_interactive_from_a_pipe(binary, tmp_path):
    (tmp_path / "rom").write_bytes(ROM)
    done = subprocess.run([binary, "--load", f"{tmp_path}/rom@0", "--interactive"], input=b"typed", capture_output=True)
    assert done.returncode == 0 and done.stdout == b"MOCK\n# typed"
