# SPDX-License-Identifier: BSD-2-Clause
"""The SoC of a board as moderato.boards.simulation has it, but with its own PHYs, up to the pins.

Run as a module, like moderato.boards.simulation, it writes the Verilog.
"""

import sys

from migen import Module
from migen.fhdl.specials import Tristate
from migen.genlib.cdc import MultiReg

from litex.build.lattice.common import lattice_ecp5_trellis_special_overrides
from litex.build.sim.common import sim_special_overrides

from bench.duts import Synchronizer
from moderato.boards import simulation
from moderato.boards.simulation import SimulatedPlatform, simulated

PADS = "eth", "eth_clocks"


class PulledUp:
    """A Tristate that nobody else drives: MDIO. Verilator has none at the pins of a design."""

    @staticmethod
    def lower(pin):
        module = Module()
        module.comb += pin.i.eq(pin.o | ~pin.oe)
        return module


class PinnedPlatform(SimulatedPlatform):
    """Has the pads of the board's PHYs in the place of the simulated ones."""
    overrides = {**sim_special_overrides, **lattice_ecp5_trellis_special_overrides,
                 MultiReg: Synchronizer, Tristate: PulledUp}

    def __init__(self, board, real):
        SimulatedPlatform.__init__(self, board)
        pads = self.constraint_manager.available
        pads[:] = [pad for pad in pads if pad[0] not in PADS]
        self.add_extension([pad for pad in real.constraint_manager.available if pad[0] in PADS])


def pinned(kind: type, start: str) -> type:
    """As moderato.boards.simulation.simulated."""
    class Pinned(simulated(kind, start)):
        def make_platform(self):
            return PinnedPlatform(self, kind.make_platform(self))

        add_phy = kind.add_phy

    return Pinned


if __name__ == "__main__":
    simulation.elaborate(*sys.argv[1:], simulate=pinned)
