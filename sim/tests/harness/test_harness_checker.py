# SPDX-License-Identifier: BSD-2-Clause
"""The mock breaks frames on purpose: the checker detects each one."""

import pytest
from harness_commands import offer, trial


def faulty(sim, size=128, probe_every=0, streams=1, **fault):
    offered = offer(size, frames=50, probe_every=probe_every, streams=streams)
    (reply,) = sim(trial(offered, None, faults=[{"port": 1, "frame": 7, **fault}]))
    return reply["ports"][0], reply["ports"][1]["left"]


@pytest.mark.parametrize(
    "octet, where",
    [
        (0, "addresses"),
        (11, "addresses"),
        (18, "header"),
        (22, "header"),
        (25, "header"),
        (34, "header"),
        (52, "payload"),
        (100, "payload"),
        (123, "payload"),
        (42, "unrecognised"),
        (49, "unrecognised"),
    ],
)
@pytest.mark.parametrize("bit", [0, 7])
def test_a_changed_octet_is_noticed_even_with_good_fcs(sim, octet, bit, where):
    flow, left = faulty(sim, kind="flip", octet=octet, bit=bit, fcs="repair")
    assert flow["forwarded"] == 49 and flow["lost"] == 1 and flow["corrupted"] == 1
    assert flow["corruption"][where] == 1


@pytest.mark.parametrize("octet", [0, 13, 60, -5, -4, -1])
def test_a_wrong_fcs_is_noticed(sim, octet):
    flow, left = faulty(sim, kind="flip", octet=octet)
    assert (flow["forwarded"], flow["corrupted"], flow["corruption"]["fcs"], left["bad_fcs"]) == (
        49,
        1,
        1,
        1,
    )


def test_every_octet_is_checked(sim):
    """Changes one octet after the other, with a repaired FCS."""
    size = 64
    faults = [
        {"port": 1, "frame": n, "kind": "flip", "octet": n, "bit": n % 8, "fcs": "repair"}
        for n in range(size - 4)
    ]
    (reply,) = sim(trial(offer(size, frames=size - 4), None, faults=faults))
    flow, left = reply["ports"][0], reply["ports"][1]["left"]
    assert flow["forwarded"] == 0
    assert flow["corrupted"] + left["arp"] + left["other"] == size - 4
    assert (
        left["other"] <= 6
    )  # the octets that identify a test frame: type, IP version, protocol, UDP port


def test_loss_duplication_and_reordering_are_noticed(sim):
    assert faulty(sim, kind="drop")[0]["lost"] == 1
    flow = faulty(sim, kind="duplicate")[0]
    assert (flow["forwarded"], flow["duplicated"], flow["reordered"]) == (50, 1, 0)
    flow = faulty(sim, kind="swap")[0]
    assert (flow["forwarded"], flow["duplicated"], flow["reordered"]) == (50, 0, 1)


@pytest.mark.parametrize("probe_every, reordered", [(1, 1), (9, 0), (8, 0)])
def test_probes_may_overtake_frames_but_not_probes(sim, probe_every, reordered):
    flow = faulty(sim, kind="swap", probe_every=probe_every)[0]
    assert (flow["forwarded"], flow["reordered"]) == (50, reordered)


@pytest.mark.parametrize("streams, reordered", [(1, 1), (2, 0), (50, 0)])
def test_a_frame_may_overtake_those_of_other_streams(sim, streams, reordered):
    flow = faulty(sim, kind="swap", streams=streams)[0]
    assert (flow["forwarded"], flow["reordered"]) == (50, reordered)


def test_unchanged_frames_do_not_count_as_forwarded(sim):
    (reply,) = sim(trial(offer(frames=10), None, device="wire"))
    assert reply["ports"][0]["forwarded"] == 0 and reply["ports"][0]["corruption"]["addresses"] == 10
