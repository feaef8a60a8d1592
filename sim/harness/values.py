# SPDX-License-Identifier: BSD-2-Clause
"""Names for values in a wave, which only Migen knows: states of FSMs, fields of registers and of the
status that a descriptor gets.

Both viewers show texts, which are signals with 8 bits for each character. So a state is such a signal.
"""

import re
from collections.abc import Iterable, Iterator

from migen import Module, Signal
from migen.genlib.fsm import FSM

from moderato.gateware.registers.register_file import RegisterFile
from moderato.gateware.registers.table import DESCRIPTOR, Field, registers
from moderato.gateware.rings.completions import Completions

FILE = "values.txt"  # next to the Verilog: more of its top module, for a simulator with waves
TEXT = "_text"  # at the end of the name of a signal that is a text
STATUS = next(word for word in DESCRIPTOR if word.name == "STATUS")


def verilog(top: Module, namespace) -> str:
    """Verilog of more signals for the module that `top` was converted to.

    namespace: LiteX's, of that conversion.
    """
    lines = []
    for prefix, module in _modules(top, namespace):
        if isinstance(module, FSM) and module.state in namespace.sigs:
            state = namespace.get_name(module.state)
            lines.append(_state(prefix.removesuffix("_") + TEXT, state, module.decoding))
        elif isinstance(module, Completions):
            prefix += "status_"
            beat = module.port.data
            valid, ready, data = map(namespace.get_name, (beat.valid, beat.ready, beat.data))
            lines.append(f"wire {prefix}written = {valid} & {ready};")
            lines += _fields(prefix, data, STATUS.fields, 32)
        elif isinstance(module, RegisterFile):
            for register in registers():
                value = module.value.get(register.name)
                if value in namespace.sigs and len(value) > 1:
                    fields = [each for each in register.fields if each.lsb + each.width <= len(value)]
                    name = namespace.get_name(value)
                    lines += _fields(f"{name}_", name, fields)
    return "".join(f"{line}\n" for line in lines)


def add(code: str, more: str) -> str:
    """Verilog whose last module has `more` at its end."""
    before, end, after = code.rpartition("endmodule")
    return f"{before}{more}{end}{after}"


def _modules(top: Module, namespace, prefix: str = "") -> Iterator[tuple[str, Module]]:
    """Each module inside, with what the names of its signals begin with."""
    for name, module in top._submodules:
        own = "" if isinstance(module, FSM) else prefix_of(module, namespace)
        inside = own or f"{prefix}{name or type(module).__name__.lower()}_"
        yield inside, module
        yield from _modules(module, namespace, inside)


def prefix_of(module: Module, namespace) -> str:
    """What the Verilog's names of a module's attributes begin with; "" if it has no such signal."""
    for name, signal in vars(module).items():
        if isinstance(signal, Signal) and signal in namespace.sigs:
            if found := re.fullmatch(rf"(.*_){name}\d*", namespace.get_name(signal)):
                return found[1]
    return ""


def _state(name: str, signal: str, states: dict) -> str:
    # A state without a name is an object, whose text has its address.
    texts = {n: state if isinstance(state, str) else str(n) for n, state in states.items()}
    longest = max(map(len, texts.values()))
    value = "".join(f'({signal} == {number}) ? "{text}" : ' for number, text in texts.items())
    return f'wire [{8 * longest - 1}:0] {name} = {value}"?";'


def _fields(prefix: str, signal: str, fields: Iterable[Field], shift: int = 0) -> Iterator[str]:
    for field in fields:
        lsb = field.lsb + shift
        width = f"[{field.width - 1}:0] " * (field.width > 1)
        yield f"wire {width}{prefix}{field.name} = {signal}[{lsb + field.width - 1}:{lsb}];"
