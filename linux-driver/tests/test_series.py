# SPDX-License-Identifier: BSD-2-Clause
"""The series for kernel developers. Its texts match its patches, it applies to Debian's source, and each
step builds there and passes the checks of netdev's robots.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from driver_sources import BINDING
from pypi_tools import programs
from test_static import complaints

from moderato.soc.linux import kernel, kernels, series
from moderato.toolchain import project
from moderato.toolchain.cache import BuildError
from moderato.toolchain.project import ROOT

HERE = Path(__file__).parent
WHO = series.Author("Ada Example", "ada@example.org")
FIRST = 4  # the driver's first patch; patches before it are bindings, and its PHYs'
LAST = FIRST + len(series.PARTS) - 1
# The words of messages for the bits of FEATURES.
NAMES = {
    "UNICAST": "unicast",
    "PAUSE": "pause",
    "JUMBO": "9000",
    "RMON": "RMON",
    "VLAN": "VLAN",
    "VLAN_FILTER": "filtered",
    "RX_CHECKSUM": "receives",
    "TX_CHECKSUM": "checksum",
    "GATHER": "gather",
    "SEGMENT": "segment",
    "QUEUES": "two queues",
    "TIMESTAMP": "stamp",
    "MERGE": "merge",
    "LAUNCH": "launch",
    "GATE_ORDER": "gates",
    "SHAPER": "shaper",
}
NUMBERS = {"two": 2, "four": 4}
OPTIONS = kernels.OPTIONS + "CONFIG_NET_VENDOR_MODERATO=y\nCONFIG_MODERATO=m\nCONFIG_MDIO_LITEX=m\n"
# The driver's folder gets its entry in MAINTAINERS with a later patch, which names the binding. A device
# has its own tables of functions.
EXPLAINED = {"FILE_PATH_CHANGES", "CONST_STRUCT"}


@pytest.fixture(scope="module")
def mails(tmp_path_factory) -> list[Path]:
    output = tmp_path_factory.mktemp("mails")
    return series.write(output, WHO, tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="module")
def tree(mails, tmp_path_factory) -> Path:
    """Debian's Linux with the series applied."""
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
        text=True,
        capture_output=True,
        check=True,
    ).stdout


def test_mails(mails):
    """The mails contain no trace of their generator, and files have their names in Linux."""
    assert [re.search(r"Subject: (\[.*?\])", mail.read_text())[1] for mail in mails] == [
        f"[PATCH net-next {number:0{len(str(LAST))}}/{LAST}]" for number in range(LAST + 1)
    ]
    for mail in mails:
        text = mail.read_text()
        assert "***" not in text
        assert not re.search(r"MODERATO_LINUX\b|maintainers@", text)
        assert not re.search("(?i)not for merging|do not merge|RFC|priv_flags\\(", text)
        made = re.findall(r"^\+\+\+ b/drivers/net/ethernet/moderato/(.*)$", text, re.MULTILINE)
        assert [name for name in made if not re.match(r"moderato[._]|Kconfig$|Makefile$", name)] == []
    assert all(f"\nSigned-off-by: {WHO}\n" in mail.read_text() for mail in mails[1:])
    core = mails[FIRST].read_text()
    assert "gateware" not in core
    assert "netif_queue_set_napi(" in core and "fw_version" not in core
    assert "_usecs_low" not in re.sub("(?m)^.*struct moderato_coalesce.*$", "", ethtool_part(core))


def message(mail: Path) -> str:
    return mail.read_text().split("\n---\n")[0]


def added(mail: Path) -> str:
    """The lines that the patch adds to C files, except the registers, which one patch adds."""
    files = re.split(r"(?m)^diff --git a/", mail.read_text())[1:]
    return "\n".join(
        line
        for file in files
        if re.match(r"\S*(?<!_regs)\.[ch] ", file)
        for line in file.splitlines()
        if line.startswith("+")
    )


def test_messages_name_the_options_of_their_patch(mails):
    """Each option of the hardware is in the patch whose message names it, and none is missing."""
    seen = set()
    for mail in mails[FIRST:]:
        new = set(re.findall(r"MODERATO_FEATURES_([A-Z]\w+)", added(mail))) - seen - {"SINCE"}
        seen |= new
        said = " ".join(message(mail).split())
        assert [name for name in new if NAMES[name] not in said] == [], mail.name
    assert seen == set(NAMES)


def test_cover_lists_the_patches(mails):
    """The cover lists the patches by number, with a word of each subject. Its figures are those of the
    README."""
    cover = " ".join(mails[0].read_text().split("GIT")[0].split())
    assert [
        int(number)
        for number in re.findall(
            r" (\d+) (?=the |a |ethtool|VLAN|frames gath|two|time|TCP|launch|shapers)", cover
        )
    ] == list(range(1, LAST + 1))
    readme = (ROOT / "README.md").read_text()
    for variant, said in (
        ("original", "per sent frame"),
        ("napi", "an interrupt per sent frame"),
        ("napi-tx-off", "no Tx interrupt at all"),
    ):
        row = re.search(rf"^\| `{variant}` \|.*", readme, re.MULTILINE)[0].split("|")
        assert f"{said} {row[7].strip()} " in f"{cover} "


def test_interrupts(mails):
    """The binding, its message and the driver agree on the number of interrupts and their names."""
    binding = yaml.safe_load(BINDING.read_text())["properties"]
    names = [item["const"] for item in binding["interrupt-names"]["items"]]
    asked = [re.findall(r'irq_byname\(pdev, "(\w+)"\)', added(mail)) for mail in mails[FIRST:]]
    least = binding["interrupt-names"]["minItems"]
    assert sorted(asked[0]) == sorted(names[:least])
    assert sorted(sum(asked, [])) == sorted(names)
    assert len(binding["interrupts"]["items"]) == len(names)
    assert binding["interrupts"]["minItems"] == least
    said = re.search(r"there\s+are (\w+), or (\w+)\.", message(mails[1]))
    assert [NUMBERS[word] for word in said.groups()] == [least, len(names)]


def test_patches_after_the_first_are_small(mails):
    assert max(added(mail).count("\n") for mail in mails[FIRST + 1 :]) < 800


def ethtool_part(text: str) -> str:
    """The lines that a patch adds to the driver's ethtool file."""
    return text.split("b/drivers/net/ethernet/moderato/moderato_ethtool.c")[-1].split("diff --git")[0]


def test_author():
    assert series.author(" Ada Example <ada@example.org>") == WHO
    for wrong in (
        "",
        "Ada",
        " <ada@example.org>",
        "Ada <ada>",
        "Ada <ada@example.org> x",
        "Ada\nCc: Bob <ada@example.org>",
    ):
        with pytest.raises(BuildError, match="is no author: give --author"):
            series.author(wrong)


def test_does_not_overwrite_mails(mails, tmp_path):
    with pytest.raises(BuildError, match="exists already"):
        series.write(mails[0].parent, WHO, tmp_path)


@pytest.mark.parametrize(
    "tree, there, absent",
    [
        (
            series.NET_NEXT,
            [
                "linux-driver/core/moderato_rx.c",
                "linux-driver/upstream/core.txt",
                "linux-driver/moderato,mac.yaml",
            ],
            ["linux-driver/core/moderato_new.c", "linux-driver/strategies/rx_timer.c"],
        ),
        (series.RISCV, [str(kernel.PATCHES[0].relative_to(ROOT))], []),
    ],
)
def test_reports_uncommitted_changes(tree, there, absent, monkeypatch):
    """Files with changes are reported, in the mails or not."""
    others = ["README.md", "linux-driver/tests/test_series.py", "linux-driver-old/moderato_rx.c"]
    assert [path for path in map(ROOT.joinpath, there) if not path.is_file()] == []
    monkeypatch.setattr(project, "uncommitted", lambda: [*others, *there, *absent])
    assert series.uncommitted(tree) == (there, absent)
    for nothing in ([], None):  # of a clone without git
        monkeypatch.setattr(project, "uncommitted", lambda nothing=nothing: nothing)
        assert series.uncommitted(tree) == ([], [])


@pytest.mark.slow
def test_checkpatch(mails, tree):
    """docs/upstream.md explains each remaining message."""
    for mail in mails[1:]:
        result = subprocess.run(
            [
                "perl",
                "scripts/checkpatch.pl",
                "--strict",
                "--terse",
                "--show-types",
                "--no-summary",
                mail,
            ],
            cwd=tree,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": "/usr/bin:/bin"},
        ).stdout
        found = set(re.findall(r"(?:ERROR|WARNING|CHECK):(\w+):", result))
        assert found <= EXPLAINED, result
        assert "Traceback" not in result


@pytest.fixture(scope="module")
def build(tree, tmp_path_factory):
    """Compile the driver in the tree at a commit. Return make's output, and the module."""
    directory = tmp_path_factory.mktemp("build")
    target = kernels.TARGETS["rv64"]

    def make(*words) -> str:
        return subprocess.run(
            [str(word) for word in kernels.make(tree, directory, target, *words)],
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ).stdout

    def compile_at(commit: str) -> tuple[str, list[Path]]:
        git(tree, "checkout", "--quiet", "--detach", commit)
        # Each time, because a step drops options that it does not have yet.
        with open(directory / ".config", "a") as config:
            config.write(OPTIONS)
        make("olddefconfig")
        mdio = series.MDIO / "mdio-litex.o"
        for old in (directory / series.PLACE).glob("*.o"):
            old.unlink()
        driver = [f"{series.PLACE}/"] if (tree / series.PLACE).is_dir() else []
        output = make("prepare") + make("W=1", "C=1", f"CHECK={HERE / 'sparse-rv32'}", *driver, mdio)
        return output, sorted([*(directory / series.PLACE).glob("*.o"), directory / mdio])

    make(target.config)
    last = git(tree, "rev-parse", "HEAD").strip()
    yield lambda commit: compile_at(commit.replace("HEAD", last))
    git(tree, "checkout", "--quiet", "--detach", last)


@pytest.mark.parametrize(
    "number",
    # The driver's first step leaves out the most.
    [
        pytest.param(number, marks=[] if number == FIRST else pytest.mark.slow)
        for number in range(FIRST - 1, LAST + 1)
    ],
)
def test_each_step_builds(build, number):
    """Each step has all files of the patches up to it, no other file, and calls no later patch."""
    output, objects = build(f"HEAD~{LAST - number}")
    assert complaints(output) == []
    brought = {
        series.name_upstream(name).replace(".c", ".o")
        for part in series.PARTS[: number - FIRST + 1]
        for name in part.files
        if name.endswith(".c")
    }
    assert {path.name for path in objects} - {"moderato.o"} == {*brought, "mdio-litex.o"}, output
    assert all(path.is_file() for path in objects), output
    nm = f"{kernels.TARGETS['rv64'].cross}nm"
    for module in (path for path in objects if path.name == "moderato.o"):
        assert b" moderato_" not in subprocess.check_output([nm, "--undefined-only", module])


@pytest.mark.slow
def test_binding_check(tree, tmp_path):
    """The kernel's own check passes, and detects an error in the binding."""

    def check() -> str:
        return subprocess.run(
            [
                str(word)
                for word in kernels.make(
                    tree,
                    tmp_path,
                    kernels.TARGETS["rv64"],
                    "dt_binding_check",
                    f"DT_SCHEMA_FILES={series.BINDING.name}",
                )
            ],
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": f"{programs('dtschema')}:{os.environ['PATH']}"},
        ).stdout

    def about(output: str) -> list[str]:
        return [
            line
            for line in output.splitlines()
            if "moderato" in line
            and not re.match(r"\s*(DTEX|DTC|DTC \[C\]|CHKDT)\s", line)
            and not line.startswith("make")
        ]

    subprocess.run(
        [str(word) for word in kernels.make(tree, tmp_path, kernels.TARGETS["rv64"], "defconfig")],
        check=True,
        stdout=subprocess.DEVNULL,
    )
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
