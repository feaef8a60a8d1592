# SPDX-License-Identifier: BSD-2-Clause
"""Moments that only signals show: accesses of registers, completions of descriptors, values.

The simulator with all signals writes these for the whole run, and they are read here.
"""

import bisect
import difflib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from moderato.gateware.registers.table import INDEX_BITS, MAX_RING_ORDER, registers

from ..show.errors import UsageError
from .moments import Moment
from .signals import Signal
from .triggers import CSR_WRITE, DESCRIPTORS, VALUE, Trigger

Rows = Sequence[tuple[int, int]]  # of a signal: from which cycle on it has which value
BUS = r"moderatomac(\d)_registerfile\d+_bus_(ack|we|adr|sel|dat_w|dat_r)"
COMPLETED = r"moderatomac(\d)_registerfile\d+_reg_{way}(\d*)_completed"
WHOLE = 0b1111  # octets: a write of fewer changes nothing


def watched(trigger: Trigger, signals: Sequence[Signal]) -> list[Signal]:
    """The signals that show a trigger. A UsageError names what is near to one that is none."""
    if trigger.kind == VALUE:
        (name,) = trigger.words
        found = [signal for signal in signals if name in (signal.name, signal.path)]
        if not found:
            near = difflib.get_close_matches(name, [signal.name for signal in signals], n=4, cutoff=0.4)
            raise UsageError(f"{trigger}: {name} is not a signal; near it: {', '.join(near) or 'none'}")
        return found
    pattern = re.compile(_pattern(trigger))
    found = [signal for signal in signals if pattern.fullmatch(signal.name)]
    if not found:
        raise UsageError(f"{trigger}: this NIC does not have Moderato's registers; leave --nic out")
    return found


def _pattern(trigger: Trigger) -> str:
    way = DESCRIPTORS.get(trigger.kind)
    return COMPLETED.format(way=way) if way else BUS


def read(file: Path, signals: Sequence[Signal], sys_clk_hz: int) -> dict[str, Rows]:
    """The values of signals in a wave, by the names of the sources."""
    from pywellen import Waveform  # pyright: ignore[reportAttributeAccessIssue]

    wave = Waveform(str(file))
    return {
        signal.name: [
            (-(-time * sys_clk_hz // 1_000_000_000_000), value)
            for time, value in wave[signal.path].signal
        ]
        for signal in signals
    }


def moments(trigger: Trigger, rows: Mapping[str, Rows]) -> Iterator[Moment]:
    """All of the trigger's kind; of a value, all of its signal."""
    if trigger.kind == VALUE:
        ((name, values),) = rows.items()
        for cycle, value in values[1:]:
            yield Moment(cycle, VALUE, trigger.words, value)
        return
    pattern = re.compile(_pattern(trigger))
    if trigger.kind in DESCRIPTORS:
        for name, values in rows.items():
            found = pattern.fullmatch(name)
            assert found
            yield from _completions(trigger.kind, found[1], found[2] or "0", values)
        return
    ports: dict[str, dict[str, Rows]] = {}
    for name, values in rows.items():
        found = pattern.fullmatch(name)
        assert found
        ports.setdefault(found[1], {})[found[2]] = values
    for port, bus in ports.items():
        yield from _accesses(trigger.kind, port, bus)


def _completions(kind: str, port: str, queue: str, indices: Rows) -> Iterator[Moment]:
    """The register has the index of the next descriptor one cycle after a completion."""
    for (_, before), (cycle, after) in itertools.pairwise(indices):
        count = (after - before) % (1 << INDEX_BITS)
        if count <= 1 << MAX_RING_ORDER:  # else the ring starts again
            for index in range(before, before + count):
                yield Moment(cycle - 1, kind, (port, str(index % (1 << INDEX_BITS)), queue))


def _accesses(kind: str, port: str, bus: Mapping[str, Rows]) -> Iterator[Moment]:
    """The bus keeps address and data until the acknowledgement."""
    names = {each.offset // 4: each.name for each in registers()}
    for cycle, acknowledged in bus["ack"]:
        writes = bool(_at(bus["we"], cycle))
        if not acknowledged or writes != (kind == CSR_WRITE):
            continue
        if writes and _at(bus["sel"], cycle) != WHOLE:
            continue
        word = _at(bus["adr"], cycle) % 1024
        name = names.get(word, f"{4 * word:#05x}")
        yield Moment(cycle, kind, (name, port), _at(bus["dat_w" if writes else "dat_r"], cycle))


def _at(rows: Rows, cycle: int) -> int:
    return rows[bisect.bisect_right(rows, cycle, key=lambda row: row[0]) - 1][1]
