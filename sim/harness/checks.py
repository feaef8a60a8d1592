# SPDX-License-Identifier: BSD-2-Clause
"""Formal properties of the MACs as checks: in a simulator with waves, a violation ends the command.

The proofs in cocotb-tests/formal state the properties. Here each proof gets a device of the SoC in place
of its own, and becomes a Verilog module, which is bound to the SoC. As the devices, it sees every clock
edge, so that a device that sleeps too long breaks a property, too.
"""

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from litex.gen.fhdl.verilog import convert
from migen import C, Cat, ClockDomain, If, Module, Signal
from migen.fhdl.tools import list_signals, list_targets

from moderato.gateware.bus.dma import DMAReader, DMAWriter
from moderato.gateware.interrupts.moderation import Moderation
from moderato.gateware.rings.descriptor import DescriptorFetcher
from moderato.toolchain.project import ROOT

from . import values

FILE = "checks.txt"  # next to the Verilog: SystemVerilog of the checks, for a simulator with waves
TESTS = ROOT / "cocotb-tests"
SOURCES = TESTS / "formal"
FUNCTION = "moderato_violated"
COMMENT = re.compile(r"^//[^\n]*\n|^/\*.*?^\*/\n", re.MULTILINE | re.DOTALL)  # one has the date

# In the simulator's sources. The model cannot continue after that.
CODE = f"""\
#include "error.h"

extern "C" void {FUNCTION}(const char* what) {{ throw Error(what); }}
"""


class Check(Module):
    """What a proof claims about a device: `violated` has a bit for each claim that does not hold."""

    def __init__(self, device: Module, proof: Module):
        self.device = device
        self.file = Path(inspect.getsourcefile(type(proof))).relative_to(ROOT)
        self.submodules.proof = proof
        self.clock_domains.cd_sys = self.clock = ClockDomain("sys")
        self.claims = {
            **{f": its environment breaks {name}": rule for name, rule in proof.rules.items()},
            **{f" breaks {name}": promise for name, promise in proof.promises.items()},
        }
        self.violated = Signal(len(self.claims))
        holds = [Signal() for _ in self.claims]
        self.comb += [signal.eq(claim) for signal, claim in zip(holds, self.claims.values())]
        self.comb += If(~getattr(proof, "unknown", C(0)), self.violated.eq(~Cat(*holds)))


def of(top: Module) -> list[Check]:
    """The checks of a SoC that is not finalized yet."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    from formal.descriptor import DescriptorProof
    from formal.dma import DMAReaderProof, DMAWriterProof
    from formal.moderation import ModerationProof

    def proofs(module: Module) -> Iterator[tuple[Module, Module]]:
        for _, each in module._submodules:
            if isinstance(each, Moderation):
                yield each, ModerationProof(each)
            elif isinstance(each, DescriptorFetcher):
                yield each, DescriptorProof(device=each)
            elif isinstance(each, DMAReader):
                yield each, DMAReaderProof(each, module.dma)
            elif isinstance(each, DMAWriter):
                yield each, DMAWriterProof(each, module.dma)
            yield from proofs(each)

    return [Check(*each) for each in proofs(top)]


def verilog(checks: Sequence[Check], top: str, clock: ClockDomain, namespace) -> str:
    """SystemVerilog of the checks.

    top: the SoC's module, which was converted with `namespace`, and has the clock domain `clock`.
    """
    text = f'import "DPI-C" function void {FUNCTION}(input string what);\n/* verilator tracing_off */\n'
    for number, check in enumerate(checks):
        module, name = f"check{number}", values.prefix_of(check.device, namespace).removesuffix("_")
        fragment, own = check.get_fragment(), check.clock
        inputs = list_signals(fragment) - list_targets(fragment) - {own.clk, own.rst}
        nets = {signal: namespace.get_name(signal) for signal in (clock.clk, clock.rst, *inputs)}
        own.clk.name_override, own.rst.name_override = nets.pop(clock.clk), nets.pop(clock.rst)
        names = [(signal, signal.name_override) for signal in nets]
        for signal, net in nets.items():
            signal.name_override = net
        made = convert(fragment, {own.clk, own.rst, *nets}, name=module)
        for signal, before in names:
            signal.name_override = before
        violated = made.ns.get_name(check.violated)
        calls = "".join(
            f'        if ({violated}[{bit}]) {FUNCTION}("{name}{claim} ({check.file})");\n'
            for bit, claim in enumerate(check.claims)
        )
        clocked = f"always @(posedge {own.clk.name_override})"
        body = f"{clocked} if (!{own.rst.name_override} && {violated} != 0) begin\n{calls}    end\n"
        text += values.add(COMMENT.sub("", made.main_source), body)
        text += f"bind {top} {module} {module} (.*);\n"
    return f"{text}/* verilator tracing_on */\n"
