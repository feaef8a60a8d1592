# SPDX-License-Identifier: BSD-2-Clause
"""A board's SoC with LiteDRAM's model of memory chips behind its controller, in Verilator.

Everything but pins, clocks and PHYs is what the bitstream holds, the BIOS in the ROM included. The
images of boot.json are in memory from the start, as after a serial boot: those of "linux", or
"forward", the program that needs no Linux. With "bios" there are none, and it tests the memory.

    console = boot("versa_ecp5", "linux", [("# ", "uname -a"), ("# ", "")], cycles=200_000_000)
"""

import contextlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from litex.build.generic_platform import GenericPlatform
from litex.build.sim.common import sim_special_overrides

from litedram.phy import ECP5DDRPHY
from litedram.phy.model import SDRAMPHYModel

from moderato.gateware.phy_sim import SimPHY
from moderato.sim.soc import SimConfig, _CRG, pads
from moderato.soc.toolchain import verilator
from moderato.soc.toolchain.cache import BuildError, artifact, run

from . import images
from .gateware import TOP, board_class, environment, sources, write

MAIN = Path(__file__).parent / "simulation.cpp"

DRAM_WIDTH = 16  # wires
WORD       = 16  # bytes that they move with a command

VERILATOR = ["--cc", "--exe", "--build", "--top-module", TOP, "--no-timing", "-O3", "--noassert",
             "-DSYNTHESIS", "--x-assign", "fast", "--x-initial", "fast", "--public-ignore",
             "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-BLKANDNBLK", "-Wno-COMBDLY",
             "-Wno-TIMESCALEMOD", "-CFLAGS", "-O2 -std=c++20"]


# What is in memory: a function that writes the images, and one that tells what they are made from.
STARTS = {
    "linux":   (images.write, images.inputs),
    "forward": (images.write_forwarder, lambda soc: [images.forward(soc)]),
    "bios":    (None, None),
}


class ECP5PHYModel(SDRAMPHYModel):
    """LiteDRAM's model with the settings of the ECP5's PHY, so that the controller is the same.

    That PHY moves eight columns with a command and the model counts four: every other word of the
    model's banks is a hole (`fill`).
    """
    def __init__(self, module, settings, clk_freq):
        geometry = module.geom_settings
        banks    = 2 ** geometry.bankbits
        row      = 2 ** geometry.colbits * 2 * settings.databits // 32
        databits = settings.databits
        settings.databits = 2 * databits
        # Zeros in each bank: so its Verilog reads a file, whatever that will hold.
        SDRAMPHYModel.__init__(self, module, settings, clk_freq=clk_freq, init=[0] * banks * row)
        settings.databits = databits


class SimulatedPlatform(GenericPlatform):
    """Pads without pins; its build ends with the Verilog."""
    overrides = sim_special_overrides

    def __init__(self, board):
        config = SimConfig(macs=board.ports, cpu=board.cpu_config)
        self.device = "simulation"
        GenericPlatform.__init__(self, self.device, pads(config, gated=False), name=TOP)

    def get_verilog(self, fragment, **kwargs):
        return GenericPlatform.get_verilog(
            self, fragment, special_overrides=self.overrides, **kwargs)

    def build(self, soc, build_dir, build_name, **_kwargs):
        fragment = soc.get_fragment()
        self.finalize(fragment)
        verilog = self.get_verilog(fragment, name=build_name, regular_comb=soc.nic != "liteeth")
        with contextlib.chdir(build_dir):
            verilog.write(f"{build_name}.v")
        return verilog.ns


def simulated(kind: type, start: str) -> type:
    """The class of a board, with platform and memory simulated, and a BIOS for this start."""
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
            module = self.make_dram_module()
            self.ddrphy = ECP5PHYModel(module, settings, self.sys_clk_freq)
            self.add_litedram(self.ddrphy, module)
            if start != "bios":
                self.add_constant("SDRAM_TEST_DISABLE")
                self.add_constant("CONFIG_BIOS_NO_DELAYS")  # 250 ms for a serial boot to begin
                self.add_constant("ROM_BOOT_ADDRESS", images.boot_address(self.describe()))

        def add_devices(self, platform):
            pass

    return Simulated


def verilog(board: str, start: str, nic: str = "moderato",
            module: str = "moderato.boards.simulation", files: Sequence[Path] = (),
            path: str = "") -> Path:
    """A folder with the Verilog, the BIOS, and soc.json. All starts but "bios" have the same.

    module: another one that can be run like this one, in the folder `path`; `files` are its sources.
    """
    if start != "bios":
        start = "images"
    options = json.dumps({"nic": nic, "uart_name": "sim"})

    def build(directory: Path):
        run([sys.executable, "-m", module, board, start, options, directory],
            cwd=directory, env={**environment(), "PYTHONPATH": path})

    inputs = [options, start, *sources(board, nic), Path(__file__), Path(images.__file__),
              module, *files]
    return artifact("board-verilog", inputs, build, "a minute")


def memories(board: str, start: str, source: Path) -> Path:
    """A folder with what the memories of verilog() hold at a start, for the simulator to run in."""
    soc = json.loads((source / "soc.json").read_text())
    write_images, made_from = STARTS[start]
    if not write_images:
        return source

    def build(directory: Path):
        for file in source.glob("*.init"):
            shutil.copy(file, directory)
        write_images(soc, directory)
        fill(directory, board_class(board), source, soc["memory"]["base"])

    return artifact("board-memories", [start, source.name, Path(__file__), Path(images.__file__),
                                       *made_from(soc)], build, "10 s")


def fill(directory: Path, kind: type, source: Path, base: int):
    """Write the images in `directory` into the files of the DRAM's banks, as $readmemh reads them.

    The controller changes the bank with each row. Of the model's words of 16 bytes every other one
    is used.
    """
    geometry = kind.dram_module(kind.sys_clk_freq, "1:2").geom_settings
    row      = 2 ** geometry.colbits * DRAM_WIDTH // 8
    words    = 2 * row // WORD
    banks    = re.findall(r'"(\w+\.init)", mem_\d+\);', (source / f"{TOP}.v").read_text())
    if len(banks) != 2 ** geometry.bankbits:
        raise BuildError(f"{source / TOP}.v has {len(banks)} memories that look like banks of the "
                         f"DRAM, not {2 ** geometry.bankbits}")
    texts = {bank: [] for bank in banks}
    for name, address in json.loads((directory / "boot.json").read_text()).items():
        content = (directory / name).read_bytes()
        offset  = int(address, 16) - base
        for at in range(0, len(content), WORD):
            number, column = divmod(offset + at, row)
            place = number // len(banks) * words + column // WORD * 2
            word  = int.from_bytes(content[at:at + WORD], "little")
            texts[banks[number % len(banks)]].append(f"@{place:x} {word:032x}\n")
    for bank, text in texts.items():
        (directory / bank).write_text("".join(text))


def simulator(board: str, start: str, nic: str = "moderato") -> tuple[Path, Path]:
    """The program, and the folder that it has to run in."""
    source = verilog(board, start, nic)
    code   = sorted(source.glob("*.v"))

    def build(directory: Path):
        run([verilator.command(), *VERILATOR, "--Mdir", "model", "-o", directory / "simulation",
             *code, MAIN], cwd=directory, env=verilator.environment())

    inputs  = [*(file.read_bytes() for file in code), *VERILATOR, MAIN, verilator.version()]
    program = artifact("board-simulation", inputs, build, "3 minutes") / "simulation"
    return program, memories(board, start, source)


def boot(board: str, start: str, dialogue: list[tuple[str, str]], cycles: int,
         nic: str = "moderato") -> str:
    """What the console shows in a dialogue: wait for a text, type a line, wait for the next one.

    The last line is not typed. Ends after so many cycles in any case; what it then shows says so.
    """
    program, folder = simulator(board, start, nic)
    words = [word for wanted, line in dialogue for word in (wanted, f"{line}\n")][:-1]
    return subprocess.run([program, str(cycles), *words], check=True, text=True, errors="replace",
                          cwd=folder, stdout=subprocess.PIPE).stdout


def elaborate(board: str, start: str, options: str, directory: str, simulate=simulated):
    """Write the Verilog; in a process of its own, as in gateware.py."""
    soc = simulate(board_class(board), start)(**json.loads(options))
    write(soc, Path(directory))


if __name__ == "__main__":
    elaborate(*sys.argv[1:])
