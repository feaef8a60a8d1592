# SPDX-License-Identifier: BSD-2-Clause
"""TCP through an ideal router, with lwIP at both ends: every octet arrives, despite faults on the
way."""

import pytest
from harness_commands import offer, trial
from scapy.layers.inet import IP, TCP
from scapy.utils import PcapReader

OCTETS = 200_000
COLLECT = {"do": "collect"}
MILLISECOND = 100_000  # cycles


def talk(**fields):
    return {"do": "talk", "direction": "through", "octets": OCTETS, "quiet_cycles": 10_000, **fields}


def fault(kind, port, way, segments, frame, **more):
    return dict(kind=kind, port=port, way=way, segments=segments, frame=frame, **more)


@pytest.fixture
def talked(sim):
    """talked(**fields) → the report of a complete talk."""

    def run(**fields):
        started, report = sim(talk(**fields), COLLECT)
        assert started["ok"] and report["ok"] and report["start_cycle"] == started["start_cycle"]
        return report

    return run


def arrived(report, connections=1, octets=OCTETS):
    assert report["done"] and report["quiet"] and len(report["connections"]) == connections
    assert report["octets"] == octets * connections
    for number, connection in enumerate(report["connections"]):
        assert connection["number"] == number and connection["state"] == "closed"
        assert connection["octets"] == octets and connection["checked"]
        assert connection["corrupted"] == 0 and connection["first_corrupted"] is None
        assert connection["error"] is None
        assert report["start_cycle"] < connection["connected_cycle"] < connection["closed_cycle"]
        assert connection["closed_cycle"] <= report["end_cycle"]


def retransmitted(report):
    return [report["ports"][0]["retransmitted"]["in"], report["ports"][1]["retransmitted"]["out"]]


@pytest.mark.parametrize("connections", [1, 2, 17])
def test_every_octet_arrives(talked, connections):
    report = talked(connections=connections)
    arrived(report, connections)
    data = connections * -(-OCTETS // 1448)
    for port, way, back in (0, "in", "out"), (1, "out", "in"):
        figures = report["ports"][port]
        assert figures["octets"] == {way: OCTETS * connections, back: 0}
        assert data <= figures["segments"][way] <= data + connections
        assert figures["segments"][back] == 0
        assert figures["acks"][way] >= 2 * connections  # of the handshake
        assert figures["acks"][back] >= data // 2  # each second segment is acknowledged
        assert figures["left"]["frames"] == figures["left"]["other"]
    assert retransmitted(report) == [0, 0]


def test_the_line_is_full(talked):
    """1448 octets take 1538 octet times of eight cycles each; acknowledgements use the other
    direction."""
    window = talked(octets=2_000_000)["window"]
    cycles = window["end_cycle"] - window["start_cycle"]
    assert window["octets"] / cycles == pytest.approx(1448 / 1538 / 8, rel=0.001)


def test_window_rule(talked):
    report = talked(octets=1_000_000)
    window, parts = report["window"], report["window"]["parts"]
    # The window begins with the segment that completes a fifth.
    assert 800_000 - 1448 < window["octets"] <= 800_000
    assert parts[0] == window["start_cycle"] and parts[8] == window["end_cycle"]
    lengths = [b - a for a, b in zip(parts, parts[1:])]
    assert len(parts) == 9 and min(lengths) == pytest.approx(max(lengths), rel=0.05)
    assert window["idle_cycles"] == [
        pytest.approx((parts[8] - parts[0]) / 4, abs=1)
    ]  # the mock waits in every fourth cycle
    for port, way in (0, "in"), (1, "out"):
        steady = report["ports"][port]["steady"]
        assert steady["octets"][way] == pytest.approx(window["octets"], abs=1448 * 2)
        assert 0 < steady["segments"][way] < report["ports"][port]["segments"][way]
    events = report["ports"][0]["window_events"]["rx_completed"]
    assert events == pytest.approx(report["ports"][0]["steady"]["segments"]["in"], abs=1)


def test_round_trips(talked):
    """A frame leaves the ideal router two cycles after its last bit arrived. A full segment is a frame
    of 1518 octets. An acknowledgement with time stamps is one of 70, and passes two lines."""
    report = talked()
    trip = report["ports"][0]["round_trip_cycles"]
    forward = 2 + 8 * 8 + 1518 * 8
    assert trip["min"] == pytest.approx(forward + 2 * 8 * 8 + 2 + 2 * 70 * 8, abs=16)
    assert trip["min"] <= trip["median"] <= trip["p99"] <= trip["max"]
    assert report["ports"][1]["round_trip_cycles"]["min"] == pytest.approx((8 + 70) * 8, abs=2)


LOST = [
    fault("drop", 0, "in", "data", 40),
    fault("drop", 1, "out", "data", 40),
    fault("drop", 0, "in", "data", 40, every=30),
    fault("damage", 0, "in", "data", 40),
    fault("damage", 1, "out", "data", 40),
]


@pytest.mark.parametrize("what", LOST, ids=lambda what: f"{what['kind']}-{what['way']}")
def test_lost_data_is_retransmitted(talked, what):
    report = talked(faults=[what])
    arrived(report)
    times = 1 + (139 - 40) // what["every"] if "every" in what else 1
    # Frames that are lost at the input never leave.
    lost_inside = what["way"] == "in" and what["kind"] == "drop"
    again, again_out = retransmitted(report)
    assert again >= times and (again_out == 0) == lost_inside
    assert again == 1 or "every" in what


@pytest.mark.parametrize("port, way", [(0, "in"), (1, "out")])
def test_wrong_octets_are_found(talked, port, way):
    """Faults that no checksum detects: exchanged words."""
    report = talked(faults=[fault("scramble", port, way, "data", 20, every=100)])
    (connection,) = report["connections"]
    assert connection["state"] == "closed" and connection["octets"] == OCTETS
    assert 6 <= connection["corrupted"] <= 8 and connection["first_corrupted"] == 20 * 1448


def test_without_comparison_nothing_is_wrong(talked):
    report = talked(check=False, faults=[fault("scramble", 0, "in", "data", 20)])
    assert report["done"] and not report["connections"][0]["checked"]
    assert report["connections"][0]["corrupted"] == 0


def test_a_damaged_frame_is_counted_where_it_leaves(talked):
    report = talked(faults=[fault("damage", 1, "out", "data", 7)])
    assert report["ports"][1]["left"]["bad_fcs"] == 1


@pytest.mark.parametrize(
    "what",
    [
        fault("drop", 0, "out", "other", 9, every=3),
        fault("drop", 1, "in", "other", 9, every=3),
        fault("damage", 0, "out", "other", 9, every=3),
        fault("duplicate", 0, "out", "other", 9, every=4),
        fault("swap", 1, "in", "other", 9, every=4),
    ],
    ids=lambda what: f"{what['kind']}-{what['way']}",
)
def test_later_acknowledgements_cover_lost_ones(talked, what):
    report = talked(faults=[what])
    arrived(report)
    assert retransmitted(report) == [0, 0]


@pytest.mark.parametrize("port, way", [(0, "in"), (1, "out")])
def test_doubled_data(talked, port, way):
    report = talked(faults=[fault("duplicate", port, way, "data", 10, every=10)])
    arrived(report)
    doubled = len(range(10, 139, 10))
    # Duplicated after the meter at the output.
    assert retransmitted(report) == ([doubled] * 2 if way == "in" else [0, 0])


@pytest.mark.parametrize("port, way", [(0, "in"), (1, "out")])
def test_swapped_data(talked, port, way):
    report = talked(faults=[fault("swap", port, way, "data", 10, every=10)])
    arrived(report)
    assert retransmitted(report) == [0, 0]  # two extra acknowledgements are not three


def test_a_lost_handshake_takes_a_second(talked):
    report = talked(faults=[fault("drop", 0, "in", "all", 0)])
    arrived(report)
    connected = report["connections"][0]["connected_cycle"]
    assert connected == pytest.approx(report["start_cycle"] + 1000 * MILLISECOND, rel=0.01)


def test_a_reader_that_pauses_closes_its_window(talked):
    pause = 30 * MILLISECOND
    report = talked(window=32768, stall={"after": 50_000, "cycles": pause})
    arrived(report)
    assert report["ports"][0]["window"]["min"] < 1448
    (closed,) = (c["closed_cycle"] for c in report["connections"])
    (plain,) = (c["closed_cycle"] for c in talked(window=32768)["connections"])
    # Until the window is closed, data keeps arriving.
    assert closed - plain == pytest.approx(pause - 32768 / 1448 * 1538 * 8, rel=0.02)


@pytest.mark.parametrize("window, scale", [(32768, 0), (1 << 20, 5), (16 << 20, 9)])
def test_window_is_the_one_asked_for(talked, tmp_path, window, scale):
    report = talked(window=window, pcap=str(tmp_path))
    arrived(report)
    offered = report["ports"][0]["window"]
    assert offered["max"] == window and offered["min"] <= offered["mean"] <= window
    syn = next(iter(PcapReader(str(tmp_path / "port0-in.pcap"))))[TCP]
    assert dict(syn.options)["WScale"] == scale


def test_small_window(talked):
    report = talked(window=2048, octets=20_000)
    arrived(report, octets=20_000)
    assert report["ports"][0]["window"]["max"] == 2048


@pytest.mark.slow
def test_vanished_peer_times_out(talked):
    report = talked(vanish={"after": 50_000})
    (connection,) = report["connections"]
    assert connection["state"] == "timed out" and "answers no more" in connection["error"]
    assert 50_000 <= connection["octets"] < 52_000
    assert not report["done"] and report["quiet"] and report["window"] is None
    assert report["ports"][0]["retransmitted"]["in"] == 4
    assert connection["closed_cycle"] == pytest.approx(4600 * MILLISECOND, rel=0.03)


@pytest.mark.slow
def test_no_listener(sim):
    """The mock has no TCP of its own."""
    _, towards = sim(talk(direction="in"), COLLECT)
    (connection,) = towards["connections"]
    assert connection["state"] == "timed out" and connection["error"] == "nobody answers"
    assert connection["connected_cycle"] is None and towards["quiet"]
    _, from_guest = sim(talk(direction="out", max_cycles=100_000), COLLECT)
    assert from_guest["connections"][0]["state"] == "connecting"
    assert not from_guest["done"] and not from_guest["quiet"]


def test_rejected_connection(talked):
    report = talked(refuse=True, connections=2, tcp_port=7777)
    assert [c["state"] for c in report["connections"]] == ["refused"] * 2
    assert report["connections"][1]["error"] == "nobody listens at TCP port 7777"
    assert not report["done"]


def test_reset(talked):
    report = talked(reset={"after": 50_000})
    assert report["connections"][0]["state"] == "reset" and not report["done"]
    assert "as asked" in report["connections"][0]["error"]


def test_in_the_background(sim):
    """Other commands run meanwhile. Only one command can use the lines, and none is saved in a
    checkpoint."""
    replies = sim(
        talk(),
        {"do": "run", "cycles": 1_000_000},
        {"do": "status"},
        {"do": "save", "file": "x"},
        {"do": "restore", "file": "x"},
        talk(),
        trial(offer()),
        COLLECT,
        {"do": "save", "file": "x"},
        COLLECT,
    )
    assert [reply["ok"] for reply in replies] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
        True,
        True,
        False,
    ]
    half, end = replies[2], replies[7]
    assert 0 < half["octets"] < OCTETS and half["connections"][0]["state"] == "open"
    assert half["window"] is None and not half["done"] and not half["quiet"]
    assert all("connections are open; collect them first" in replies[n]["error"] for n in range(3, 7))
    arrived(end)


def test_progress(sim):
    sim(talk(octets=6_000_000), COLLECT)
    assert sim.progress and sim.progress[-1]["all_octets"] == 6_000_000
    moved = [line["octets"] for line in sim.progress]
    assert moved == sorted(moved) and moved[0] < moved[-1] <= 6_000_000


def without_clock(replies):
    return [{k: v for k, v in reply.items() if not k.endswith("seconds")} for reply in replies]


def test_reports_are_reproducible(sim, tmp_path):
    """Also after earlier connections of the same process. A trial after them gives the usual report."""
    asked = talk(
        connections=3, faults=[fault("drop", 0, "in", "data", 40, every=50)], pcap=str(tmp_path)
    )
    captured = ["port0-in.pcap", "port1-in.pcap", "port0-out.pcap", "port1-out.pcap"]

    def run(before):
        *_, restored, _, report, tested = sim(
            *before, {"do": "restore", "file": "x"}, asked, COLLECT, trial(offer())
        )
        assert restored["ok"]
        return without_clock([report, tested]), [(tmp_path / name).read_bytes() for name in captured]

    sim({"do": "run", "cycles": 1000}, {"do": "save", "file": "x"})
    first = run([])
    second = run([talk(octets=30_000), COLLECT, {"do": "run", "cycles": 77}])
    assert first == second
    (alone,) = sim({"do": "restore", "file": "x"}, trial(offer()))[1:]
    port = first[0][1]["ports"][0]
    assert port["forwarded"] == 100 and port["latency_cycles"] == alone["ports"][0]["latency_cycles"]


def test_seed(talked, tmp_path):
    def payload(seed):
        talked(octets=1000, seed=seed, pcap=str(tmp_path))
        return b"".join(bytes(p[TCP].payload) for p in data(tmp_path / "port0-in.pcap"))

    one, other = payload(1), payload(2)
    assert len(one) == len(other) == 1000 and sum(a == b for a, b in zip(one, other)) < 30
    # the same as soc/linux/stream/pattern.h
    word = (5 + 0x9E3779B9) * 2654435761 % 2**32
    assert one[20:24] == (word ^ word >> 15).to_bytes(4, "little")


def data(path):
    return [p for p in PcapReader(str(path)) if p[IP].len > p[IP].ihl * 4 + p[TCP].dataofs * 4]


def test_capture(talked, tmp_path):
    lost = fault("drop", 1, "out", "data", 60)
    talked(connections=2, pcap=str(tmp_path), faults=[lost])
    frames = list(PcapReader(str(tmp_path / "port0-in.pcap")))
    options = dict(frames[0][TCP].options)
    assert options["MSS"] == 1460 and options["SAckOK"] == b"" and "Timestamp" in options
    assert [f[TCP].sport for f in frames[:2]] == [49152, 49153] and frames[0][TCP].dport == 5001
    assert (frames[0][IP].src, frames[0][IP].dst) == ("198.18.0.2", "198.19.0.2")
    full = data(tmp_path / "port0-in.pcap")
    assert max(len(p[TCP].payload) for p in full) == 1448 and len(full) >= 2 * OCTETS // 1448
    for name in "port0-in", "port0-out", "port1-in", "port1-out":
        for frame in PcapReader(str(tmp_path / f"{name}.pcap")):
            again = IP(bytes(frame[IP]))
            del again.chksum, again[TCP].chksum
            again = IP(bytes(again))
            assert again.chksum == frame[IP].chksum and again[TCP].chksum == frame[TCP].chksum
    acks = list(PcapReader(str(tmp_path / "port1-in.pcap")))
    assert any("SAck" in dict(f[TCP].options) for f in acks)


def test_capture_into_a_missing_folder(sim, tmp_path):
    (started,) = sim(talk(pcap=str(tmp_path / "gone")))
    assert not started["ok"] and "gone" in started["error"]


@pytest.mark.parametrize(
    "fields, error",
    [
        ({"direction": "up"}, "direction 'up' is none of in, out, through"),
        ({"connections": 0}, "connections: 0 is not within 1 to 64"),
        ({"connections": 65}, "connections: 65"),
        ({"octets": 0}, "octets: 0 is not within 1 to 4294967296"),
        ({"octets": 2**32 + 1}, "octets: 4294967297"),
        ({"octets": "many"}, 'octets: "many"'),
        ({"direction": "in", "octets": 0, "check": False}, "octets: 0"),
        ({"window": 2047}, "window: 2047 is not within 2048 to 16777216"),
        ({"window": 2**24 + 1}, "window: 16777217"),
        ({"port": 2}, "port: 2"),
        ({"tcp_port": 0}, "tcp_port: 0"),
        ({"tcp_port": 49152}, "tcp_port: 49152"),
        ({"seed": -1}, "seed: -1"),
        ({"check": 1}, "check: 1"),
        ({"begin": 5}, "begin: "),
        ({"direction": "in", "stall": {"after": 1, "cycles": 1}}, "stall: with 'in' the guest receives"),
        ({"direction": "out", "refuse": True}, "refuse: "),
        ({"stall": {"after": 1}}, "cycles: is missing"),
        ({"vanish": 5}, "vanish: is no object"),
        ({"vanish": {"after": 0}}, "after: 0"),
        ({"faults": [fault("bend", 0, "in", "data", 1)]}, "faults: kind 'bend' is none of drop, dam"),
        ({"faults": [fault("drop", 0, "up", "data", 1)]}, "faults: way 'up' is none of in, out"),
        ({"faults": [fault("drop", 0, "in", "syn", 1)]}, "faults: segments 'syn' is none of data, "),
        ({"faults": [fault("drop", 2, "in", "data", 1)]}, "port: 2"),
        ({"link_mbps": 7}, "link_mbps: 7"),
    ],
)
def test_wrong_fields(sim, fields, error):
    started, collected = sim(talk(**fields), COLLECT)
    assert not started["ok"] and error in started["error"]
    assert not collected["ok"] and "offer or talk first" in collected["error"]


@pytest.mark.parametrize("windowed", [False, True])
def test_profile_of_the_window(sim, tmp_path, windowed):
    (tmp_path / "symbols").write_text("")
    _, _, report, profile = sim(
        {"do": "profile", "symbols": "symbols", "window": windowed},
        talk(),
        COLLECT,
        {"do": "profile", "stop": "out"},
    )
    window = report["window"]
    assert (profile["harts"][0]["cycles"] == window["end_cycle"] - window["start_cycle"]) == windowed
    assert ([profile["harts"][0]["causes"]["idle"]] == window["idle_cycles"]) == windowed
