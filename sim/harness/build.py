# SPDX-License-Identifier: BSD-2-Clause
"""Builds moderato-sim: Verilator, then clang with a profile of a short run.

    binary = simulator(soc_verilog(SimConfig()), boot_images)      # .../moderato-sim
"""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from moderato.soc.toolchain import verilator
from moderato.soc.toolchain.cache import artifact, key, run
from moderato.soc.toolchain.project import settings

from .top import SOC, soc_config, top_verilog

HERE = Path(__file__).parent
NAME = "moderato-sim"

VERILATOR = [
    "--cc", "--exe", "--savable", "--prefix", "Vtop", "--top-module", "top", "--no-timing",
    "-O3", "--flatten", "--noassert", "--x-assign", "fast", "--x-initial", "fast", "-DSYNTHESIS",
    # Sources mark signals as public, which would cost an evaluation of their fan-out in each cycle.
    "--public-ignore",
    "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-BLKANDNBLK", "-Wno-TIMESCALEMOD",
]
TRAINING_CYCLES = 8_000_000


def simulator(verilog: Path, images: Iterable[tuple[Path, int]] = ()) -> Path:
    """The binary for a folder of Verilog files with soc.json.

    images: files and addresses of something to run for the profile. They are no part of the key: the
        profile changes the speed, never what is simulated, and without images there is none.
    """
    files = sorted(verilog.glob("*.v")) + sorted(verilog.glob("*.sv"))
    soc = json.loads((verilog / "soc.json").read_text())
    sources = [path for path in sorted(HERE.rglob("*")) if path.suffix in (".cpp", ".h", ".py")]
    inputs = [*files, json.dumps(soc, sort_keys=True), *sources, verilator.version(), _compiler(),
              *(["profile"] if images else [])]
    build_id = key("simulator", inputs)

    def build(directory: Path):
        _write(directory / "top.sv", top_verilog(len(soc["macs"]), soc["cpu"]["harts"]))
        _write(directory / "soc_config.h", soc_config(soc, build_id))
        model = directory / "model"
        _verilate(directory, model, [directory / "top.sv", *files])
        profile = directory / "profile"
        if images:
            _compile(model, [f"-fprofile-generate={profile}"])
            _train(model / NAME, images, directory)
            _merge(profile, directory / "profile.data")
            for made in [*model.glob("*.o"), *model.glob("*.a"), model / NAME]:
                made.unlink()
            _compile(model, [f"-fprofile-use={directory / 'profile.data'}", "-Wno-profile-instr-out-of-date",
                             "-Wno-profile-instr-unprofiled"])
        else:
            _compile(model, [])
        shutil.move(model / NAME, directory / NAME)
        shutil.rmtree(model)
        shutil.rmtree(profile, ignore_errors=True)

    note = "about 3 minutes" if images else "about 1 minute"
    return artifact("simulator", inputs, build, note) / NAME


def _write(path: Path, text: str):
    path.write_text(text)


def _verilate(directory: Path, model: Path, files: list[Path]):
    cpp = [path for path in sorted(HERE.rglob("*.cpp"))]
    run([verilator.command(), *VERILATOR, "--Mdir", model, *files, *cpp,
         "-CFLAGS", f"-std=c++17 -I{directory} -I{HERE}", "-LDFLAGS", "-lzstd -latomic", "-o", NAME],
        env=verilator.environment())


def _compile(model: Path, flags: list[str]):
    compiler, flags = _compiler(), " ".join(flags)
    run(["make", "-C", model, f"-j{os.cpu_count()}", "-f", "Vtop.mk", NAME, *verilator.MAKE_VARIABLES,
         f"CXX={compiler}", f"LINK={compiler}", "OBJCACHE=", f"USER_CPPFLAGS=-O3 {flags}",
         f"USER_LDFLAGS={flags}"], env=verilator.environment())


def _train(binary: Path, images: Iterable[tuple[Path, int]], directory: Path):
    """Boot for a while with frames on all lines: what the model does most of the time."""
    script = directory / "training.json"
    script.write_text(json.dumps({"do": "run", "cycles": TRAINING_CYCLES}) + "\n")
    load = [word for path, address in images for word in ("--load", f"{path}@{address:#x}")]
    run([binary, *load, "--script", script])


def _merge(profile: Path, data: Path):
    merge = _compiler().replace("clang++", "llvm-profdata")
    run([merge, "merge", "-o", data, *sorted(profile.glob("*.profraw"))])


def _compiler() -> str:
    """clang++ with its version, as pyproject.toml names it among the Debian packages."""
    packages = settings()["debian"]["simulation"]
    return next(p for p in packages if p.startswith("clang-")).replace("clang-", "clang++-")
