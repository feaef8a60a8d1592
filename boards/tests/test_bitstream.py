# SPDX-License-Identifier: BSD-2-Clause
"""A whole build, from the SoC's Python to the bitstream."""

import json

import pytest

from moderato.boards import BOARDS, bitstream

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("board", BOARDS)
def test_bitstream(board, tmp_path):
    output = tmp_path / "out"
    assert bitstream.bitstream(board, "moderato", [1], output) == 0
    result = json.loads((output / "report.json").read_text())
    clocks = {clock["name"]: clock for clock in result["clocks"]["1"]}
    assert all(clock["reached"] >= clock["wanted"] for clock in clocks.values())
    assert sum(clock["wanted"] == 125 for clock in clocks.values()) == len(
        json.loads((output / "soc.json").read_text())["macs"]
    )

    # An ECP5 bitstream: a comment with the part's name between zeros, then the preamble.
    content = (output / f"{board}.bit").read_bytes()
    assert content.startswith(b"\xff\x00Part: LFE5") and b"\xff\xff\xbd\xb3" in content[:200]
    assert "SDR" in (output / f"{board}.svf").read_text()
    assert all((output / name).is_file() for name in json.loads((output / "boot.json").read_text()))
