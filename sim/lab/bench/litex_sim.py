# SPDX-License-Identifier: BSD-2-Clause
"""The same SoC in LiteX's stock simulator, with its own flow, C++ and default flags: for bench.

Only three changes are made: the boot images are added to the Verilog (stock litex_sim cannot load
them), and the run ends after a number of clocks.
"""

import resource
import struct
import subprocess
import sys
from pathlib import Path

from litex.build.sim import SimPlatform
from litex.build.sim.config import SimConfig as Modules

from moderato.sim import sim_soc
from moderato.toolchain import verilator
from moderato.toolchain.cache import artifact, run

from ..show.errors import LabError

END = """
reg [63:0] clocks = 0, last_clock;
initial if (!$value$plusargs("clocks=%d", last_clock)) last_clock = 0;
always @(posedge sys_clk) begin
    clocks <= clocks + 1;
    if (clocks == last_clock) $finish;
end
initial $readmemh("main_ram.hex", main_ram);
initial $readmemh("rom.hex", rom);
endmodule
"""


def simulator(config: sim_soc.SimConfig, verilog: Path, images: list[tuple[Path, int]]) -> Path:
    """Build it with all defaults of litex_sim. `verilog`: what soc_verilog made from `config`."""

    def build(folder: Path):
        environment = verilator.environment()
        run([sys.executable, "-m", "moderato.sim.lab.bench.litex_sim", folder], env=environment)
        top = folder / f"{sim_soc.TOP}.v"
        top.write_text(top.read_text().rpartition("endmodule")[0] + END)
        memories(folder, config, images)
        run(["bash", f"build_{sim_soc.TOP}.sh"], cwd=folder, env=environment)

    inputs = [verilog.name, Path(__file__), verilator.version(), *(file for file, _ in images)]
    return artifact("litex-sim", inputs, build, "1 minute") / "obj_dir" / "Vsim"


def elaborate(folder: Path, config: sim_soc.SimConfig):
    """Write the Verilog and LiteX's own build script, as SoCCore.build does for litex_sim."""
    modules = Modules()
    modules.add_clocker("sys_clk", freq_hz=config.sys_clk_hz)
    modules.add_module("serial2console", "serial")
    stock = sim_soc.SimSoC(config, SimPlatform("SIM", sim_soc.pads(config, gated=False)))
    stock.finalize()
    stock.platform.build(
        stock.get_fragment(),
        build_dir=str(folder),
        build_name=sim_soc.TOP,
        run=False,
        sim_config=modules,
        opt_level="O3",
    )


def memories(folder: Path, config: sim_soc.SimConfig, images: list[tuple[Path, int]]):
    """The boot images as $readmemh files: RAM in 64-bit words, ROM in 32-bit words."""
    ram, rom = [], []
    for file, address in images:
        content = file.read_bytes()
        if address < config.rom_bytes:
            rom.append(words(content, address, 4))
        else:
            ram.append(words(content, address - 0x4000_0000, 8))
    (folder / "main_ram.hex").write_text("".join(ram))
    (folder / "rom.hex").write_text("".join(rom))


def words(content: bytes, address: int, size: int) -> str:
    content += bytes(-len(content) % size)
    kind = {4: "I", 8: "Q"}[size]
    values = struct.unpack(f"<{len(content) // size}{kind}", content)
    return f"@{address // size:x}\n" + "".join(f"{value:0{2 * size}x}\n" for value in values)


def cpu_seconds(binary: Path, clocks: int) -> float:
    """CPU time of a run of `clocks` clocks, start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        [binary, f"+clocks={clocks}"],
        cwd=binary.parent.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode:
        raise LabError(
            f"litex_sim ended with status {result.returncode}: " + result.stderr.strip()[-200:]
        )
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    elaborate(Path(sys.argv[1]), sim_soc.SimConfig())
