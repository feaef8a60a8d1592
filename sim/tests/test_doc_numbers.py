# SPDX-License-Identifier: BSD-2-Clause
"""Each number has one source: pages that repeat it agree with the source."""

import re

import pytest

from moderato.sim.lab.report import doc_numbers, placeholders
from moderato.sim.lab.report.placeholders import Place, spaced
from moderato.sim.lab.show.errors import LabError
from moderato.toolchain.project import ROOT

# Excluded: sources of numbers, and dated records, which are not edited.
SOURCES = {"tables.md", "first-half-hour.md", "integrate.md"}


def test_pages_are_up_to_date():
    assert doc_numbers.stale() == []


def test_values_agree_with_the_tables():
    values = doc_numbers.values()
    # Of another core, if two harts have not been measured since.
    assert values["one hart 0"] in (values["napi-tx-off 64"], "–")
    assert float(values["napi-tx-off 64 / original"]) == round(
        int(values["napi-tx-off 64"]) / int(values["original 64"]), 2
    )
    assert int(values["napi forwarded"]) <= int(values["napi received"])


def test_the_first_half_hour_agrees_with_readme():
    """Its table is a quote (test_kept.py), README's is from docs/data."""
    values = doc_numbers.values()
    page = (ROOT / "docs/first-half-hour.md").read_text()
    for name in doc_numbers.VARIANTS:
        counts, rates, latency = (
            row.split() for row in re.findall(rf"^    {name} +(.*)$", page, re.MULTILINE)[:3]
        )
        assert counts[1:3] == [values[f"{name} received"], values[f"{name} forwarded"]]
        assert rates[5] == values[f"{name} fps"]
        assert f"{float(latency[1]) / 1000:.1f}" == values[f"{name} median"]


def test_every_place_is_filled():
    """A different number at each place changes each page."""
    values = {name: str(9_000_000 + number) for number, name in enumerate(doc_numbers.values())}
    found = {
        path.relative_to(ROOT).as_posix(): text
        for path, text in placeholders.files(doc_numbers.PLACES, values)
    }
    for place in doc_numbers.PLACES:
        for name in place.names:
            assert (spaced(values[name]) if place.spaced else values[name]) in found[place.file]


BY_CHANCE = {"ontime.md": {"17539"}}


def test_filled_numbers_occur_nowhere_else():
    """Checks numbers with five digits, which are hardly equal by chance."""
    values = {name: value.replace(" ", "") for name, value in doc_numbers.values().items()}
    long = {value for value in values.values() if value.isdecimal() and int(value) >= 10_000}
    pages = {
        path: path.read_text()
        for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
        if path.name not in SOURCES
    }
    pages |= {
        path: text
        for path, text in placeholders.files(doc_numbers.PLACES, dict.fromkeys(values, "0"))
        if path in pages
    }
    by_hand = {value.replace(" ", "") for value in doc_numbers.by_hand().values()}
    found = {}
    for path, text in pages.items():
        numbers = {
            re.sub(r"\s", "", number) for number in re.findall(r"\d{1,3}(?:\s\d{3})+|\d{5,}", text)
        }
        # In tcp.md, the cycles of a segment equal that SoC's frames by chance, and so do the frames of
        # another trial in ontime.md.
        known = by_hand if path.name in ("two-harts.md", "tcp.md") else BY_CHANCE.get(path.name, set())
        if again := numbers & (long - known):
            found[path.name] = sorted(again)
    assert found == {}


@pytest.mark.parametrize("text", ["", "It takes 5 s.\nIt takes\n6 s.\n"])
def test_ambiguous_place_is_an_error(text):
    with pytest.raises(LabError, match="page.md has .* [02] times"):
        Place("page.md", "It takes {} s.", ["a"]).fill(text, {"a": "7"})


def test_numbers_in_sentences():
    place = Place("page.md", "from {} to {} frames", ["a", "b"], spaced=True)
    assert place.fill("from 1 to\n19\n676 frames.", {"a": "9999", "b": "1234567"}) == (
        "from 9999 to\n1 234 567 frames."
    )
