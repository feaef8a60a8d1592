# SPDX-License-Identifier: BSD-2-Clause
"""Trials through an ideal router: all frames arrive, in the calculated cycles."""

import pytest
from harness_commands import GUEST, PROMPT, offer, trial
from scapy.layers.inet import IP, UDP
from scapy.utils import PcapReader


@pytest.mark.parametrize("size", [64, 65, 66, 67, 512, 1518])
@pytest.mark.parametrize("mbps", [10, 100, 1000])
def test_every_frame_is_checked(sim, size, mbps):
    frames = 20
    (reply,) = sim(
        trial(offer(size, frames=frames), offer(size, frames=frames, phase=3), link_mbps=mbps)
    )[0:1]
    assert reply["quiet"]
    octet = 800 / mbps
    for port in reply["ports"]:
        assert port["offered"] == port["forwarded"] == frames and port["lost"] == port["corrupted"] == 0
        assert port["left"] == {
            "frames": frames,
            "test": frames,
            "arp": 0,
            "other": 0,
            "bad_fcs": 0,
            "bad_preamble": 0,
            "short_gap": 0,
            "answered": 0,
            "unrecognised": 0,
        }
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
    assert flow == {
        "offered": 800,
        "forwarded": 800,  # one frame entered before the window, one leaves after it
        "least_outstanding": [0] * 8,
    }
    length = window["end_cycle"] - window["start_cycle"]
    assert window["idle_cycles"] == [
        pytest.approx(length / 4, abs=1)
    ]  # the mock waits in every fourth cycle
    taken = [0, length * 3 / 128, length / 128]  # by source, in the mock's periods of 128 cycles
    assert window["claims"] == [[pytest.approx(each, abs=2) for each in taken]]


def test_interrupts_that_a_hart_took(sim):
    """Ten periods of the mock's eight kinds of access; four of them are claims that find a source."""
    *_, reply = sim({"do": "run", "cycles": 1280}, {"do": "counters"})
    assert reply["claims"] == [[0, 30, 10]]


def test_interrupts_that_no_hart_took(sim):
    """One of four interrupts of source 1 per period; the last of source 2 is claimed in the next
    period."""
    *_, half, _, reply = sim(*2 * [{"do": "run", "cycles": 640}, {"do": "counters"}])
    assert half["ports"][0]["withdrawn"] == {"rx": 5, "tx": 1}
    assert reply["ports"][0]["withdrawn"] == {"rx": 10, "tx": 1}
    assert reply["ports"][1]["withdrawn"] == {"rx": 0, "tx": 0}
    (report,) = sim(trial(offer(64, 50, 1000), None))
    circles = (report["end_cycle"] - report["start_cycle"]) / 128
    assert report["ports"][0]["withdrawn"]["rx"] == pytest.approx(circles, abs=1)


def test_full_load_by_default(sim):
    (reply,) = sim(trial({"frame_bytes": 64, "frames": 3}))
    assert reply["offered_cycle"] - reply["start_cycle"] == (2 * 84 + 72) * 8


def test_fractional_load_accumulates_no_error(sim):
    (reply,) = sim(trial(offer(64, 33.3333, 3000), None, link_mbps=1000))
    exact = 2999 * 84 * 0.8 / 0.333333 + 72 * 0.8
    assert reply["offered_cycle"] - reply["start_cycle"] == pytest.approx(exact, abs=2)
    assert reply["ports"][0]["forwarded"] == 3000


def test_trial_in_the_background(sim):
    replies = sim(
        PROMPT,
        {"do": "offer", "ports": [offer(frames=2000)], "quiet_cycles": 10_000},
        {"do": "send", "text": "ab"},
        {"do": "expect", "text": "ab", "max_cycles": 100_000},
        {"do": "save", "file": "x"},
        {"do": "collect"},
        {"do": "collect"},
    )
    assert [reply["ok"] for reply in replies] == [True, True, True, True, False, True, False]
    assert (
        replies[3]["cycle"] < replies[5]["offered_cycle"] and replies[5]["ports"][0]["forwarded"] == 2000
    )


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


def test_least_outstanding_shows_lost_frames_early(sim):
    """One of 20 frames is removed, of 1000: the least number outstanding rises."""
    lost = range(210, 1000, 20)  # the window begins with frame 200
    faults = [{"port": 1, "frame": n, "kind": "drop"} for n in lost]
    start, _, half, end = sim(
        {"do": "offer", "ports": [offer(frames=1000)], "faults": faults, "quiet_cycles": 10_000},
        {"do": "run", "cycles": 600 * 84 * 8},
        {"do": "status"},
        {"do": "collect"},
    )
    assert half["window"] == start["window"] | {
        name: half["window"][name] for name in ("idle_cycles", "claims")
    }
    length = half["cycle"] - half["window"]["start_cycle"]
    assert half["window"]["idle_cycles"] == [pytest.approx(length / 4, abs=1)]
    flow = half["ports"][0]["window"]
    assert flow["offered"] == 400 and flow["forwarded"] == 380
    assert flow["least_outstanding"] == [0, 5, 10, 15]  # frames 200 to 600
    flow = end["ports"][0]
    assert flow["window"]["least_outstanding"] == [5 * part for part in range(8)]
    assert flow["lost"] == 40 and not half["quiet"] and end["quiet"]
    assert flow["last_lost_cycle"] - end["start_cycle"] == (990 * 84 + 72) * 8


def test_nothing_lost_and_no_pause(sim):
    (reply,) = sim(trial(offer(frames=1)))
    assert reply["ports"][0]["last_lost_cycle"] is None
    assert reply["ports"][0]["longest_pause"] is None
    assert reply["latency_percentiles"] == [reply["latency_cycles"]["min"]] * 101


def test_longest_pause(sim):
    faults = [{"port": 1, "frame": n, "kind": "drop"} for n in (5, 20, 21, 22, 40, 41)]
    (reply,) = sim(trial(offer(frames=100), faults=faults))
    pause = reply["ports"][0]["longest_pause"]
    assert pause["end_cycle"] - pause["start_cycle"] == 4 * 84 * 8
    assert pause["start_cycle"] == pytest.approx(reply["start_cycle"] + (20 * 84 + 72) * 8, abs=100)


@pytest.mark.parametrize("kind", ["swap", "duplicate"])
def test_frames_are_counted_in_order(sim, kind):
    """Also if a fault changes their order: no pause has a negative length."""
    fault = {"port": 1, "frame": 50, "kind": kind}
    (reply,) = sim(trial(offer(frames=100), faults=[fault]))
    flow = reply["ports"][0]
    assert flow["reordered" if kind == "swap" else "duplicated"] == 1
    pause = flow["longest_pause"]
    assert pause["end_cycle"] - pause["start_cycle"] == (2 if kind == "swap" else 1) * 84 * 8


def test_link_is_fixed_during_a_trial(sim):
    """The trial's frames and window have the link's timing."""
    start, refused, end, after = sim(
        {"do": "offer", "ports": [offer(frames=1000)], "link_mbps": 100, "quiet_cycles": 10_000},
        {"do": "link", "mbps": 1000},
        {"do": "collect"},
        {"do": "link", "mbps": 1000},
    )
    assert not refused["ok"] and "a trial is in progress; collect it first" in refused["error"]
    assert start["ok"] and after["ok"] and end["ports"][0]["forwarded"] == 1000
    assert end["offered_cycle"] - end["start_cycle"] == (999 * 84 + 72) * 8


def test_a_second_load_follows_the_first(sim):
    (reply,) = sim(trial(offer(64, 100, 100, then={"load_percent": 25, "frames": 50})))
    assert reply["offered_cycle"] - reply["start_cycle"] == (100 * 84 + 49 * 84 * 4 + 72) * 8
    assert reply["ports"][0]["offered"] == reply["ports"][0]["forwarded"] == 150
    percentiles = reply["latency_percentiles"]
    assert len(percentiles) == 101 and percentiles == sorted(percentiles)


def test_bursts(sim, tmp_path):
    """Groups of four frames at the line rate; at a load of 10 %, one group in 40 slots."""
    burst = {"load_percent": 100, "frames": 4}
    then = {"load_percent": 50, "frames": 2}
    (reply,) = sim(trial(offer(64, 10, 10, burst=burst, then=then), pcap=str(tmp_path)))
    times = [packet.time for packet in PcapReader(str(tmp_path / "port0-in.pcap"))]
    slots = [round(float(time - times[0]) * 1e8 / (84 * 8), 3) for time in times]
    assert slots == [0, 1, 2, 3, 40, 41, 42, 43, 80, 81, 100, 102]
    assert reply["ports"][0]["forwarded"] == 12
    (reply,) = sim(trial(offer(64, 50, 10, burst={"load_percent": 49, "frames": 4})))
    assert not reply["ok"] and "below the average" in reply["error"]


def test_probes(sim, tmp_path):
    """Every third frame is marked, also in a second load; latencies are those of marked frames."""
    then = {"load_percent": 50, "frames": 2}
    (reply,) = sim(trial(offer(64, 10, 10, probe_every=3, then=then), pcap=str(tmp_path)))
    frames = list(PcapReader(str(tmp_path / "port0-in.pcap")))
    assert [frame["IP"].tos for frame in frames] == [0, 0, 46 << 2] * 4
    assert reply["ports"][0]["forwarded"] == 12
    probes, all_frames = reply["probe_latency_cycles"], reply["latency_cycles"]
    assert all_frames["min"] <= probes["min"] <= probes["p99"] <= probes["max"] <= all_frames["max"]
    (reply,) = sim(trial(offer(64, 10, 10)))
    assert reply["probe_latency_cycles"] is None


def test_streams(sim, tmp_path):
    """Frames alternate between streams, each with its own UDP port."""
    (reply,) = sim(trial(None, offer(64, 10, 7, streams=3), pcap=str(tmp_path)))
    frames = PcapReader(str(tmp_path / "port1-in.pcap"))
    assert [frame[UDP].sport - 49153 for frame in frames] == [0, 2, 4, 0, 2, 4, 0]
    assert reply["ports"][1]["forwarded"] == 7 and "offered" not in reply["ports"][0]


@pytest.mark.parametrize("streams", [0, 4097])
def test_impossible_streams(sim, streams):
    (reply,) = sim(trial(offer(streams=streams)))
    assert not reply["ok"] and "streams" in reply["error"]


def test_status_needs_a_trial(sim):
    (reply,) = sim({"do": "status"})
    assert not reply["ok"] and "offer one first" in reply["error"]
