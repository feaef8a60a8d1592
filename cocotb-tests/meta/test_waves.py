# SPDX-License-Identifier: BSD-2-Clause
"""WAVES=1: the wave of a simulation, and the files that show it in a viewer."""

import re

import pytest
from pywellen import Waveform

from bench.simulation import named
from bench.simulator import simulate
from bench.waves import FEW, FILE, of_device
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


def test_one_mac_shows_the_default_signals():
    """Its stages have no numbers, unlike those of a SoC's MACs."""
    default = ["receive_good", "txring_remaining", "txring_txring_fetcher_starved", "transmit_length",
               "registerfile_strobe_tx_doorbell", "framefifo1_used"]
    others  = [f"txring_other{number}" for number in range(FEW)]
    shown   = of_device([(f"mac.{name}", 1) for name in default + others], "mac")
    assert [signal.name for signal in shown] == default
    assert {signal.room for signal in shown} == \
        {"mac0.rx", "mac0.tx", "mac0.queue0.tx", "mac0.registers"}
