# SPDX-License-Identifier: BSD-2-Clause
"""The report in a browser without a network: its content, its errors, its requests."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import made_up_trials as made_up
import pytest

from moderato.sim.lab import cli
from moderato.sim.lab.explain import flame_graph
from moderato.sim.lab.report import page, profiles, records
from moderato.sim.lab.report.chapters import contents
from moderato.sim.lab.report.inputs import Inputs

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
]
FLAME_GRAPH = (
    '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 60" '
    'width="900" height="60">'
    '<g><title>ip_forward: 500</title><rect id="frame" width="900" height="16" y="20"/>'
    '<text y="32">ip_forward</text></g>'
    '<g><title>dst_input: 100</title><rect width="20" height="16"/></g>'
    f"{flame_graph.BEGIN}<script>alert()</script>{flame_graph.END}</svg>\n"
)
PROFILE = {
    "variant": "napi",
    "frame_bytes": 64,
    "load_percent": 100,
    "link_mbps": 100,
    "sys_clk_hz": 100_000_000,
    "interrupts_enabled": 7,
    "window": {"cycles": 10, "forwarded": 1, "received": 1, "rx_interrupts": 0, "tx_interrupts": 1},
    "terms": {"T_IP": {"cycles": 10}},
    "functions": {"ip_forward": 10},
    "causes": {"retire": 10} | dict.fromkeys(("pipeline", "icache", "dcache", "lsu", "tlb", "idle"), 0),
}


@dataclass
class Opened:
    """A loaded page."""

    dom: str
    console: list[str]
    requests: list[str]  # addresses other than its own


def browse(file: Path, folder: Path) -> Opened:
    chromium = shutil.which("chromium")
    assert chromium, "chromium is missing: run `./moderato setup`"
    log = folder / "requests.json"
    ended = subprocess.run(
        [
            chromium,
            *FLAGS,
            f"--user-data-dir={folder / 'browser'}",
            f"--log-net-log={log}",
            "--dump-dom",
            file.as_uri(),
        ],
        text=True,
        capture_output=True,
        timeout=120,
        check=True,
    )
    starts = (event.get("params", {}) for event in json.loads(log.read_text())["events"])
    # The browser's own requests, such as for updates, belong to no page.
    asked = {
        start["url"] for start in starts if start.get("initiator", "not an origin") != "not an origin"
    }
    return Opened(ended.stdout, re.findall(r":CONSOLE.*", ended.stderr), sorted(asked - {file.as_uri()}))


class Outline(HTMLParser):
    """The elements of a page: counts, ids, some texts."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.ids, self.texts, self.links = [], [], {}, []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.inside = tag
        if "id" in attributes:
            self.ids.append(attributes["id"])
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        self.texts.setdefault(self.inside, []).append(data)


@pytest.fixture(scope="module")
def trials() -> list[dict]:
    return made_up.run(["original", "napi"], [64, 512, 1518], phases=[0.5])


@pytest.fixture(scope="module")
def strategies() -> list[dict]:
    return made_up.strategies()


@pytest.fixture(scope="module")
def transfers() -> list[dict]:
    return [made_up.transfer(), *made_up.study(), made_up.through_two_harts("pinned", 200, 250)]


@pytest.fixture(scope="module")
def report(tmp_path_factory, trials, strategies, transfers) -> Path:
    folder = tmp_path_factory.mktemp("page")
    (folder / "trials.jsonl").write_text(
        "".join(json.dumps(trial) + "\n" for trial in [*trials, *strategies, *transfers])
    )
    (folder / "profiles").mkdir()
    (folder / "profiles" / "napi.json").write_text(json.dumps([PROFILE]))
    (folder / "profiles" / "flame graph.svg").write_text(FLAME_GRAPH)
    (folder / "profiles" / "burst.pftrace").write_bytes(b"trace")
    assert (
        cli.main(
            [
                "report",
                "--results",
                str(folder / "trials.jsonl"),
                "--profiles",
                str(folder / "profiles"),
                "--output",
                str(folder / "report.html"),
            ]
        )
        == 0
    )
    return folder / "report.html"


@pytest.fixture(scope="module")
def opened(report) -> Opened:
    return browse(report, report.parent)


@pytest.fixture(scope="module")
def outline(report) -> Outline:
    """The page without its script."""
    return Outline(report.read_text())


def test_faults_of_a_page_are_detected(tmp_path):
    """The following tests rely on this."""
    bad = tmp_path / "bad.html"
    bad.write_text('<img src="http://198.18.0.1/x.png"><script>console.error("wrong")</script>')
    found = browse(bad, tmp_path)
    assert len(found.console) == 1 and "wrong" in found.console[0]
    assert found.requests == ["http://198.18.0.1/x.png"]


def test_no_request_and_no_error(opened):
    assert opened.requests == [] and opened.console == []


def test_no_external_references(outline):
    assert outline.tags.count("script") == 1 and "link" not in outline.tags
    assert outline.links
    for link in outline.links:
        assert link.startswith(("#", "data:application/"))


def test_each_section_is_there_and_in_the_contents(outline, trials, strategies, transfers):
    on_one, on_two = (
        [each for each in transfers if records.several(each) == several] for several in (False, True)
    )
    chapters = contents(
        Inputs(
            records.Records(trials, [], strategies, on_one, hart_transfers=on_two),
            profiles.Profiles([PROFILE], {}, {}),
        )
    )
    assert [f"#section-{chapter.name}" for chapter in chapters] == [
        link for link in outline.links if link.startswith("#section-")
    ]
    for chapter in chapters:
        assert f"section-{chapter.name}" in outline.ids and chapter.title in outline.texts["h2"]
        for part in chapter.present:
            assert not hasattr(part, "name") or part.name in outline.ids
    assert "Not measured." not in "".join(outline.texts["p"])


def test_tables_have_captions_and_heads(outline):
    assert outline.tags.count("table") == outline.tags.count("caption") > 10
    captions = " ".join(outline.texts["caption"])
    for number in range(1, 6):
        assert f"Table {number}. " in captions


def test_points_have_tooltips(outline):
    figures = outline.tags.count("figure")
    assert figures == 10
    assert outline.tags.count("svg") == figures + 1  # the flame graph
    tips = outline.texts["title"]
    for figure in (
        "original, 512 bytes: 58.95 Mb/s",
        "load 100 %",
        "model",
        "µs per frame",
        "50 % within",
        "Rx interrupts per frame",
        "ip_forward: 500",
        "hw-moderated 1 ms: p99 1200 µs, CPU 20.0 %, 2000 interrupts/s",
    ):
        assert any(figure in tip for tip in tips), figure


def test_ids_are_unique_and_references_exist(outline):
    assert len(outline.ids) == len(set(outline.ids))
    assert {link[1:] for link in outline.links if link.startswith("#")} <= set(outline.ids)


def test_missing_parts_and_notes_are_shown(tmp_path, trials):
    of = records.Records(
        [trial for trial in trials if trial["task"]["kind"] == "burst"], ["2 line(s) of <x> are cut off"]
    )
    text = page.render(contents(Inputs(of, profiles.NONE)), of.notes)
    assert "2 line(s) of &lt;x&gt; are cut off" in text
    assert text.count("Not measured.") == 9 and "--test throughput" in text
