# SPDX-License-Identifier: BSD-2-Clause
"""A device under test from Migen to Verilog to Verilator to cocotb.

The simulator runs the RTL, or Yosys' netlist of ECP5 cells. The build cache keeps simulators by
their Verilog, so only a changed device is built again.
"""

import contextlib
import inspect
import json
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import cocotb_tools.config
from cocotb_tools.runner import Verilator
from litex.gen.fhdl import verilog

from bench.devices import duts, litex_soc
from bench.folders import run_folder
from bench.simulation import Simulation
from bench.waves import FILE, save, wanted
from moderato.sim.harness import values
from moderato.toolchain import verilator, yowasp
from moderato.toolchain.cache import artifact, run
from synthesis.ecp5 import ports, synthesise

FLAGS = ["-Wno-fatal", "-O3", "--x-initial", "unique", "--x-assign", "unique"]
# In one file: with several, Verilator's makefile first compiles the headers in two ways. For most
# devices this takes as long as the rest, and 140 MB of the cache.
COMPILE = ["OPT_FAST=-O1", "VM_PARALLEL_BUILDS=0"]
# In a netlist or a board, gcc would take minutes to optimise code that runs once.
COMPILE_LARGE = ["OPT_FAST=-O1", "OPT_SLOW=-O0"]
CELLS = Path(duts.__file__).with_name("ecp5_cells.v")
SEED = 1  # seed of cocotb's random numbers, so that a failure can be repeated


def text(name: str) -> str:
    """The Verilog of bench.devices.duts.<name>(), without comments, which contain the date."""
    return converted(name)[0]


def converted(name: str) -> tuple[str, dict]:
    """The Verilog, and the files with the initial contents of memories.

    The cache keeps both by the sources of a device, because the conversion takes seconds.
    """
    made = _converted(name)
    return (made / "device.v").read_text(), json.loads((made / "memories.json").read_text())


def _converted(name: str) -> Path:
    generators = [f"{package} {version(package)}" for package in ("migen", "litex", "liteeth")]
    return artifact("cocotb/verilog", [name, *generators, *sources(), Path(values.__file__)],
                    lambda folder: _convert(name, folder))


def sources() -> list[Path]:
    """Our source files for any device. The gateware's may be a changed copy."""
    gateware = Path(inspect.getfile(duts.ModeratoMAC)).parent
    return [Path(duts.__file__), Path(inspect.getfile(duts.LiteEth)), Path(litex_soc.__file__),
            *sorted(Path(inspect.getfile(litex_soc.add_moderato)).parent.glob("*.py")),
            *sorted(gateware.rglob("*.py"))]


def _convert(name: str, folder: Path):
    device, ports = getattr(duts, name)()
    output = verilog.convert(device, ports, name=name,
        special_overrides=getattr(device, "special_overrides", {}))
    code = output.main_source.splitlines(keepends=True)
    (folder / "device.v").write_text("".join(line for line in code if not line.startswith("//")))
    (folder / "memories.json").write_text(json.dumps(output.data_files))
    (folder / values.FILE).write_text(values.verilog(device, output.ns))


def simulated(name: str) -> tuple[str, dict]:
    """Like converted(), but a memory with no_rw_check returns random bits for a word that is
    written in the same clock, as block RAM may: no device may depend on them."""
    code, memories = converted(name)
    return re.sub(r"\(\* no_rw_check = 1 \*\)\nreg \[(\d+):0\] (\w+)\[(?s:.)*?\n\n\n",
                  _collides, code), memories


def _collides(memory: re.Match) -> str:
    text, msb, name = memory[0], int(memory[1]), memory[2]
    (write, at), = re.findall(rf"if \((\w+)\)\n\t+{name}\[(\w+)\] <= \w+;", text)
    noise = f"{{{', '.join(['$random'] * (msb // 32 + 1))}}}"
    text, reads = re.subn(rf"({name}_dat\d+) <= {name}\[(?!{at}\])(\w+)\];",
                          rf"if ({write} && {at} == \2) \1 <= {noise}; else \g<0>", text)
    assert reads, f"{name} has no synchronous read port of its own"
    return text


def netlist(name: str) -> str:
    """Verilog of the same device in ECP5 cells, without the initial contents of its memories.

    These contents are zero, as in the cells' models. Other contents remain, and make the build
    fail.
    """
    code = (synthesise(name, text(name)) / "netlist.v").read_text()
    return re.sub(r"\n *\.INITVAL_\w\w\(320'h0+\),", "", code)


def names(name: str, code: str) -> str:
    """Verilator's configuration that names only the ports of a device, because each name costs time
    to compile and to run."""
    return "".join(f'public_flat_rw -module "{name}" -var "{port.name}"\n' for port in ports(code))


def build(name: str, cells: bool = False) -> Path:
    """The folder with the simulator of bench.devices.duts.<name>(), or of its netlist with `cells`."""
    code, memories = (netlist(name), {}) if cells else simulated(name)
    waves = wanted()
    if waves and not cells:
        code = values.add(code, (_converted(name) / values.FILE).read_text())
    compile = COMPILE_LARGE if cells else COMPILE
    inputs = [code, *FLAGS, *compile, verilator.version(), version("cocotb"), f"waves {waves}"]
    inputs += [f"{file}: {content}" for file, content in memories.items()]
    extra, public = [], names(name, text(name) if cells else code)
    if re.search(r"\b(LUT4|DELAYG|synchronizer)\b", code):
        extra   = [CELLS, f"+incdir+{yowasp.cell_models()}"]
        inputs += [CELLS, yowasp.version("yosys")]
    inputs.append(public)
    return artifact(f"cocotb/{name}-netlist" if cells else f"cocotb/{name}", inputs,
                    lambda folder: _build(folder, name, code, memories, public, extra, waves, compile),
                    note="a minute" if cells else "20 seconds")


def _build(folder: Path, name: str, code: str, memories: dict, public: str, extra: list,
           waves: bool, compile: list):
    for file, content in memories.items():
        (folder / file).write_text(content)
    source = folder / f"{name}.v"
    source.write_text(code)
    verilate(folder, name, [*extra, source], public, waves, compile=compile)


def verilate(folder: Path, name: str, sources: list, public: str, waves: bool = False,
             options: list = FLAGS, parameters: tuple = (), compile: list = COMPILE):
    """Builds the program `name` of the module with the same name.

    `public`: the signals that have names, in Verilator's configuration language.
    """
    configuration = folder / "public.vlt"
    configuration.write_text(f"`verilator_config\n{public}")
    _generate(folder, name, [*options, *parameters, configuration, *sources], waves)
    for file in _library(options, waves).glob("*.o"):
        shutil.copy(file, folder)
    _compile(folder, compile, waves)


def _library(options: list, waves: bool) -> Path:
    """A folder with the objects of Verilator's library: most of a small simulator's build time."""
    def build(folder: Path):
        source = folder / "nothing.v"
        # Just enough to use all parts of the library.
        delay = "#1" if "--timing" in options else ""
        source.write_text(f"module nothing(output reg r); initial {delay} r = 0; endmodule\n")
        _generate(folder, "nothing", [*options, "--public-flat-rw", source], waves)
        _compile(folder, COMPILE, waves)
        for pattern in "Vtop*", "nothing*", "verilator.o":  # cocotb's object includes the header
            for file in folder.glob(pattern):
                file.unlink()

    return artifact("cocotb/library", [*options, f"waves {waves}", *COMPILE, verilator.version(),
                                       version("cocotb")], build, note="20 seconds")


def _generate(folder: Path, name: str, words: list, waves: bool):
    library = cocotb_tools.config.libs_dir
    run([verilator.command(), "-cc", "--exe", "-Mdir", folder, "--top-module", name,
         "--prefix", "Vtop", "-o", name, "--vpi", "--timescale", "1ns/1ps",
         *(["--trace-fst"] if waves else []), "-LDFLAGS", f"-L{library} -lcocotbvpi_verilator",
         cocotb_tools.config.share_dir / "lib" / "verilator" / "verilator.cpp", *words],
        env=verilator.environment())


def _compile(folder: Path, compile: list, waves: bool):
    run(["make", "-C", folder, "-f", "Vtop.mk", *compile, f"VM_TRACE={int(waves)}"],
        env=verilator.environment())


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case."""
    failure: str | None   # reason of the failure; None: it passed
    seconds: float = 0.0  # of wall time
    ms:      float = 0.0  # of simulated time


def simulate(simulation: Simulation, cases: list[str], make=None) -> dict[str, Outcome]:
    """Runs the tests named `cases`; returns the outcome of each.

    `make`, or the simulation's own, is for a device that bench.devices.duts lacks. It returns the
    folder with its simulator, and the folder with the contents of its memories, or None.
    """
    make = make or simulation.make
    simulator, memories = make() if make else (build(simulation.device, simulation.cells), None)
    with run_folder(simulation.name) as folder:
        for content in (memories or simulator).glob("*.init"):
            (folder / content.name).unlink(missing_ok=True)
            (folder / content.name).symlink_to(content)
        return _simulate(folder, simulator, simulation, cases)


def _simulate(folder: Path, simulator: Path, simulation: Simulation, cases: list[str]):
    results, log = folder / "results.xml", folder / "log.txt"
    for old in [folder / FILE, *folder.glob("*.gtkw"), *folder.glob("*.sucl")]:
        old.unlink(missing_ok=True)
    with contextlib.suppress(SystemExit, RuntimeError):  # a test failed, the simulator failed
        Verilator().test(
            test_module="bench.chosen", hdl_toplevel=simulation.device, hdl_toplevel_lang="verilog",
            build_dir=simulator, test_dir=folder,
            test_filter="|".join(rf"\.{re.escape(case)}$" for case in cases), seed=SEED,
            waves=wanted(), results_xml=str(results), log_file=log,
            extra_env={"LD_LIBRARY_PATH": str(cocotb_tools.config.libs_dir),
                       "COCOTB_LOG_LEVEL": os.environ.get("COCOTB_LOG_LEVEL", "WARNING"),
                       "SIMULATION": simulation.name})
    outcomes = dict.fromkeys(cases, Outcome(f"the simulator ended before this test did; see {log}"))
    if results.exists():
        for case in ElementTree.parse(results).getroot().iter("testcase"):
            failed = [child for child in case if child.tag in ("failure", "error", "skipped")]
            begin, end = (sum(float(fact.get("value")) for fact in case.iter("property")
                              if fact.get("name") == f"sim_time_{which}") for which in ("start", "stop"))
            reason = _reason(failed[0], log) if failed else None
            if failed and (folder / FILE).exists():
                name = re.sub(r"[^\w=.]", "-", case.get("name"))
                reason += f"\nopen the wave: {save(folder, simulation.device, name, begin, end)}"
            outcomes[case.get("name")] = Outcome(reason, float(case.get("time")), (end - begin)/1e6)
        if (folder / FILE).exists():
            save(folder, simulation.device, Path(FILE).stem, 0, end)
    return outcomes


def _reason(failure: ElementTree.Element, log: Path) -> str:
    return f"{failure.get('message') or failure.text or failure.tag}\n(see {log})"
