# SPDX-License-Identifier: BSD-2-Clause
"""Gated clocks rise only while the device is awake: the mock counts each edge as an event."""

import pytest


def edges(replies):
    return [
        port["events"][event]
        for port in replies[-1]["ports"]
        for event in ("rx_drop_ring", "rx_drop_fifo")
    ]


@pytest.mark.parametrize(
    "options, expected",
    [
        ([], [100, 50, 10, 0]),
        (["--ungated"], [1000, 1000, 1000, 1000]),
    ],
)
def test_edges_come_where_the_device_is_awake(sim, options, expected):
    replies = sim({"do": "run", "cycles": 1000}, {"do": "counters"}, options=options)
    assert edges(replies) == expected


def test_restored_run_continues_the_edges(sim):
    sim({"do": "run", "cycles": 55}, {"do": "save", "file": "c"})
    replies = sim({"do": "run", "cycles": 945}, {"do": "counters"}, restore="c")
    assert edges(replies) == [100, 50, 10, 0]
