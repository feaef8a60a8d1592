# SPDX-License-Identifier: BSD-2-Clause
"""The checks of a simulator with waves (harness/checks.py) end a run of a faulty MAC, and of no other.

The frames are forwarded by the program that needs no Linux.
"""

import dataclasses
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import pywellen
from mutate.mutants import MUTANTS
from mutate.overlay import overlay

from moderato.gateware.registers.table import registers
from moderato.sim.harness.traced import traced
from moderato.sim.lab.run.session import Refused, Session
from moderato.sim.sim_soc import SimConfig, soc_verilog
from moderato.soc.firmware.firmware import firmware
from moderato.soc.firmware.forward import forwarder

FRAMES = 40


def forward(tmp_path: Path, fault: str = "") -> dict:
    """The reply of a trial in which the MACs have a mutant of the gateware; w.fst shows its cycles."""
    mutant = next(each for each in MUTANTS if each.name == fault) if fault else None
    folder = tmp_path / "verilog"
    folder.mkdir()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "moderato.sim.sim_soc",
            json.dumps(dataclasses.asdict(SimConfig())),
            folder,
        ],
        env=os.environ | {"PYTHONPATH": str(overlay(tmp_path / "overlay", mutant))},
        check=True,
        capture_output=True,
    )
    soc = json.loads((folder / "soc.json").read_text())
    boot = firmware(soc)
    images = [(boot.rom, boot.rom_base), (forwarder(soc, boot.sbi_base), boot.sbi_base)]
    with Session(traced(folder, "PROFILE=-O0"), load=images) as session:
        signals = ["TOP.top.soc.moderatomac0_irq_rx"]
        session.call("wave", file=str(tmp_path / "w.fst"), signals=signals, until=1 << 40, **{"from": 1})
        try:
            session.call("run", cycles=20_000)
            port = {"frame_bytes": 64, "load_percent": 100, "frames": FRAMES}
            return session.call("trial", ports=[port, port], device="wire", quiet_cycles=20_000)
        finally:
            session.call("wave", stop=True)


def test_good_macs_break_nothing(tmp_path):
    reply = forward(tmp_path)
    assert [port["forwarded"] for port in reply["ports"]] == [FRAMES, FRAMES]


def test_driver_that_breaks_a_rule_is_stopped(tmp_path):
    """A program rings the doorbell of a ring that is not enabled."""
    address = next(each.offset for each in registers() if each.name == "RX_DOORBELL")
    store = (address >> 5) << 25 | 6 << 20 | 5 << 15 | 2 << 12 | (address & 31) << 7 | 0x23
    # lui t0, MAC 0; li t1, 1; sw t1, RX_DOORBELL(t0); j .
    (tmp_path / "rom").write_bytes(struct.pack("<4I", 0xF10002B7, 0x00100313, store, 0x6F))
    with Session(traced(soc_verilog(SimConfig())), load=[(tmp_path / "rom", 0)]) as session:
        with pytest.raises(Refused, match="environment breaks doorbell_hands_over_free_descriptors"):
            session.call("run", cycles=1000)


@pytest.mark.parametrize(
    ("fault", "broken"),
    [
        (
            "an interrupt does not disarm",
            r"moderatomac\d_moderation\d breaks one_shot \(cocotb-tests/formal/moderation.py\)",
        ),
        pytest.param(
            "fetches ignore the producer index",
            r"_fetcher breaks reads_nothing_beyond_the_doorbell \(cocotb-tests/formal/descriptor.py\)",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "the owner of a read changes at its first beat",
            r"_dmareader\d breaks \w+ \(cocotb-tests/formal/dma.py\)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_faulty_mac_is_stopped(tmp_path, fault, broken):
    with pytest.raises(Refused, match=broken) as refused:
        forward(tmp_path, fault)
    *_, (_, last) = pywellen.Waveform(str(tmp_path / "w.fst"))["derived.cycle"].signal
    assert last == refused.value.reply["cycle"] - 1
