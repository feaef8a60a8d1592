# SPDX-License-Identifier: BSD-2-Clause
"""Our patches of Linux apply to Debian's source, or name the failing hunk, and can be sent as mails."""

import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from moderato.soc.linux import kernel, series
from moderato.toolchain.cache import BuildError

WHO = series.Author("Ada Example", "ada@example.org")
INIT = "arch/riscv/mm/init.c"


def git(place: Path, *words) -> str:
    return subprocess.run(
        ["git", "-C", place, "-c", "user.name=test", "-c", "user.email=test@example.org", *words],
        text=True,
        capture_output=True,
        check=True,
    ).stdout


@pytest.fixture(scope="module")
def originals() -> dict[str, str]:
    """Debian's versions of the files that we patch."""
    return {
        path: (kernel.source() / path).read_text()
        for patch in kernel.PATCHES
        for path in map(str, series.changed(patch))
    }


@pytest.fixture
def debian(originals, tmp_path, monkeypatch):
    """A function that makes a source package of the files that we patch, changed by `spoil`, and returns
    its patched tree."""
    monkeypatch.setenv("MODERATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel, "TARBALLS", tmp_path)

    def tree(spoil=lambda files: None, patches=kernel.PATCHES) -> Path:
        files = dict(originals)
        spoil(files)
        with tarfile.open(tmp_path / f"{kernel.PACKAGE}.tar.xz", "w:xz") as tarball:
            for name, text in files.items():
                (tmp_path / "file").write_text(text)
                tarball.add(tmp_path / "file", f"{kernel.PACKAGE}/{name}")
        return kernel.source(patches=patches)

    return tree


def test_patches_apply_to_debian_source(debian):
    """patch leaves no other files next to the patched ones."""
    tree = debian()
    left = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    assert left == {
        "build.log",
        *(str(path) for patch in kernel.PATCHES for path in series.changed(patch)),
    }
    assert "!can_set_direct_map()" in (tree / INIT).read_text()


def only_the_plain_tree(cache: Path) -> bool:
    """Whether the cache has no patched tree, not even a partial one."""
    return [*(cache / "linux-source").rglob("arch")] == [kernel.source() / "arch"]


def rename(files):
    files[INIT] = files[INIT].replace("size >= PMD_SIZE", "length >= PMD_SIZE")


def drop(files):
    del files[INIT]


@pytest.mark.parametrize(
    "spoil, said",
    (
        (rename, f"patching file {INIT}\n    Hunk #1 FAILED at 714.\n"),
        (drop, f"can't find file to patch.*{INIT}"),
    ),
)
def test_error_for_other_source_names_the_hunk(debian, spoil, said, tmp_path):
    """The cache keeps no partly patched tree."""
    with pytest.raises(
        BuildError, match="does not apply to this Linux; adapt it, or take `--kernel stock`"
    ) as error:
        debian(spoil)
    assert kernel.PATCHES[0].name in str(error.value)
    assert re.search(said, str(error.value), re.DOTALL), error.value
    assert only_the_plain_tree(tmp_path / "cache")


@pytest.mark.parametrize(
    "spoil, said",
    (
        (lambda text: text.replace("+\treturn IS_ENABLED(CONFIG_64BIT) ||\n", ""), "malformed patch"),
        (lambda text: text[: text.index("\ndiff --git ")], "Only garbage was found"),
    ),
)
def test_rejects_malformed_patch(debian, spoil, said, tmp_path):
    spoiled = tmp_path / "0001-spoiled.patch"
    spoiled.write_text(spoil(kernel.PATCHES[0].read_text()))
    with pytest.raises(BuildError, match=f"0001-spoiled.patch(.|\n)*({said})"):
        debian(patches=(spoiled,))
    assert only_the_plain_tree(tmp_path / "cache")


def test_rejects_source_that_has_the_patch(debian):
    with pytest.raises(BuildError, match="Reversed .or previously applied. patch"):
        debian(patches=kernel.PATCHES * 2)


def test_stock_has_no_patches(debian):
    assert "can_set_direct_map" not in (debian(patches=()) / INIT).read_text()


def test_kernel_key_ignores_patch_messages(tmp_path):
    patch, other = kernel.PATCHES[0], tmp_path / "other.patch"
    other.write_text(patch.read_text().replace("\n---\n", "\nAnother word.\n---\n", 1))
    assert kernel.diff(other) == kernel.diff(patch) != ""
    other.write_text(patch.read_text().replace("+#define", "+# define"))
    assert kernel.diff(other) != kernel.diff(patch)


# Mails --------------------------------------------------------------------------------------------


@pytest.fixture
def mails(tmp_path) -> list[Path]:
    for folder in "mails", "work":
        (tmp_path / folder).mkdir()
    return series.write(tmp_path / "mails", WHO, tmp_path / "work", series.RISCV)


def test_mails(mails):
    """Each mail has the built patch, with the sender as author."""
    assert len(mails) == len(kernel.PATCHES)
    for mail, patch in zip(mails, kernel.PATCHES):
        text = mail.read_text()
        assert re.search(r"^Subject: \[PATCH\] riscv: ", text, re.MULTILINE)
        assert re.findall(r"^(?:From|Signed-off-by): (.*)$", text, re.MULTILINE) == [str(WHO)] * 2
        assert kernel.diff(mail).strip() == kernel.diff(patch).strip()
        assert "\n\n\n" not in text.split("\n---\n")[0]


def test_mails_apply(mails, tmp_path):
    """`git am`, as a maintainer runs it, gives the built tree."""
    tree = tmp_path / "linux"
    tree.mkdir()
    series.begin(tree, WHO, sorted({path for mail in mails for path in series.changed(mail)}))
    git(tree, "am", "--quiet", "--whitespace=error", *mails)
    built = kernel.source(patches=kernel.PATCHES)
    for path in series.changed(mails[0]):
        assert (tree / path).read_text() == (built / path).read_text()


def test_checkpatch(mails):
    """Without UNKNOWN_COMMIT_ID, because Debian's source has no commits."""
    for mail in mails:
        result = subprocess.run(
            [
                "perl",
                "scripts/checkpatch.pl",
                "--strict",
                "--terse",
                "--no-summary",
                "--ignore",
                "UNKNOWN_COMMIT_ID",
                mail,
            ],
            cwd=kernel.source(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": "/usr/bin:/bin"},
        )
        assert result.stdout == "", result.stdout
