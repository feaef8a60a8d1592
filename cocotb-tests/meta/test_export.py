# SPDX-License-Identifier: BSD-2-Clause
"""Files made from the register table are up to date, and the check detects stale ones."""

from moderato.gateware import export
from moderato.gateware.registers import table as registers
from moderato.sim.lab import cli
from moderato.sim.lab.report import doc_numbers


def test_header_and_docs_are_fresh(capsys):
    assert cli.main(["export", "--check"]) == 0, capsys.readouterr().err


def test_a_changed_table_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(registers, "MINOR", registers.MINOR + 1)
    others = {name: text for name, text in export.OPTIONS.items() if name != "merge"}
    monkeypatch.setattr(export, "OPTIONS", others)  # delitem() would put it back at the end
    assert cli.main(["export", "--check"]) == 1
    assert capsys.readouterr().err == (
        "moderato: linux-driver/moderato_regs.h, docs/registers.md, docs/options.md: not as what it "
        "is made from; run `./moderato export`\n")


def test_files_are_made_anew(monkeypatch, tmp_path):
    files = {tmp_path / path.name: make for path, make in export.FILES.items()}
    monkeypatch.setattr(export, "FILES", files)
    monkeypatch.setattr(export, "ROOT", tmp_path)
    monkeypatch.setattr(doc_numbers, "PLACES", ())
    assert cli.main(["export", "--check"]) == 1
    assert cli.main(["export"]) == 0
    assert cli.main(["export", "--check"]) == 0


def test_fresh_files_are_not_written():
    """Other tests read them."""
    files = [*export.FILES, *doc_numbers.texts()]
    before = [path.stat().st_mtime_ns for path in files]
    assert cli.main(["export"]) == 0
    assert [path.stat().st_mtime_ns for path in files] == before


def test_registers_do_not_overlap():
    offsets = [register.offset for register in registers.registers()]
    assert len(set(offsets)) == len(offsets) and all(offset % 4 == 0 for offset in offsets)
    for register in [*registers.registers(), *registers.DESCRIPTOR]:
        bits = [field.lsb + n for field in register.fields for n in range(field.width)]
        assert len(set(bits)) == len(bits) and max(bits, default=0) < 32, register.name
