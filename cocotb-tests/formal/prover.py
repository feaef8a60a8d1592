# SPDX-License-Identifier: BSD-2-Clause
"""Proofs by induction with the SAT solver in Yosys; no other tool is needed.

A proof is a Migen module with the device under test and
    assume      a signal that is set while the environment follows the rules,
    promises    name -> expression that then always holds,
    reachable   name -> expression that must be possible, so that no promise is vacuous,
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
REACH = 24      # default clocks within which a reachable state must be found
FOUND = "model found for base case: FAIL!"  # a trace on which a claim fails


class _Lister(NodeVisitor):
    """Lists signals, and which of them are registers."""
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
    """A signal inside a device that is not its attribute; of several with that name, the register.

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
    assert len(found) == 1, f"{len(found)} signals are named {name}"
    return found.pop()


def internals(device, name):
    """The signals of a list inside a device, in order."""
    lister = _Lister()
    lister.visit(device._fragment)
    return sorted((s for s in lister.signals if s.backtrace[-1][0] == name), key=lambda s: s.duid)


def latch(device, value, but=None):
    """The register of a device's FSM that stores a signal's value, although Migen mistakes its
    name."""
    lister = _Lister()
    lister.visit(list(device.fsm.actions.values()))
    found = {register for register, source in lister.latches if source is value and register is not but}
    assert len(found) == 1
    return found.pop()


def text(make):
    """Verilog of the proof that `make` makes, with an input for each free signal and an output for
    each promise and reachable state.
    """
    # Migen distinguishes signals of one name by the order of a set, which depends on the numbers of
    # all earlier objects in the process. Equal proofs must be equal text, because their results are
    # cached.
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
    """Names of the promises that Yosys cannot prove.

    By induction over one clock: all of them hold after reset, and each holds in a clock before
    which all of them held. (Yosys' own induction proves all at once, and takes many times as long.)
    """
    promises = re.findall(r"output wire +promise_(\w+)", code)
    held = " ".join(f"-set-at 1 promise_{name} 1" for name in promises)
    base = " ".join(f"-prove promise_{name} 1" for name in promises)
    steps = (f"log step {name}; sat {RULES} -seq 2 {held} -prove-skip 1 -prove promise_{name} 1"
             for name in promises)
    # The step starts in any state, not in that after reset.
    log = _yosys(code, f"sat {RULES} -tempinduct-baseonly -maxsteps 1 {base}; "
                       f"setattr -unset init w:*; {'; '.join(steps)}")
    proved = {name for name, step in _steps(log) if "no model found: SUCCESS!" in step}
    after_reset = "proved base case for 1 steps: SUCCESS!" in log
    return [name for name in promises if name not in proved or not after_reset]


def reached(code, clocks=REACH):
    """Names of the states that are reachable from reset, in an environment that follows the rules."""
    states = re.findall(r"output wire +reach_(\w+)", code)
    steps  = (f"log step {name}; design -load whole; {_search(f'reach_{name} 0', clocks)}"
              for name in states)
    log = _yosys(code, f"design -save whole; {'; '.join(steps)}")
    return {name for name, step in _steps(log) if FOUND in step}


def breaks(code, promise, clocks=REACH):
    """Whether a promise can be broken from reset on."""
    return FOUND in _yosys(code, _search(f"promise_{promise} 1", clocks))


def _search(claim, clocks):
    """Yosys' commands that search for a trace from reset on which a claim fails."""
    # Removes logic that only other claims need, bit by bit: most of a device with a buffer.
    others = f"w:promise_* w:reach_* %u w:{claim.split()[0]} %d"
    return (f"delete -output {others}; simplemap; opt; "
            f"sat {RULES} -seq 0 -tempinduct-baseonly -maxsteps {clocks} -prove {claim}")


def _steps(log):
    """(name, log) of each step in Yosys' log."""
    _, *parts = re.split(r"^step (\w+)$", log, flags=re.MULTILINE)
    return zip(parts[::2], parts[1::2])


def _yosys(code, commands):
    """Yosys' output, cached by its input, because it is always the same."""
    script = f"read_verilog proof.v; prep -flatten -top proof; memory_map; opt; {commands}"

    def build(folder):
        (folder / "proof.v").write_text(code)
        (folder / "proof.ys").write_text(script)  # longer than an argument may be
        run([yowasp.command("yosys"), "-s", "proof.ys"], cwd=folder)

    return (artifact("proof", [code, script, yowasp.version("yosys")], build) / LOG).read_text()
