# SPDX-License-Identifier: BSD-2-Clause
"""The series for the kernel's developers: it applies to Debian's source, and every step of it
builds there and passes what netdev's robots check.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_static import complaints

from moderato.soc.linux import kernel, kernels, series
from moderato.soc.toolchain.cache import BuildError, artifact, run
from moderato.soc.toolchain.project import settings

HERE = Path(__file__).parent
WHO = series.Author("Ada Example", "ada@example.org")
CORE, WHOLE = "HEAD~1", "HEAD"  # what the driver's first and last patch leave
OPTIONS = kernels.OPTIONS + "CONFIG_NET_VENDOR_MODERATO=y\nCONFIG_MODERATO=m\nCONFIG_MDIO_LITEX=m\n"
# The driver's folder gets its entry in MAINTAINERS with the second patch, and it names the binding.
EXPLAINED = {"FILE_PATH_CHANGES"}


# Begins a script of Python, to be run by the interpreter that lies beside it.
HERE_PYTHON = """#!/bin/sh
'''exec' "$(dirname "$0")/python" "$0" "$@"
' '''
"""


@pytest.fixture(scope="module")
def mails(tmp_path_factory) -> list[Path]:
    output = tmp_path_factory.mktemp("mails")
    return series.write(output, WHO, tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="module")
def tree(mails, tmp_path_factory) -> Path:
    """Debian's Linux with the series on it."""
    place = tmp_path_factory.mktemp("applied") / "linux"
    subprocess.run(["cp", "-a", kernel.source(), place], check=True)
    git(place, "init", "--quiet")
    git(place, "add", "--force", *series.CHANGED, "LICENSES", "include/linux/ethtool.h")
    git(place, "commit", "--quiet", "-m", "Linux")
    git(place, "am", "--quiet", "--whitespace=error", *mails[1:])
    return place


def git(place: Path, *words) -> str:
    return subprocess.run(
        ["git", "-C", place, "-c", "user.name=test", "-c", "user.email=test@example.org", *words],
        text=True, capture_output=True, check=True).stdout


def test_mails(mails):
    """Nothing of how they are made shows, and files have the names that they are to have."""
    assert [re.search(r"Subject: (\[.*?\])", mail.read_text())[1] for mail in mails] == [
        f"[PATCH net-next {number}/5]" for number in range(6)]
    for mail in mails:
        text = mail.read_text()
        assert "***" not in text
        assert not re.search("MODERATO_(CORE|UPSTREAM|OFFLOADS|LINUX)|maintainers@", text)
        made = re.findall(r"^\+\+\+ b/drivers/net/ethernet/moderato/(.*)$", text, re.MULTILINE)
        assert [name for name in made if not re.match(r"moderato[._]|Kconfig$|Makefile$", name)] == []
    assert all(f"\nSigned-off-by: {WHO}\n" in mail.read_text() for mail in mails[1:])
    core = mails[4].read_text()
    assert "gateware" not in core
    assert "netif_queue_set_napi(" in core and "priv_flags(" not in core and "fw_version" not in core
    assert "_usecs_low" not in re.sub("(?m)^.*struct moderato_coalesce.*$", "", ethtool_part(core))


def ethtool_part(text: str) -> str:
    """What a patch adds to the file that talks to ethtool."""
    return text.split("b/drivers/net/ethernet/moderato/moderato_ethtool.c")[-1].split("diff --git")[0]


def test_author():
    assert series.author(" Ada Example <ada@example.org>") == WHO
    for wrong in ("", "Ada", " <ada@example.org>", "Ada <ada>", "Ada <ada@example.org> x",
                  "Ada\nCc: Bob <ada@example.org>"):
        with pytest.raises(BuildError, match="is no author: give --author"):
            series.author(wrong)


def test_mails_are_not_mixed(mails, tmp_path):
    with pytest.raises(BuildError, match="is there already"):
        series.write(mails[0].parent, WHO, tmp_path)


@pytest.mark.slow
def test_checkpatch(mails, tree):
    """Each message that is left is one that docs/upstream.md explains."""
    for mail in mails[1:]:
        result = subprocess.run(
            ["perl", "scripts/checkpatch.pl", "--strict", "--terse", "--show-types",
             "--no-summary", mail], cwd=tree, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={**os.environ, "PATH": "/usr/bin:/bin"}).stdout
        found = set(re.findall(r"(?:ERROR|WARNING|CHECK):(\w+):", result))
        assert found <= EXPLAINED, result
        assert "Traceback" not in result


@pytest.fixture(scope="module")
def build(tree, tmp_path_factory):
    """Compile the driver in the tree, as it is at a commit; returns what make says, and the module.
    """
    directory = tmp_path_factory.mktemp("build")
    target = kernels.TARGETS["rv64"]

    def make(*words) -> str:
        return subprocess.run(
            [str(word) for word in kernels.make(tree, directory, target, *words)], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def compile_at(commit: str) -> tuple[str, list[Path]]:
        git(tree, "checkout", "--quiet", "--detach", commit)
        make("olddefconfig")
        mdio = series.MDIO / "mdio-litex.o"
        output = make("prepare") + make("W=1", "C=1", f"CHECK={HERE / 'sparse-rv32'}",
                                        f"{series.PLACE}/", mdio)
        return output, sorted([*(directory / series.PLACE).glob("*.o"), directory / mdio])

    make(target.config)
    with open(directory / ".config", "a") as config:
        config.write(OPTIONS)
    last = git(tree, "rev-parse", "HEAD").strip()
    yield lambda commit: compile_at(commit.replace("HEAD", last))
    git(tree, "checkout", "--quiet", "--detach", last)


@pytest.mark.slow
@pytest.mark.parametrize("commit", [CORE, WHOLE])
def test_each_step_builds(build, commit):
    output, objects = build(commit)
    assert complaints(output) == []
    names = {path.name for path in objects}
    assert {"moderato_main.o", "mdio-litex.o"} <= names, output
    assert all(path.is_file() for path in objects), output
    assert ("moderato_rx_irq.o" in names) == (commit == WHOLE)


def dtschema() -> Path:
    """The folder of the binding checkers that the kernel's own build wants."""
    version = settings()["dtschema"]["version"]

    def install(directory: Path):
        run([sys.executable, "-m", "venv", directory / "venv"])
        run([directory / "venv/bin/python", "-m", "pip", "install", "--quiet",
             f"dtschema=={version}"])
        for script in (directory / "venv/bin").glob("dt-*"):  # their first line names this folder
            text = script.read_text().split("\n", 1)[1]
            script.write_text(HERE_PYTHON + text)

    return artifact("dtschema", [version, sys.version], install, "half a minute") / "venv/bin"


@pytest.mark.slow
def test_binding_check(tree, tmp_path):
    """The kernel's own check; a mistake in the binding is noticed by it."""
    def check() -> str:
        return subprocess.run(
            [str(word) for word in kernels.make(
                tree, tmp_path, kernels.TARGETS["rv64"], "dt_binding_check",
                f"DT_SCHEMA_FILES={series.BINDING.name}")],
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": f"{dtschema()}:{os.environ['PATH']}"}).stdout

    def about(output: str) -> list[str]:
        return [line for line in output.splitlines()
                if "moderato" in line and not re.match(r"\s*(DTEX|DTC|DTC \[C\]|CHKDT)\s", line)
                and not line.startswith("make")]

    subprocess.run([str(word) for word in kernels.make(tree, tmp_path, kernels.TARGETS["rv64"],
                                                       "defconfig")], check=True,
                   stdout=subprocess.DEVNULL)
    output = check()
    assert about(output) == [], output
    assert (tmp_path / series.BINDING).with_suffix(".example.dtb").is_file(), output
    binding = tree / series.BINDING
    good = binding.read_text()
    binding.write_text(good.replace('phy-mode = "internal";', ""))
    try:
        assert "'phy-mode' is a required property" in check()
    finally:
        binding.write_text(good)
