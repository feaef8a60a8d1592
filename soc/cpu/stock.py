# SPDX-License-Identifier: BSD-2-Clause
"""Netlists of LiteX's own VexRiscv-SMP, as its class requests them; no PyPI package has them.

    VexRiscvSMP.coherent_dma = True         # LiteX's way to select options
    provide(folder)
    SoCCore(platform, 100e6, cpu_type="vexriscv_smp", cpu_variant="linux")

The Scala source is in the wheel `pythondata-cpu-vexriscv`. LiteX compiles it with sbt; this module uses
Maven.
"""

import shutil
import sys
import types
from pathlib import Path

from litex.soc.cores.cpu.vexriscv_smp import VexRiscvSMP

from ...toolchain.cache import artifact
from .netlist import HERE, VEXRISCV, generator, run_java

MAIN = "vexriscv.demo.smp.VexRiscvLitexSmpClusterCmdGen"

# Attributes of LiteX's class, and the generator's options for them.
OPTIONS = {
    "cpu_count": "cpu-count",
    "icache_width": "ibus-width",
    "icache_size": "icache-size",
    "icache_ways": "icache-ways",
    "dcache_width": "dbus-width",
    "dcache_size": "dcache-size",
    "dcache_ways": "dcache-ways",
    "itlb_size": "itlb-size",
    "dtlb_size": "dtlb-size",
    "litedram_width": "litedram-width",
    "wishbone_memory": "wishbone-memory",
    "out_of_order_decoder": "out-of-order-decoder",
    "aes_instruction": "aes-instruction",
    "with_fpu": "fpu",
    "cpu_per_fpu": "cpu-per-fpu",
    "with_rvc": "rvc",
}
# Attributes of the class that the wheel's older generator lacks, with its fixed values.
FIXED = {
    "reset_vector": 0,
    "expose_time": False,
    "privileged_debug": False,
    "hardware_breakpoints": 0,
    "wishbone_force_32b": False,
    "jtag_tap": False,
}


def provide(folder: Path):
    """Let LiteX's class find its Verilog in `folder`. The netlist is made when the class requests it."""
    stand_in = types.ModuleType("pythondata_cpu_vexriscv_smp")
    stand_in.data_location = str(folder)
    sys.modules[stand_in.__name__] = stand_in
    shutil.copyfile(HERE / "Ram_1w_1rs.v", folder / "Ram_1w_1rs_Generic.v")

    def generate():
        shutil.copy(netlist(VexRiscvSMP), folder)

    VexRiscvSMP.generate_netlist = staticmethod(generate)


def netlist(cpu: type[VexRiscvSMP]) -> Path:
    """The Verilog file for the class's attributes. Raises ValueError for a value that the generator does
    not support."""
    for name, value in FIXED.items():
        if getattr(cpu, name) != value:
            raise ValueError(
                f"{name} = {getattr(cpu, name)}: the generator in the package "
                f"pythondata-cpu-vexriscv supports {value} only"
            )
    words = [f"--{option}={str(getattr(cpu, name)).lower()}" for name, option in OPTIONS.items()]
    if cpu.coherent_dma:
        words.append("--coherent-dma")
    made = generator("cpu-generator-stock", [*VEXRISCV, "demo/smp/VexRiscvSmpLitexCluster.scala"])

    def build(directory: Path):
        run_java(made, MAIN, [*words, f"--netlist-name={cpu.cluster_name}"], directory)
        verilog = directory / f"{cpu.cluster_name}.v"
        header, body = verilog.read_text().split("`timescale", 1)  # the header has the time
        verilog.write_text(f"// {' '.join(words)}\n`timescale{body}")

    return (
        artifact(
            "cpu-netlist-stock", [Path(__file__), made.name, cpu.cluster_name, *words], build, "10 s"
        )
        / f"{cpu.cluster_name}.v"
    )
