# SPDX-License-Identifier: BSD-2-Clause
"""A version names this clone's commit, or none."""

import os
import subprocess
from pathlib import Path

import pytest

from moderato.toolchain import project

UNKNOWN = "0.1.0, commit unknown"


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with one commit of one file, and its `version`."""
    folder = tmp_path / "clone"
    folder.mkdir()
    monkeypatch.setattr(project, "ROOT", folder)
    monkeypatch.setattr(project, "pyproject", lambda: {"project": {"version": "0.1.0"}})
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (folder / "file").write_text("1")
    commit(folder)
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        [
            "git",
            "-C",
            folder,
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "-c",
            f"safe.directory={folder}",
            *words,
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def commit(folder: Path):
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x")


def version() -> str:
    return project.version.__wrapped__()


def test_a_clone(clone):
    assert version() == git(clone, "rev-parse", "--short", "HEAD")
    assert project.uncommitted() == []
    (clone / "file").write_text("2")
    assert version().endswith("-dirty") and project.uncommitted() == ["file"]


def test_a_worktree_is_a_clone_of_its_own(clone, monkeypatch):
    git(clone, "worktree", "add", "-q", "../tree")
    monkeypatch.setattr(project, "ROOT", clone.parent / "tree")
    assert version() == git(clone, "rev-parse", "--short", "HEAD")


def test_a_tarball_in_another_repository(clone, monkeypatch):
    """The other repository's commit is not ours."""
    inside = clone / "moderato"
    inside.mkdir()
    monkeypatch.setattr(project, "ROOT", inside)
    assert version() == UNKNOWN and project.uncommitted() is None


def test_no_repository(tmp_path, clone, monkeypatch):
    monkeypatch.setattr(project, "ROOT", tmp_path)
    assert version() == UNKNOWN and project.uncommitted() is None


def test_no_git(clone, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert version() == UNKNOWN and project.uncommitted() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="files can't be given away")
def test_a_clone_of_another_user(clone):
    for path in (clone, *clone.rglob("*")):
        os.chown(path, 12345, 12345)
    assert version() == git(clone, "rev-parse", "--short", "HEAD")
    assert project.uncommitted() == []


def test_ignores_git_variables_of_a_hook(clone, tmp_path, monkeypatch):
    """A git hook, for example of a project that contains ours, runs with variables of its repository."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    commit(other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert version() == git_here(clone)


def git_here(folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "GIT_DIR"}
    return subprocess.run(
        ["git", "-C", folder, "rev-parse", "--short", "HEAD"],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    ).stdout.strip()
