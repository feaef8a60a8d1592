# SPDX-License-Identifier: BSD-2-Clause
"""The SoC of a board with two RGMII ports, for simulation up to the pins of its Ethernet PHYs.

It is the bitstream's class with these differences: clocks come from pins of board.v; the DRAM's PHY
and chips are LiteDRAM's model; the UART transfers whole bytes; nothing blinks. MACs, PHYs with
their I/O cells, CPU cluster, DRAM controller and the BIOS in the ROM are the bitstream's.

Run as a module, it writes the Verilog.
"""

import contextlib
import sys
from pathlib import Path

from migen import Module
from migen.fhdl.specials import Tristate
from migen.genlib.cdc import MultiReg

from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
from litex.build.lattice.common import lattice_ecp5_trellis_special_overrides
from litex.build.sim.common import sim_special_overrides

from litedram.phy.model import SDRAMPHYModel

from bench.devices.duts import Synchronizer
from moderato.boards.gateware import TOP, board_class, write
from moderato.boards.images import boot_address
from moderato.sim.sim_soc import SimConfig, _CRG, pads

PORTS    = 2
PHY_PADS = "eth", "eth_clocks"
MDIO     = [("mdc", 1), ("out", 1), ("in", 1)]


class OpenDrain:
    """Lowers a Tristate: MDIO, which is pulled up. Verilator has no bidirectional pins, so one pin
    has the value that we drive, and another one the chip's. `lines` has both by pin."""

    def __init__(self, lines: dict):
        self.lines = lines

    def lower(self, pin):
        line, module = self.lines[pin.target], Module()
        module.comb += line.out.eq(pin.o | ~pin.oe), pin.i.eq(line.out & getattr(line, "in"))
        return module


class SimulatedPlatform(GenericPlatform):
    """The simulator's clock and console, and the pads of the board's PHYs. It builds only the
    Verilog."""

    def __init__(self, real):
        self.device = "simulation"
        io  = [pad for pad in pads(SimConfig(), gated=False) if pad[0] in ("sys_clk", "serial")]
        io += [pad for pad in real.constraint_manager.available if pad[0] in PHY_PADS]
        io += [("mdio", port, *(Subsignal(name, Pins(width)) for name, width in MDIO))
               for port in range(PORTS)]
        GenericPlatform.__init__(self, self.device, io, name=TOP)
        self.lines     = {}
        self.overrides = {**sim_special_overrides, **lattice_ecp5_trellis_special_overrides,
                          MultiReg: Synchronizer, Tristate: OpenDrain(self.lines)}

    def get_verilog(self, fragment, **kwargs):
        return GenericPlatform.get_verilog(
            self, fragment, special_overrides=self.overrides, **kwargs)

    def build(self, soc, build_dir, build_name, **_kwargs):
        fragment = soc.get_fragment()
        self.finalize(fragment)
        verilog = self.get_verilog(fragment, name=build_name)
        with contextlib.chdir(build_dir):
            verilog.write(f"{build_name}.v")
        return verilog.ns


class PHYModel(SDRAMPHYModel):
    """LiteDRAM's model with the settings of the board's PHY, so that the controller is the same.

    A command moves four columns in the model of DDR3, and eight in the ECP5's PHY: only one of
    `stride` words of the model's banks is used (board_memory.py).
    """
    def __init__(self, module, settings, clk_freq):
        geometry = module.geom_settings
        databits = settings.databits
        burst    = {"SDR": 1, "DDR3": 2}[settings.memtype]
        self.word   = settings.nphases * settings.dfi_databits // 8  # bytes
        self.stride = settings.dfi_databits // (databits * burst)
        self.row    = 2 ** geometry.colbits * databits // 8  # bytes
        self.banks  = 2 ** geometry.bankbits
        settings.databits = self.stride * databits
        # Zeros in each bank, so that its Verilog reads a file; a simulation replaces the contents.
        SDRAMPHYModel.__init__(self, module, settings, clk_freq=clk_freq,
                               init=[0] * (self.banks * self.stride * self.row // 4))
        settings.databits = databits

    def describe(self) -> dict:
        return {"banks": self.banks, "row": self.row, "word": self.word, "stride": self.stride}


BIOS = ("test", "images", "network")  # it tests the DRAM, or starts images from there


def simulated(kind: type, bios: str, seconds: float) -> type:
    """The class of a simulated board with one of BIOS. A second of Linux takes `seconds` of
    simulated time."""
    class Simulated(kind):
        phy_delays = {"tx_delay": 0, "rx_delay": 0}  # the models at the pins delay both clocks
        baud_rate  = 1_000_000  # at 115200 baud, the BIOS' text would take most of the time

        @staticmethod
        def make_platform():
            return SimulatedPlatform(kind.make_platform())

        def add_clocks(self, platform):
            self.crg = _CRG(platform.request("sys_clk"))

        def add_phy(self, platform, port):
            phy  = super().add_phy(platform, port)
            pins = platform.lookup_request("eth", port)
            line = platform.request("mdio", port)
            if hasattr(pins, "mdio"):
                platform.lines[pins.mdio] = line
                self.comb += line.mdc.eq(pins.mdc)
            return phy

        def add_memory(self, platform):
            settings = self.make_dram_phy(kind.make_platform(), self.sys_clk_freq).settings
            settings.phytype, settings.read_leveling = "SDRAMPHYModel", False
            module = self.make_dram_module(self.sys_clk_freq)
            self.ddrphy = PHYModel(module, settings, self.sys_clk_freq)
            self.add_litedram(self.ddrphy, module, self.dram_masks)
            if bios != "test":
                self.add_constant("SDRAM_TEST_DISABLE")
                self.add_constant("CONFIG_BIOS_NO_DELAYS")  # a serial boot starts within 250 ms
            if bios == "images":
                self.add_constant("ROM_BOOT_ADDRESS", boot_address(self.describe()))

        def add_devices(self, platform):
            pass

        def describe(self):
            return {**kind.describe(self), "dram": self.ddrphy.describe(),
                    "timebase_hz": int(self.sys_clk_freq * seconds)}

    return Simulated


def main(board: str, bios: str, link: str, harts: str, directory: str):
    # Linux polls a PHY once a second, which takes minutes here.
    seconds = 0.1 if link == "negotiated" else 1
    kind = simulated(board_class(board), bios, seconds)
    write(kind(uart_name="sim", link=link, harts=int(harts)), Path(directory))


if __name__ == "__main__":
    main(*sys.argv[1:])
