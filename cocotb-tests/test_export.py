# SPDX-License-Identifier: BSD-2-Clause
"""What is made from the register table is up to date, and staleness is noticed."""

import subprocess
import sys

from moderato.gateware import export
from moderato.gateware.registers import table as registers


def test_header_and_docs_are_fresh():
    run = subprocess.run([sys.executable, "-m", "moderato.gateware.export", "--check"],
                         text=True, capture_output=True)
    assert run.returncode == 0, run.stderr


def test_a_changed_table_is_noticed(monkeypatch):
    monkeypatch.setattr(registers, "MINOR", registers.MINOR + 1)
    monkeypatch.delitem(export.OPTIONS, "merge")
    for path, make in export.FILES.items():
        assert path.read_text() != make(), path.name


def test_registers_do_not_overlap():
    offsets = [register.offset for register in registers.registers()]
    assert len(set(offsets)) == len(offsets) and all(offset % 4 == 0 for offset in offsets)
    for register in [*registers.registers(), *registers.DESCRIPTOR]:
        bits = [field.lsb + n for field in register.fields for n in range(field.width)]
        assert len(set(bits)) == len(bits) and max(bits, default=0) < 32, register.name
