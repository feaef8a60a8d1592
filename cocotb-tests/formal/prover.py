# SPDX-License-Identifier: BSD-2-Clause
"""Proofs by induction with the SAT solver inside Yosys; nothing else is needed.

A proof is a Migen module with the device under test and
    assume      a signal that is set while the environment plays by the rules,
    promises    name -> expression that always holds then,
    reachable   name -> expression that must be possible: no promise holds for want of cases,
    inputs      the free signals.
"""

import re

from litex.gen.fhdl import verilog
from migen import ClockDomain, Signal
from migen.fhdl.structure import DUID
from migen.fhdl.tools import list_targets
from migen.fhdl.visit import NodeVisitor
from migen.genlib.fsm import NextValue

from moderato.toolchain import yowasp
from moderato.toolchain.cache import LOG, artifact, run

RULES = "-set sys_rst 0 -set assume_all 1"
REACH = 24      # clocks in which a reachable state must be found, if no more are asked for
FOUND = "model found for base case: FAIL!"  # a way on which a claim does not hold


class _Lister(NodeVisitor):
    """Signals, and which of them are registers."""
    def __init__(self):
        self.signals, self.registers, self.latches = set(), set(), []

    def visit_Signal(self, node):
        self.signals.add(node)

    def visit_unknown(self, node):
        if isinstance(node, NextValue):
            self.registers.add(node.target)
            self.latches.append((node.target, node.value))
            self.visit([node.target, node.value])


def internal(device, name, but=None):
    """A signal inside a device that is no attribute of it; of several with that name its register.

    but: not this one.
    """
    lister = _Lister()
    lister.visit(device._fragment)
    lister.registers |= list_targets(device._fragment.sync["sys"])
    if hasattr(device, "fsm"):
        lister.visit(list(device.fsm.actions.values()))
    found = {s for s in lister.signals if s.backtrace[-1][0] == name and s is not but}
    if len(found) > 1:
        found &= lister.registers
    assert len(found) == 1, f"{len(found)} signals are called {name}"
    return found.pop()


def internals(device, name):
    """The signals of a list inside a device, in their order."""
    lister = _Lister()
    lister.visit(device._fragment)
    return sorted((s for s in lister.signals if s.backtrace[-1][0] == name), key=lambda s: s.duid)


def latch(device, value, but=None):
    """The register of a device's FSM that takes a signal's value, where Migen mistakes its name."""
    lister = _Lister()
    lister.visit(list(device.fsm.actions.values()))
    found = {register for register, source in lister.latches if source is value and register is not but}
    assert len(found) == 1
    return found.pop()


def text(make):
    """Verilog of the proof that `make` makes, with an input per free signal and an output per promise
    and per reachable state.
    """
    # Migen tells signals of one name apart by the order of a set, which depends on the numbers of all
    # that the process made before. Equal proofs shall be equal text, for their results are kept.
    DUID._DUID__next_uid = 0
    proof = make()
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
    """Names of the promises that Yosys can't prove.

    By induction over one clock: all of them hold after reset, and each holds in a clock before which
    all of them held. (Yosys' own induction asks for all at once, and takes many times as long.)
    """
    promises = re.findall(r"output wire +promise_(\w+)", code)
    held = " ".join(f"-set-at 1 promise_{name} 1" for name in promises)
    base = " ".join(f"-prove promise_{name} 1" for name in promises)
    steps = (f"log step {name}; sat {RULES} -seq 2 {held} -prove-skip 1 -prove promise_{name} 1"
             for name in promises)
    # The step begins in any state, not in that after reset.
    log = _yosys(code, f"sat {RULES} -tempinduct-baseonly -maxsteps 1 {base}; "
                       f"setattr -unset init w:*; {'; '.join(steps)}")
    proved = {name for name, step in _steps(log) if "no model found: SUCCESS!" in step}
    after_reset = "proved base case for 1 steps: SUCCESS!" in log
    return [name for name in promises if name not in proved or not after_reset]


def reached(code, clocks=REACH):
    """Names of the states that can come about from reset, in an environment that plays by the rules."""
    states = re.findall(r"output wire +reach_(\w+)", code)
    steps  = (f"log step {name}; design -load whole; {_search(f'reach_{name} 0', clocks)}"
              for name in states)
    log = _yosys(code, f"design -save whole; {'; '.join(steps)}")
    return {name for name, step in _steps(log) if FOUND in step}


def breaks(code, promise, clocks=REACH):
    """Whether a promise can be broken from reset on."""
    return FOUND in _yosys(code, _search(f"promise_{promise} 1", clocks))


def _search(claim, clocks):
    """Yosys' commands that look for a way from reset on which a claim does not hold."""
    # What only other claims need goes, bit by bit: that is most of a device with a buffer.
    others = f"w:promise_* w:reach_* %u w:{claim.split()[0]} %d"
    return (f"delete -output {others}; simplemap; opt; "
            f"sat {RULES} -seq 0 -tempinduct-baseonly -maxsteps {clocks} -prove {claim}")


def _steps(log):
    """(name, log) of each step in Yosys' log."""
    _, *parts = re.split(r"^step (\w+)$", log, flags=re.MULTILINE)
    return zip(parts[::2], parts[1::2])


def _yosys(code, commands):
    """What Yosys says; kept by what it was asked, for the answer is always the same."""
    script = f"read_verilog proof.v; prep -flatten -top proof; memory_map; opt; {commands}"

    def build(folder):
        (folder / "proof.v").write_text(code)
        (folder / "proof.ys").write_text(script)  # longer than an argument may be
        run([yowasp.command("yosys"), "-s", "proof.ys"], cwd=folder)

    return (artifact("proof", [code, script, yowasp.version("yosys")], build) / LOG).read_text()
