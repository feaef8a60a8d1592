# SPDX-License-Identifier: BSD-2-Clause
"""One test module on the gateware that stands first on the import path; a process of its own.

    python -m mutate.run MODULE RESULT [CASE ...]

RESULT is the file that gets the outcome: a kind (passed, failed, elaboration, build, ended), the case
that failed, and its message. $MODERATO_CACHE is where the simulator is built and run.
"""

import json
import os
import resource
import sys
from importlib import import_module
from pathlib import Path

from bench import cases, simulator
from moderato.soc.toolchain import yowasp
from moderato.soc.toolchain.project import cache_root

# A mutant's simulator runs once: what matters is that it is compiled soon.
COMPILE = ["OPT_FAST=-O0", "VM_PARALLEL_BUILDS=0"]
# Of a processor, for a simulation: more is a hang, however busy the machine is.
GUARD = 1200  # s


def tests(module) -> list:
    """The cocotb tests of a module that are not slow."""
    return [test.name for item in vars(module).values() for test in cases.tests(item)
            if not cases.is_slow(module, test)]


def build(name: str) -> Path:
    """The folder with the simulator of a device, whose ports alone have names."""
    folder = cache_root() / "simulator"
    folder.mkdir(parents=True)
    code = simulator.text(name)
    source = folder / f"{name}.v"
    source.write_text(code)
    sources, parameters = [source], []
    if "synchronizer" in code:
        sources = [simulator.CELLS, source]
        parameters = [f"+incdir+{yowasp.cell_models()}"]
    simulator.verilate(folder, name, sources, simulator.names(name, code), parameters=parameters,
                       compile=COMPILE)
    return folder


def outcome(module: str, wanted: list[str]):
    os.environ.update(COCOTB_MAX_FAILURES="1", MUTATE_MODULE=module)
    try:
        loaded = import_module(module)
        simulator.text(loaded.DUT)
    except Exception as error:
        return "elaboration", None, f"{type(error).__name__}: {error}"
    try:
        folder = build(loaded.DUT)
    except Exception as error:
        return "build", None, str(error)[:500]
    known = tests(loaded)
    wanted = [case for case in wanted if case in known] or known
    results = simulator.simulate("mutate.limited", loaded.DUT, wanted, make=lambda: (folder, None))
    failed = {case: result.failure for case, result in results.items() if result.failure}
    if not failed:
        return "passed", None, None
    # Those that did not run because of the first failure say so.
    own = [case for case, reason in failed.items()
           if "Regression stopped" not in reason and "ended before" not in reason]
    case = own[0] if own else next(iter(failed))
    return "failed" if own else "ended", case, failed[case][:500]


if __name__ == "__main__":
    _, module, result, *wanted = sys.argv
    resource.setrlimit(resource.RLIMIT_CPU, (GUARD, GUARD))  # of each program that this one starts
    Path(result).write_text(json.dumps(outcome(module, wanted)))
