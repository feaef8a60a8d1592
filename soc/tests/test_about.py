# SPDX-License-Identifier: BSD-2-Clause
"""The environment that a fault report describes, and the names that it must not contain."""

import getpass
import json
import platform
import shutil

from moderato.sim.lab import cli
from moderato.toolchain import about, cache, project


def test_lists_all_versions_that_affect_results(tmp_path, capsys):
    assert cli.main(["about", "--json", str(tmp_path / "about.json")]) == 0
    shown = capsys.readouterr().out
    found = json.loads((tmp_path / "about.json").read_text())
    assert found["release"] == project.release() and found["commit"] == project.commit()
    assert None not in found["packages"].values() and "19." in found["programs"]["clang-19"]
    assert found["machine"]["cores"] >= 1 and found["machine"]["memory"] > 1 << 28
    for name, version in (found["packages"] | found["programs"]).items():
        assert any(line.split() == [name, *version.split()] for line in shown.splitlines())


def test_reports_missing_items(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(about, "PACKAGES", ("no-such-package",))
    found = about.about()
    assert found["packages"] == {"no-such-package": None} and set(found["programs"].values()) == {None}
    assert (found["cache"]["there"], found["cache"]["kinds"]) == (False, {})
    assert cli.main(["about"]) == 0
    assert f"{tmp_path}/none, not there" in capsys.readouterr().out


def test_counts_damaged_artifacts(monkeypatch, tmp_path):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path))
    made = [
        cache.artifact("thing", [word], lambda folder: (folder / "file").write_text("abc"))
        for word in ("one", "two")
    ]
    (made[0] / "file").unlink()
    cache._whole.clear()
    (tmp_path / "failed.log").write_text("a\n")
    found = about.cache(tmp_path)
    kind = found["kinds"]["thing"]
    assert (kind["artifacts"], kind["damaged"]) == (2, 1) and kind["octets"] > 3
    assert found["failed_build"] == f"{tmp_path}/failed.log"
    shutil.rmtree(made[1])
    assert about.cache(tmp_path)["kinds"]["thing"]["artifacts"] == 1


def test_contains_no_user_or_machine_name(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / getpass.getuser()))
    monkeypatch.delenv("MODERATO_CACHE", raising=False)
    said = json.dumps(about.about())
    assert "~/.cache/moderato" in said and str(tmp_path) not in said
    assert platform.node() not in said
