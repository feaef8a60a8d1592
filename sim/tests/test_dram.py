# SPDX-License-Identifier: BSD-2-Clause
"""The simulated DRAM answers LiteDRAM's controller like LiteDRAM's own model."""

import random

import pytest
from litedram.modules import MT41K64M16
from litedram.phy.model import SDRAMPHYModel
from migen import run_simulation

from moderato.sim.dram import DRAMModel, of_board
from moderato.sim.lab.measure import trial
from moderato.sim.lab.measure.results import Trial
from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import DRAM, System

CLOCK = 80_000_000
SIZE = 4 << 10  # bytes


class Small(MT41K64M16):
    nbanks, nrows, ncols = 8, 8, 32

    def __init__(self):
        MT41K64M16.__init__(self, CLOCK, "1:2")
        self.geom_settings.addressbits = 14  # A10 is not an address of a column


class Theirs(SDRAMPHYModel):
    """LiteDRAM's model counts four columns for a command; the ECP5's PHY moves eight."""

    def __init__(self, module, settings):
        settings.databits *= 2
        SDRAMPHYModel.__init__(self, module, settings, clk_freq=CLOCK)
        settings.databits //= 2


def answers(make_phy, cycles: int = 480) -> list[tuple[int, int, int]]:
    """Cycle and both halves of each read, for the same commands, which all find their row open."""
    _, settings = of_board("versa_ecp5", CLOCK)
    phy = make_phy(Small(), settings)
    chance = random.Random(1)
    seen = []

    def give(phase, ras, cas, we, bank, address):
        for signal, value in (
            (phase.cs_n, 0),
            (phase.ras_n, not ras),
            (phase.cas_n, not cas),
            (phase.we_n, not we),
            (phase.bank, bank),
            (phase.address, address),
        ):
            yield signal.eq(value)

    def controller():
        for cycle in range(cycles):
            for phase in phy.dfi.phases:
                yield phase.cs_n.eq(1)
                yield phase.wrdata.eq(chance.getrandbits(64))
                yield phase.wrdata_mask.eq(chance.getrandbits(8))
            bank = cycle % 8 if cycle < 9 else chance.randrange(8)
            if 0 < cycle % 60 < 10 and cycle > 8:
                pass  # writes end before another row is opened
            elif cycle <= 8 or cycle % 60 == 10:
                yield from give(phy.dfi.phases[cycle % 2], 1, 0, 0, bank, chance.randrange(8))
            else:
                column = 8 * chance.randrange(3)
                write = cycle < 150 or chance.random() < 0.4
                yield from give(phy.dfi.phases[cycle % 2], 0, 1, write, bank, column)
            yield
            if (yield phy.dfi.phases[0].rddata_valid):
                low, high = phy.dfi.phases
                seen.append((cycle, (yield low.rddata), (yield high.rddata)))

    run_simulation(phy, controller())
    return seen


def test_like_litedrams_model():
    ours = answers(lambda module, settings: DRAMModel(module, settings, SIZE))
    assert ours == answers(Theirs)
    assert len({(low, high) for _, low, high in ours}) > 50


@pytest.mark.parametrize("board", ("versa_ecp5", "ecpix5"))
def test_each_board(board):
    module, settings = of_board(board, CLOCK)
    assert (module.memtype, settings.nphases * settings.dfi_databits) == ("DDR3", 128)


def test_no_ddr3():
    with pytest.raises(ValueError, match="Colorlight 5A-75B has no DDR3"):
        of_board("colorlight_5a_75b", CLOCK)


@pytest.mark.slow  # a simulator of its own
def test_linux_forwards_from_dram():
    """A tenth of the line rate, at the Versa's clock: time on the wires is unchanged."""
    of = machine(system=System(memory=DRAM, clock_mhz=84))
    ready = state.ready(of, "napi-tx-off")
    one = Trial("napi-tx-off", 512, 10, 1000, 100)
    found = trial.run(one, ready, lambda done: None)
    assert found.sys_clk_hz == of.sys_clk_hz == 84_000_000
    assert of.conditions["memory"] == DRAM
    assert found.total("forwarded") == found.total("offered") == 2000
    assert found.total("corrupted") == 0
    rate = 2 * 0.1 * 100e6 / (8 * (512 + 20))
    assert found.total("fps") == pytest.approx(rate, rel=0.01)
