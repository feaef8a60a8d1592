# SPDX-License-Identifier: BSD-2-Clause
"""One simulation of the gateware that is first on the import path, in its own process.

    python -m mutate.run NAME RESULT [CASE ...]

NAME is a test file without `.py`, or a row of wires/test_wires.py.

RESULT is the file for the outcome: a kind (passed, failed, elaboration, build, ended), the case
that failed, and its message. The simulator is built and run in $MODERATO_CACHE.
"""

import json
import os
import resource
import sys
from pathlib import Path

from bench import simulator
from bench.simulation import LONGEST, named
from moderato.toolchain import yowasp
from moderato.toolchain.project import cache_root

# A mutant's simulator runs once, so a short compilation matters most.
COMPILE = ["OPT_FAST=-O0", "VM_PARALLEL_BUILDS=0"]
# CPU time of a simulation: more is a hang, on a machine with any load.
GUARD = 1200  # s


def build(name: str) -> Path:
    """The folder with the simulator of a device, in which only ports have names."""
    folder = cache_root() / "simulator"
    folder.mkdir(parents=True)
    code, _ = simulator.simulated(name)
    source = folder / f"{name}.v"
    source.write_text(code)
    sources, parameters = [source], []
    if "synchronizer" in code:
        sources = [simulator.CELLS, source]
        parameters = [f"+incdir+{yowasp.cell_models()}"]
    simulator.verilate(folder, name, sources, simulator.names(name, code), parameters=parameters,
                       compile=COMPILE)
    return folder


def outcome(name: str, wanted: list[str]):
    os.environ.update(COCOTB_MAX_FAILURES="1", CASE_LIMIT=str(2*LONGEST))
    try:
        simulation = named(name)
        simulator.text(simulation.device)
    except Exception as error:
        return "elaboration", None, f"{type(error).__name__}: {error}"
    try:
        folder = build(simulation.device)
    except Exception as error:
        return "build", None, str(error)[:500]
    known = [test.name for test in simulation.tests if not simulation.is_slow(test)]
    wanted = [case for case in wanted if case in known] or known
    results = simulator.simulate(simulation, wanted, make=lambda: (folder, None))
    failed = {case: result.failure for case, result in results.items() if result.failure}
    if not failed:
        return "passed", None, None
    # Those that did not run because of the first failure have these messages.
    own = [case for case, reason in failed.items()
           if "Regression stopped" not in reason and "ended before" not in reason]
    case = own[0] if own else next(iter(failed))
    return "failed" if own else "ended", case, failed[case][:500]


if __name__ == "__main__":
    _, name, result, *wanted = sys.argv
    resource.setrlimit(resource.RLIMIT_CPU, (GUARD, GUARD))  # limits each program that this one starts
    Path(result).write_text(json.dumps(outcome(name, wanted)))
