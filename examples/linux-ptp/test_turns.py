# SPDX-License-Identifier: BSD-2-Clause
"""Two simulated systems send in turn; scapy reads the same capture."""

import pytest
from scapy.utils import PcapNgReader
from turns import CYCLE, LAST, LENGTH, OCTET, TURN, Frame, collisions, measure, report


def test_frames_collide_if_any_of_their_octets_do():
    def sent(*slave_and_times):
        return sorted((Frame(slave, True, *times) for slave, *times in slave_and_times), key=begin)

    def begin(frame):
        return frame.begin

    assert collisions(sent((True, 0, 100), (False, 100, 200), (True, 200, 300))) == 0
    assert collisions(sent((True, 0, 101), (False, 100, 200))) == 1
    assert collisions(sent((False, 0, 1000), (True, 100, 200), (True, 999, 1001))) == 2


@pytest.mark.slow
def test_no_frame_collides(tmp_path):
    """Without lists, many frames collide. With them, none does, and each turn is full."""
    capture = tmp_path / "turns.pcapng"
    result = measure(capture)
    print(report(result))
    assert result.before > 100
    assert result.after == 0 and result.pause > 0
    most = LAST // CYCLE * (TURN // ((LENGTH + 24) * OCTET))
    for sent in result.sent:
        assert 0.95 * most <= sent <= 1.2 * most  # ptp4l's frames are in the same turns
    with PcapNgReader(str(capture)) as reader:
        assert sum(1 for _ in reader) > sum(result.sent)
