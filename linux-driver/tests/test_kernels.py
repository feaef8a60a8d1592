# SPDX-License-Identifier: BSD-2-Clause
"""The driver, built outside the tree of each kernel whose source this machine has, and through DKMS."""

import re
import shutil
import subprocess

import pytest
from test_static import complaints

from moderato.soc.linux import kernels
from moderato.soc.linux.driver import FOLDER, copy
from moderato.toolchain.project import pyproject

DKMS = FOLDER / "dkms.conf"
# No kernel was linked in these trees, so modpost knows no functions. `missing` checks them instead.
UNLINKED = {"KBUILD_MODPOST_WARN": "1"}
# Files that Kbuild builds in place of features that these kernels lack. They call none of those
# functions.
EVERYTHING = ("CONFIG_NF_FLOW_TABLE=m",)


def call(command: list, **environment) -> str:
    return subprocess.run(
        [
            "env",
            *(f"{name}={value}" for name, value in environment.items()),
            *(str(word) for word in command),
        ],
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ).stdout


def unlinked(complaint: str) -> bool:
    return "undefined!" in complaint or "Symbol info of vmlinux is missing" in complaint


def missing(module, tree: kernels.Tree) -> set[str]:
    """Functions that the module calls, but the kernel does not export."""
    listed = call([f"{tree.target.cross}nm", "--undefined-only", "--format=posix", module])
    return {line.split()[0] for line in listed.splitlines()} - kernels.exported(tree.source)


@pytest.mark.slow
@pytest.mark.parametrize("target", kernels.TARGETS)
@pytest.mark.parametrize("package", kernels.packages())
def test_compiles_without_a_warning(tmp_path, package, target):
    tree = kernels.tree(package, kernels.TARGETS[target])
    output = call(tree.make(f"M={copy(tmp_path)}", "W=1", *EVERYTHING, "modules"), **UNLINKED)
    assert [line for line in complaints(output) if not unlinked(line)] == []
    for module in "moderato.ko", "mdio_litex.ko":
        assert (tmp_path / module).is_file(), output
        assert missing(tmp_path / module, tree) == set()


@pytest.mark.slow
def test_finds_calls_of_unexported_functions(tmp_path):
    tree = kernels.tree(kernels.packages()[0], kernels.TARGETS["x86-64"])
    (tmp_path / "Kbuild").write_text("obj-m := wrong.o\n")
    (tmp_path / "wrong.c").write_text(
        "#include <linux/module.h>\n#include <linux/netdevice.h>\n"
        "void dev_shutdown(struct net_device *n);\nvoid wrong(struct net_device *n);\n"
        "void wrong(struct net_device *n) { dev_shutdown(n); }\n"
        'MODULE_LICENSE("GPL");\n'
    )
    call(tree.make(f"M={tmp_path}", "modules"), **UNLINKED)
    assert missing(tmp_path / "wrong.ko", tree) == {"dev_shutdown"}


def setting(name: str) -> str:
    return re.search(rf'^{name}="(.*)"$', DKMS.read_text(), re.MULTILINE)[1]


def test_dkms_names_this_version():
    assert setting("PACKAGE_VERSION") == pyproject()["project"]["version"]
    assert f"moderato/{setting('PACKAGE_VERSION')}" in DKMS.read_text().splitlines()[1]


@pytest.mark.slow
@pytest.mark.parametrize("package", kernels.packages())
def test_dkms_builds_the_module(tmp_path, package):
    """As on a user's machine, from a copy of the folder to the module and out again."""
    tree = kernels.tree(package, kernels.TARGETS["x86-64"])
    version = setting("PACKAGE_VERSION")
    source = tmp_path / "src" / f"moderato-{version}"
    source.mkdir(parents=True)
    shutil.copy(DKMS, copy(source))
    (tmp_path / "tree").mkdir()

    def dkms(*words):
        return call(
            [
                "dkms",
                *words,
                "-m",
                "moderato",
                "-v",
                version,
                "--dkmstree",
                tmp_path / "tree",
                "--sourcetree",
                tmp_path / "src",
            ],
            LC_ALL="C",
            **UNLINKED,
        )

    kernel = ["-k", f"{tree.release}/x86_64", "--kernelsourcedir", tree.build]
    dkms("add")
    output = dkms("build", *kernel)
    log = "".join(path.read_text() for path in (tmp_path / "tree").rglob("make.log"))
    built = {
        path.name.partition(".")[0]
        for path in (tmp_path / "tree").rglob(f"{tree.release}/x86_64/module/*.ko*")
    }
    assert built == {"moderato", "mdio_litex"}, output + log
    assert [line for line in complaints(log) if not unlinked(line)] == []
    assert f"moderato, {version}, {tree.release}, x86_64: built" in dkms("status").replace(
        f"moderato/{version}", f"moderato, {version}"
    ), output
    dkms("remove", "--all")
    assert not [*(tmp_path / "tree" / "moderato").rglob("*.ko*")]
