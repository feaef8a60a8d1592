# SPDX-License-Identifier: BSD-2-Clause
"""Proofs by k-induction with the SAT solver inside Yosys; nothing else is needed.

A proof is a Migen module with the device under test and
    assume      a signal that is set while the environment plays by the rules,
    promises    name -> expression that always holds then,
    reachable   name -> expression that must be possible: no promise holds for want of cases,
    inputs      the free signals.
"""

import re

from litex.gen.fhdl import verilog
from migen import ClockDomain, Signal
from migen.fhdl.tools import list_signals

from moderato.soc.toolchain import yowasp
from moderato.soc.toolchain.cache import LOG, artifact, run

INDUCTION = 4   # clocks: what a proof may lean on
REACH = 24      # clocks in which a reachable state must be found


def internal(device, name):
    """A signal inside a device that is no attribute of it."""
    found = [s for s in list_signals(device._fragment) if s.backtrace[-1][0] == name]
    assert len(found) == 1, f"{len(found)} signals are called {name}"
    return found[0]


def text(proof):
    """Verilog with an input per free signal and an output per promise and per reachable state."""
    domain = ClockDomain("sys")
    proof.clock_domains += domain
    ports = {domain.clk, domain.rst, proof.assume} | proof.inputs
    for prefix, group in (("promise", proof.promises), ("reach", proof.reachable)):
        for name, expression in group.items():
            signal = Signal(name_override=f"{prefix}_{name}")
            proof.comb += signal.eq(expression)
            ports.add(signal)
    code = verilog.convert(proof, ports, name="proof").main_source
    return re.sub(r"^//.*\n", "", code, flags=re.MULTILINE)  # a comment has the date


def broken_promises(code):
    """Names of the promises that Yosys can't prove, with the shortest counterexample it found.

    All are proved together: each may lean on what the others say of earlier clocks.
    """
    promises = re.findall(r"output wire +(promise_\w+)", code)
    proofs = " ".join(f"-prove {name} 1" for name in promises)
    log = _sat(code, f"-tempinduct -maxsteps {INDUCTION} {proofs}")
    if "Induction step proven: SUCCESS!" in log:
        return []
    return sorted(set(re.findall(r"\\promise_(\w+) +0 +0 +0", log))) or [log[-2000:]]


def reaches(code, state):
    """Whether a state can come about from reset, in an environment that plays by the rules."""
    return _happens(code, f"reach_{state} 0")


def breaks(code, promise):
    """Whether a promise can be broken from reset on."""
    return _happens(code, f"promise_{promise} 1")


def _happens(code, claim):
    log = _sat(code, f"-tempinduct-baseonly -maxsteps {REACH} -prove {claim}")
    return "model found for base case: FAIL!" in log


def _sat(code, options):
    """What Yosys says; kept by what it was asked, for the answer is always the same."""
    script = ("read_verilog proof.v; prep -flatten -top proof; memory_map; opt; "
              f"sat -set sys_rst 0 -set assume_all 1 -seq 0 {options}")

    def build(folder):
        (folder / "proof.v").write_text(code)
        run([yowasp.command("yosys"), "-p", script], cwd=folder)

    return (artifact("proof", [code, script, yowasp.version("yosys")], build) / LOG).read_text()
