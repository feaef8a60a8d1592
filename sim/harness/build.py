# SPDX-License-Identifier: BSD-2-Clause
"""Builds moderato-sim with Verilator and clang, twice: the second time with a profile of the first.

binary = simulator(soc_verilog(SimConfig()), boot_images)      # .../moderato-sim
"""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from moderato.toolchain import verilator
from moderato.toolchain.cache import artifact, key, run
from moderato.toolchain.project import settings

from .rings import rings_header
from .tcp.lwip import library
from .top import free_running, soc_config, top_verilog

HERE = Path(__file__).parent
PATTERN = HERE.parents[1] / "soc/linux/stream/pattern.h"  # shared with the guest's programs
NAME = "moderato-sim"

VERILATOR = [
    "--cc",
    "--savable",
    "--prefix",
    "Vtop",
    "--top-module",
    "top",
    "--no-timing",
    "-O3",
    "--flatten",
    "-fdfg-synthesize-all",
    "--noassert",
    "-DSYNTHESIS",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    # The sources mark signals as public. Verilator would then evaluate their fan-out in each cycle.
    "--public-ignore",
    # Lint warnings about generated sources are off. A combinational loop (UNOPTFLAT) still ends the
    # build: model.h evaluates a cycle once, and a loop would need more.
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "-Wno-BLKANDNBLK",
    "-Wno-COMBDLY",
    "-Wno-TIMESCALEMOD",
    "-Werror-UNOPTFLAT",
]
TRAINING_CYCLES = 10_000_000


def simulator(verilog: Path, images: Iterable[tuple[Path, int]] = ()) -> Path:
    """The binary for a folder of Verilog files with soc.json.

    images: files and addresses of a program for the profile. They are not part of the key, because the
        profile changes only the speed. Without images there is no profile.
    """
    inputs = [*ingredients(verilog), *(["profile"] if images else [])]
    build_id = key("simulator", inputs)

    def build(directory: Path):
        model = directory / "model"
        verilate(verilog, model, build_id)
        if images:
            profile = model / "profile"
            compile_model(model, f"PROFILE=-fprofile-generate={profile}")
            _train(model, images)
            _merge(profile, model / "profile.data")
            shutil.rmtree(model / "hot")
            compile_model(model, f"PROFILE=-fprofile-use={model / 'profile.data'}")
        else:
            compile_model(model)
        shutil.move(model / NAME, directory / NAME)
        shutil.rmtree(model)

    return artifact("simulator", inputs, build, "about 1 minute") / NAME


def ingredients(verilog: Path) -> list[Path | str]:
    """The inputs that a simulator depends on."""
    soc = json.loads((verilog / "soc.json").read_text())
    return [
        *_files(verilog),
        top_verilog(soc),
        soc_config(soc, ""),
        *(path for path in sorted(HERE.rglob("*")) if path.suffix in (".cpp", ".h")),
        PATTERN,
        HERE / "Makefile",
        Path(__file__),
        HERE / "rings.py",
        _lwip().name,
        verilator.version(),
        _compiler(),
    ]


def verilate(verilog: Path, model: Path, build_id: str, *options: str):
    """Make the folder `model`: the SoC as C++ from Verilator, which gets the additional `options`, and
    the headers that describe it."""
    soc = json.loads((verilog / "soc.json").read_text())
    model.mkdir()
    (model / "top.sv").write_text(top_verilog(soc))
    (model / "soc_config.h").write_text(soc_config(soc, build_id))
    run(
        [
            verilator.command(),
            *VERILATOR,
            *options,
            "--Mdir",
            model,
            model / "top.sv",
            *_files(verilog),
        ],
        env=verilator.environment(),
    )
    header = (model / "Vtop___024root.h").read_text()
    (model / "rings.h").write_text(rings_header(header, len(soc["macs"])))
    (model / "free_running.h").write_text(free_running(soc, header))


def _files(verilog: Path) -> list[Path]:
    return sorted(verilog.glob("*.v")) + sorted(verilog.glob("*.sv"))


def _lwip() -> Path:
    return library(_compiler().replace("clang++", "clang"))


def compile_model(model: Path, *variables: str):
    """Make moderato-sim in a folder of verilate(). variables: of the Makefile."""
    (model / NAME).unlink(missing_ok=True)
    run(
        [
            "make",
            "-f",
            HERE / "Makefile",
            f"-j{os.cpu_count()}",
            f"MODEL={model}",
            f"LWIP={_lwip()}",
            f"CXX={_compiler()}",
            f"VERILATOR_ROOT={verilator.root()}",
            *variables,
        ]
    )


def _train(model: Path, images: Iterable[tuple[Path, int]]):
    """Run the beginning of a boot, which is typical of the processor's later work.

    Of 3, 10 and 24 M cycles, 10 M made the fastest model, by 5 % and 3 %.
    """
    script = model / "training.json"
    script.write_text(json.dumps({"do": "run", "cycles": TRAINING_CYCLES}) + "\n")
    load = [word for path, address in images for word in ("--load", f"{path}@{address:#x}")]
    run([model / NAME, *load, "--script", script])


def _merge(profile: Path, data: Path):
    merge = _compiler().replace("clang++", "llvm-profdata")
    run([merge, "merge", "-o", data, *sorted(profile.glob("*.profraw"))])


def _compiler() -> str:
    """clang++ with its version, as pyproject.toml names it among the Debian packages."""
    packages = settings()["debian"]["simulation"]
    return next(p for p in packages if p.startswith("clang-")).replace("clang-", "clang++-")
