# SPDX-License-Identifier: BSD-2-Clause
"""Source packages from a local folder must be exactly the files that pyproject.toml names."""

import pytest

from moderato.toolchain import sources
from moderato.toolchain.cache import BuildError
from moderato.toolchain.project import settings


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MODERATO_SOURCES", str(tmp_path))


def test_rejects_folder_without_the_file():
    with pytest.raises(BuildError, match="holds no musl_.*; put it there"):
        sources.tarball("musl")


def test_rejects_wrong_content(tmp_path):
    (tmp_path / settings()["source"]["musl"]["file"]).write_text("something else")
    with pytest.raises(BuildError, match="its sha256 differs"):
        sources.tarball("musl")
    assert not list((tmp_path / "cache").rglob("*.tar.gz"))


@pytest.mark.parametrize("lists", [True, False])
def test_archives_without_lists(tmp_path, monkeypatch, lists):
    """Containers lack apt's lists. The download checks the sum, so that any archive will do."""
    apt = tmp_path / "apt-get"
    debian = "http://one/ main Debian Debian"
    apt.write_text(
        "#!/bin/sh\ncase $* in\n"
        f"*--no-release-info*) echo 'http://one/ main'; echo 'http://two/ main';;\n"
        f"*) {'echo ' + repr(debian) if lists else 'exit 0'};;\nesac\n"
    )
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    others = [] if lists else [("http://two/", "main")]
    assert sources.archives() == [("http://one/", "main"), *others]
