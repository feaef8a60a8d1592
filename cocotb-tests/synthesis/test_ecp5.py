# SPDX-License-Identifier: BSD-2-Clause
"""The MAC fits its budget and meets timing on ECP5."""

import functools
import re

import pytest

from bench.simulator import text
from synthesis.ecp5 import ETH_MHZ, SYS_MHZ, cells, fmax, frame, place, ports, synthesise

DEVICE = "mac_plain"  # without options
VERSA = "45F-8"
TARGET_MHZ = 75  # that sys must reach; nextpnr aims higher (SYS_MHZ)
# The MAC's budget; it takes about 5 % less (docs/fpga-mac.md).
BUDGET = {"LUT4": 3377, "CCU2C": 752, "TRELLIS_FF": 2190, "TRELLIS_DPR16X4": 95, "DP16KD": 8}
MUXES = {"PFUMX", "L6MUX21"}  # they come with the LUTs


@functools.cache
def folder(name):
    return synthesise(name, text(name))


def test_every_port_is_between_registers():
    code = text(DEVICE)
    found = ports(code)
    assert len(found) == code[:code.index(");")].count("put ")
    assert {p.domain for p in found} == {"sys", "eth_rx", "eth_tx"}
    surround = frame(DEVICE, code)
    for port in found:
        assert f".{port.name}({port.name})" in surround
        if not port.name.endswith("_clk"):
            assert f"wire [{port.width - 1}:0] {port.name};" in surround


def test_area_is_within_budget():
    used = cells(DEVICE, folder(DEVICE))
    assert not {kind: number for kind, number in used.items()
                if kind not in MUXES and number > BUDGET.get(kind, 0)}, used


def test_yosys_builds_nothing_around_block_ram():
    """Yosys would add logic to a memory without no_rw_check where a read may meet a write, to read
    the old word."""
    memory = r"(no_rw_check = 1 \*\)\n)?reg \[\d+:0\] (\w+)\[0:\d+\];\n((?s:.)*?)\n\n\n"
    found = re.findall(memory, text("mac_queues_gather"))
    assert len(found) > 20
    for attribute, name, body in found:
        written = set(re.findall(rf"{name}\[(\w+)\] <= ", body))
        read    = set(re.findall(rf"<= {name}\[(\w+)\];", body))
        assert attribute or read <= written, name


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow)
                                       for seed in (2, 3))])
def test_clocks_meet_their_targets(seed):
    report = place(DEVICE, folder(DEVICE), VERSA, SYS_MHZ[VERSA], seed)
    reached = fmax(report)
    for clock, target in {"sys": TARGET_MHZ, "eth_rx": ETH_MHZ, "eth_tx": ETH_MHZ}.items():
        assert reached[clock] >= target, f"{clock}: {reached[clock]:.1f} MHz of {target}"
