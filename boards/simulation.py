# SPDX-License-Identifier: BSD-2-Clause
"""A board's SoC with LiteDRAM's model of memory chips behind its controller, in Verilator.

Everything but pins, clocks and PHYs is what the bitstream holds, the BIOS in the ROM included. The
images of boot.json are in memory from the start, as after a serial boot.

    console = boot("versa_ecp5", "moderato", until="# ", cycles=100_000_000)
"""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

from litex.build.generic_platform import GenericPlatform
from litex.build.sim.common import sim_special_overrides
from litex.soc.integration.common import get_mem_data

from litedram.phy import ECP5DDRPHY
from litedram.phy.model import SDRAMPHYModel

from moderato.gateware.phy_sim import SimPHY
from moderato.sim.soc import SimConfig, _CRG, pads
from moderato.soc.toolchain import verilator
from moderato.soc.toolchain.cache import artifact, run

from . import images
from .gateware import TOP, board_class, environment, gateware, sources, write

MAIN = Path(__file__).parent / "simulation.cpp"

VERILATOR = ["--cc", "--exe", "--build", "--top-module", TOP, "--no-timing", "-O3", "--noassert",
             "-DSYNTHESIS", "--x-assign", "fast", "--x-initial", "fast", "--public-ignore",
             "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-BLKANDNBLK", "-Wno-COMBDLY",
             "-Wno-TIMESCALEMOD", "-CFLAGS", "-O2 -std=c++20"]


class ECP5PHYModel(SDRAMPHYModel):
    """LiteDRAM's model with the settings of the ECP5's PHY, so that the controller is the same.

    That PHY moves eight columns with a command and the model counts four: every other word of the
    model's banks is a hole, and so the contents that it starts with are spread out.
    """
    def __init__(self, module, settings, clk_freq, init):
        words = [init[n:n + 4] for n in range(0, len(init), 4)]
        twice = [value for word in words for value in (*word, *[0] * (8 - len(word)))]
        databits = settings.databits
        settings.databits = 2 * databits
        SDRAMPHYModel.__init__(self, module, settings, clk_freq=clk_freq, init=twice)
        settings.databits = databits


class SimulatedPlatform(GenericPlatform):
    """Pads without pins; its build ends with the Verilog."""
    def __init__(self, board):
        config = SimConfig(macs=board.ports, cpu=board.cpu_config)
        self.device = "simulation"
        GenericPlatform.__init__(self, self.device, pads(config, gated=False), name=TOP)

    def get_verilog(self, fragment, **kwargs):
        return GenericPlatform.get_verilog(
            self, fragment, special_overrides=sim_special_overrides, **kwargs)

    def build(self, soc, build_dir, build_name, **_kwargs):
        fragment = soc.get_fragment()
        self.finalize(fragment)
        verilog = self.get_verilog(fragment, name=build_name, regular_comb=soc.nic != "liteeth")
        with contextlib.chdir(build_dir):
            verilog.write(f"{build_name}.v")
        return verilog.ns


def simulated(kind: type, contents: dict[str, str]) -> type:
    """The class of a board, with platform and memory simulated.

    contents: files and addresses of what is in memory from the start, the last of which runs;
        without any, the BIOS tests the memory.
    """
    class Simulated(kind):
        def make_platform(self):
            return SimulatedPlatform(self)

        def add_clocks(self, platform):
            self.crg = _CRG(platform.request("sys_clk"))

        def add_phy(self, platform, port):
            phy = SimPHY(platform.request("eth", port), kind.sys_clk_freq, "sys")
            self.add_module(name=f"phy{port}", module=phy)
            return phy

        def add_memory(self, platform):
            settings = ECP5DDRPHY(kind.make_platform(self).request("ddram"),
                                  sys_clk_freq=self.sys_clk_freq).settings
            settings.phytype, settings.read_leveling = "SDRAMPHYModel", False
            module   = self.make_dram_module()
            base     = self.mem_map["main_ram"]
            words    = get_mem_data(contents or None, endianness="little", offset=base)
            self.ddrphy = ECP5PHYModel(module, settings, self.sys_clk_freq, words)
            self.add_litedram(self.ddrphy, module)
            if contents:
                self.add_constant("SDRAM_TEST_DISABLE")
                self.add_constant("ROM_BOOT_ADDRESS", int([*contents.values()][-1], 16))

        def add_devices(self, platform):
            pass

    return Simulated


def simulator(board: str, nic: str, with_images: bool = True) -> Path:
    """The program. It takes a text to wait for and a number of cycles, and prints the console."""
    source  = gateware(board, nic)
    options = json.dumps({"nic": nic, "uart_name": "sim"})

    def build(directory: Path):
        if with_images:
            images.write(json.loads((source / "soc.json").read_text()), directory)
        run([sys.executable, "-m", "moderato.boards.simulation", board, options, directory],
            cwd=directory, env=environment())
        run([verilator.command(), *VERILATOR, "--Mdir", "model", "-o", directory / "simulation",
             *sorted(directory.glob("*.v")), MAIN], cwd=directory, env=verilator.environment())

    inputs = [options, str(with_images), source.name, *sources(board, nic), Path(__file__), MAIN,
              Path(images.__file__), verilator.version()]
    if with_images:
        inputs += images.inputs(json.loads((source / "soc.json").read_text()))
    return artifact("board-simulation", inputs, build, "3 minutes") / "simulation"


def boot(board: str, nic: str, until: str, cycles: int, with_images: bool = True) -> str:
    """What the console shows until `until` appears, or for so many cycles."""
    program = simulator(board, nic, with_images)
    return subprocess.run([program, until, str(cycles)], check=True, text=True, errors="replace",
                          cwd=program.parent, stdout=subprocess.PIPE).stdout


def elaborate(board: str, options: str, directory: str):
    """Write the Verilog; in a process of its own, as in gateware.py."""
    place    = Path(directory) / "boot.json"
    contents = json.loads(place.read_text()) if place.exists() else {}
    contents = {str(place.parent / name): address for name, address in contents.items()}
    soc = simulated(board_class(board), contents)(**json.loads(options))
    write(soc, Path(directory))


if __name__ == "__main__":
    elaborate(*sys.argv[1:])
