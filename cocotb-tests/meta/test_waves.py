# SPDX-License-Identifier: BSD-2-Clause
"""WAVES=1: the wave of a simulation, and the files that show it in a viewer."""

import re

import pytest
from pywellen import Waveform

from bench.simulation import named
from bench.simulator import simulate
from bench.waves import FILE
from moderato.toolchain.project import cache_root

SIMULATION = "test_axi_lite"


@pytest.fixture(scope="module")
def failed():
    """The message of a case that a limit on its simulated time ends."""
    simulation = named(SIMULATION)
    case = simulation.tests[0].name
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAVES", "1")
        patch.setenv("CASE_LIMIT", "0.0002") # ms
        return simulate(simulation, [case])[case].failure


@pytest.fixture(scope="module")
def wave(failed):
    return Waveform(str(cache_root()/"runs"/SIMULATION/FILE))


def test_message_names_files_with_signals_of_the_wave(failed, wave):
    commands = r"gtkwave (\S+)\s+or: surfer --command-file (\S+) (\S+)$"
    gtkw, sucl, fst = re.search(commands, failed).groups()
    assert fst.endswith(FILE)
    known = {var.full_name for var in wave.all_vars()}
    with open(gtkw) as file:
        lines = file.read().splitlines()
    shown = {line.partition("[")[0] for line in lines if line.startswith("axi_lite.")}
    with open(sucl) as file:
        added = set(re.findall(r"^variable_add (.*)$", file.read(), re.MULTILINE))
    assert shown == added
    assert shown <= known and len(shown) > 10
    # The marker is where the case failed: 200 ns.
    marker, = [line for line in lines if line.startswith("*-")]
    assert marker.split()[1] == "200000"


def test_wave_has_the_names_of_states(wave):
    states = {value.to_bytes(12, "big").lstrip(b"\0").decode()
              for _, value in wave["axi_lite.slave_fsm_text"].signal}
    assert {"IDLE", "WRITE"} <= states <= {"IDLE", "READ", "READ-ANSWER", "WRITE", "WRITE-ANSWER"}


def test_without_waves_nothing_is_written():
    simulation = named(SIMULATION)
    case = simulation.tests[0].name
    assert simulate(simulation, [case])[case].failure is None
    assert not (cache_root()/"runs"/SIMULATION/FILE).exists()
