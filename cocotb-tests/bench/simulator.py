# SPDX-License-Identifier: BSD-2-Clause
"""A device under test from Migen to Verilog to Verilator to cocotb.

The simulator of a device is kept in the build cache by its Verilog, so only a device that changed
is built again.
"""

import contextlib
import os
import re
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version
from pathlib import Path

import cocotb_tools.config
from cocotb_tools.runner import Verilator
from litex.gen.fhdl import verilog

from bench import duts
from bench.folders import run_folder
from moderato.soc.toolchain import verilator
from moderato.soc.toolchain.cache import artifact, run

FLAGS = ["-Wno-fatal", "-O3", "--x-initial", "unique", "--x-assign", "unique"]
# Not for what runs once: gcc takes more than eight minutes to optimise the list of a MAC's names.
COMPILE = ["OPT_FAST=-O1", "OPT_SLOW=-O0"]
SEED = 1  # of cocotb's random numbers: a failure comes back when the test is run again


def text(name: str) -> str:
    """The Verilog of bench.duts.<name>(), without the comments that hold its date."""
    device, ports = getattr(duts, name)()
    code = verilog.convert(device, ports, name=name).main_source
    return "".join(line for line in code.splitlines(keepends=True) if not line.startswith("//"))


def build(name: str) -> Path:
    """The folder with the simulator of bench.duts.<name>()."""
    code = text(name)
    waves = bool(os.environ.get("WAVES"))
    inputs = [code, *FLAGS, *COMPILE, verilator.version(), version("cocotb"), f"waves {waves}"]
    return artifact(f"cocotb/{name}", inputs, lambda folder: _build(folder, name, code, waves),
                    note="20 seconds")


def _build(folder: Path, name: str, code: str, waves: bool):
    source = folder / f"{name}.v"
    source.write_text(code)
    library = cocotb_tools.config.libs_dir
    run([verilator.command(), "-cc", "--exe", "-Mdir", folder, "--top-module", name,
         "--prefix", "Vtop", "-o", name, "--vpi", "--public-flat-rw", "--timescale", "1ns/1ps",
         *FLAGS, *(["--trace"] if waves else []),
         "-LDFLAGS", f"-L{library} -lcocotbvpi_verilator",
         cocotb_tools.config.share_dir / "lib" / "verilator" / "verilator.cpp", source],
        env=verilator.environment())
    run(["make", "-C", folder, "-f", "Vtop.mk", *COMPILE, f"VM_TRACE={int(waves)}"],
        env=verilator.environment())


def simulate(module: str, name: str, cases: list[str]) -> dict[str, str | None]:
    """Runs `cases` of a test module on a device; returns for each case None or why it failed."""
    simulator = build(name)
    with run_folder(module) as folder:
        return _simulate(folder, simulator, module, name, cases)


def _simulate(folder: Path, simulator: Path, module: str, name: str, cases: list[str]):
    results, log = folder / "results.xml", folder / "log.txt"
    with contextlib.suppress(SystemExit, RuntimeError):  # a test failed, the simulator failed
        Verilator().test(
            test_module=module, hdl_toplevel=name, hdl_toplevel_lang="verilog",
            build_dir=simulator, test_dir=folder,
            test_filter="|".join(rf"\.{re.escape(case)}$" for case in cases), seed=SEED,
            waves=bool(os.environ.get("WAVES")), results_xml=str(results), log_file=log,
            extra_env={"LD_LIBRARY_PATH": str(cocotb_tools.config.libs_dir),
                       "COCOTB_LOG_LEVEL": os.environ.get("COCOTB_LOG_LEVEL", "WARNING")})
    outcome = dict.fromkeys(cases, f"the simulator ended before this test did; see {log}")
    if results.exists():
        for case in ElementTree.parse(results).getroot().iter("testcase"):
            failed = [child for child in case if child.tag in ("failure", "error", "skipped")]
            outcome[case.get("name")] = _reason(failed[0], log) if failed else None
    return outcome


def _reason(failure: ElementTree.Element, log: Path) -> str:
    return f"{failure.get('message') or failure.text or failure.tag}\n(see {log})"
