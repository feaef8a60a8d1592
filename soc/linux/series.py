# SPDX-License-Identifier: BSD-2-Clause
"""Makes patch series: the driver for net-next, and our patches of Linux itself for RISC-V.

A patch of the driver is a list of files. Code that only the lab's module has, and code for optional
hardware with its own patch, is in separate files. The series leaves out what refers to a file of a later
patch, or of no patch: declarations and calls of its functions, the inclusion of a header, and members of
structures whose comment names the file.
"""

import email
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from moderato.soc.linux import kernel
from moderato.soc.linux.driver import FOLDER, sources
from moderato.toolchain import project
from moderato.toolchain.cache import BuildError, run
from moderato.toolchain.project import ROOT

SOURCES = {path.name: path for path in sources()}
TEXTS = FOLDER / "upstream"  # Kconfig, messages
PLACE = Path("drivers/net/ethernet/moderato")
BINDINGS = Path("Documentation/devicetree/bindings")
BINDING = BINDINGS / "net/moderato,mac.yaml"
MDIO_BINDING = BINDINGS / "net/litex,liteeth-mdio.yaml"
NETWORK = Path("drivers/net/ethernet")
MDIO = Path("drivers/net/mdio")
NET_NEXT, RISCV = "net-next", "riscv"  # trees


@dataclass(frozen=True)
class Part:
    """One patch of the driver.

    text: its message, a file in `TEXTS`. files: the files that it adds.
    """

    text: str
    files: tuple[str, ...]


PARTS = (
    Part(
        "core.txt",
        (
            "moderato_change.c",
            "moderato_coalesce.h",
            "moderato_cut.h",
            "moderato_dim.c",
            "moderato_dim.h",
            "moderato_dma.h",
            "moderato_features.c",
            "moderato_hw.c",
            "moderato_hw.h",
            "moderato_link.c",
            "moderato_main.c",
            "moderato_pool.c",
            "moderato_priv.h",
            "moderato_profiles.c",
            "moderato_queue.c",
            "moderato_queue_stats.c",
            "moderato_regs.h",
            "moderato_ring.h",
            "moderato_rx.c",
            "moderato_rx.h",
            "moderato_stats.c",
            "moderato_stats.h",
            "moderato_tx.c",
            "moderato_tx.h",
            "rx_napi.c",
            "tx_copy.c",
            "tx_poll.c",
        ),
    ),
    Part("ethtool.txt", ("moderato_ethtool.c",)),
    Part("vlan.txt", ("moderato_vlan.c",)),
    Part("gather.txt", ("tx_gather.c",)),
    Part("queues.txt", ("moderato_channels.c", "moderato_channels.h", "moderato_rss.c")),
    Part("timestamps.txt", ("moderato_hwtstamp.c", "moderato_ptp.c", "moderato_ptp.h")),
    Part("merging.txt", ("rx_merge.c",)),
    Part(
        "launch.txt",
        (
            "moderato_gates.h",
            "moderato_launch.h",
            "moderato_taprio.c",
            "moderato_tc.c",
            "moderato_tc.h",
            "tx_launch.c",
        ),
    ),
    Part("shaper.txt", ("moderato_cbs.c", "moderato_cbs.h")),
)


@dataclass(frozen=True)
class Author:
    """The person who signs off the patches and maintains the driver."""

    name: str
    mail: str

    def __str__(self) -> str:
        return f"{self.name} <{self.mail}>"


def author(text: str | None = None) -> Author:
    """The author in `text` ("Name <mail>"), or in git's configuration. Raises BuildError."""
    if text is None:
        asked = (
            subprocess.run(
                ["git", "-C", ROOT, "config", f"user.{key}"], text=True, capture_output=True
            ).stdout.strip()
            for key in ("name", "email")
        )
        text = "{} <{}>".format(*asked)
    found = re.fullmatch(r"[ \t]*([^<>\s][^<>\n]*?)[ \t]*<([^<>@\s]+@[^<>@\s]+)>\s*", text)
    if not found:
        raise BuildError(
            f"{text!r} is no author: give --author 'NAME <MAIL>', or set git's user.name and user.email"
        )
    return Author(*found.groups())


# Sources ------------------------------------------------------------------------------------------


def name_upstream(name: str) -> str:
    """A file's name in Linux, where all of them begin with the driver's name."""
    return name if name.startswith("moderato") else f"moderato_{name}"


def functions(name: str) -> list[str]:
    """The functions that a file offers to the others."""
    if not name.endswith(".c"):
        return []
    return re.findall(r"(?m)^(?!static )\w[\w *]*[ *\n](\w+)\(", SOURCES[name].read_text())


def as_it_is(path: Path, names: list[str]) -> str:
    """A source of the driver if only the files `names` exist."""
    absent = sorted(set(SOURCES) - {*names, "compat.c", "Kbuild"})
    files = "|".join(map(re.escape, absent))
    calls = "|".join(call for name in absent for call in functions(name))
    calls = rf"\b(?:{calls})\([^;{{}}]*;\n"
    text = re.sub(rf'(?m)^#include "(?:{files})"\n', "", path.read_text())
    # Stubs for what Kbuild omits; Linux' Makefile omits nothing
    text = re.sub(r"(?ms)^#ifdef MODERATO_\w+\n(.*?)^#else\n.*?^#endif\n", r"\1", text)
    # Members, each with a comment of one line
    text = re.sub(rf"(?m)^\s*/\*\* @\w+: (?:{files}): .*\*/\n.*\n", "", text)
    # Declarations and calls, with their condition, label, or the check of their result
    text = re.sub(rf"(?m)^\tif \([^;{{}}]*{calls}", "", text)
    text = re.sub(rf"(?m)^\tcase \w+:\n\t\treturn {calls}", "", text)
    text = re.sub(rf"(?m)^\t*(?:\w[\w *]*[ *]|err = err \?: )?{calls}", "", text)
    text = re.sub(rf"(?m)^\terr = {calls}\tif \(err\)\n\t\treturn err;\n", "", text)
    text = re.sub(r"/\* Made from .*: do not edit\. \*/", "/* Registers and descriptors */", text)
    for name in (name for part in PARTS for name in part.files):  # names in comments
        text = re.sub(rf"(?<![\w/]){re.escape(name)}\b", name_upstream(name), text)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def write_sources(tree: Path, parts: tuple[Part, ...] = PARTS):
    """Write the driver's folder, with the files of `parts`."""
    folder = tree / PLACE
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for part in parts for name in part.files]
    for name in names:
        (folder / name_upstream(name)).write_text(as_it_is(SOURCES[name], names))
    shutil.copy(TEXTS / "Kconfig", folder)
    (folder / "Makefile").write_text(makefile(names))


def makefile(names) -> str:
    """Kbuild's Makefile for these sources."""

    def objects(which) -> str:
        return " \\\n\t".join(
            name_upstream(name).replace(".c", ".o")
            for name in sorted(which, key=name_upstream)
            if name.endswith(".c")
        )

    # REUSE-IgnoreStart
    return (
        "# SPDX-License-Identifier: GPL-2.0-only\n\nobj-$(CONFIG_MODERATO) += moderato.o\n"
        f"moderato-y := {objects(names)}\n"
    )
    # REUSE-IgnoreEnd


# Existing files of Linux --------------------------------------------------------------------------


def insert(path: Path, text: str, before: str):
    """Insert `text` before the only line of a file that begins with `before`."""
    content = path.read_text()
    found = re.findall(rf"^{re.escape(before)}", content, re.MULTILINE)
    if len(found) != 1:
        raise BuildError(
            f"{path.name} has {len(found)} lines that begin with {before!r}; "
            "name another one in soc/linux/series.py"
        )
    path.write_text(
        re.sub(rf"^{re.escape(before)}", lambda _: text + before, content, count=1, flags=re.MULTILINE)
    )


def write_binding(place: Path, who: Author):
    text = (FOLDER / place.name).read_text()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(re.sub(r"(?m)^  - Moderato maintainers <.*>$", f"  - {who}", text))


def add_binding(tree: Path, who: Author):
    write_binding(tree / BINDING, who)
    insert(
        tree / BINDINGS / "vendor-prefixes.yaml",
        '  "^moderato,.*":\n    description: Moderato open Ethernet MAC\n',
        '  "^modtronix,.*"',
    )


def add_mdio_binding(tree: Path, who: Author):
    write_binding(tree / MDIO_BINDING, who)


def add_mdio(tree: Path, who: Author):
    shutil.copyfile(FOLDER / "mdio_litex.c", tree / MDIO / "mdio-litex.c")
    insert(tree / MDIO / "Kconfig", (TEXTS / "Kconfig.mdio").read_text() + "\n", "config MDIO_MVUSB")
    insert(
        tree / MDIO / "Makefile",
        "obj-$(CONFIG_MDIO_LITEX)\t\t+= mdio-litex.o\n",
        "obj-$(CONFIG_MDIO_MOXART)",
    )


def add_driver(tree: Path, who: Author):
    """Add the driver's first part, with its entries in Kconfig, Makefile and MAINTAINERS."""
    write_sources(tree, PARTS[:1])
    insert(
        tree / NETWORK / "Kconfig",
        'source "drivers/net/ethernet/moderato/Kconfig"\n',
        'source "drivers/net/ethernet/moxa/Kconfig"',
    )
    insert(
        tree / NETWORK / "Makefile",
        "obj-$(CONFIG_NET_VENDOR_MODERATO) += moderato/\n",
        "obj-$(CONFIG_NET_VENDOR_MOXART)",
    )
    insert(
        tree / "MAINTAINERS",
        f"MODERATO ETHERNET MAC DRIVER\nM:\t{who}\nL:\tnetdev@vger.kernel.org\nS:\tMaintained\n"
        f"F:\t{MDIO_BINDING}\nF:\t{BINDING}\nF:\t{PLACE}/\nF:\t{MDIO}/mdio-litex.c\n\n",
        "MODULE SUPPORT\n",
    )


def add_parts(count: int):
    """A step that writes the driver's folder with the first `count` parts."""
    return lambda tree, who: write_sources(tree, PARTS[:count])


STEPS = (
    ("binding.txt", add_binding),
    ("mdio-binding.txt", add_mdio_binding),
    ("mdio.txt", add_mdio),
    (PARTS[0].text, add_driver),
    *((part.text, add_parts(count)) for count, part in enumerate(PARTS[1:], 2)),
)
CHANGED = (
    BINDINGS / "vendor-prefixes.yaml",
    NETWORK / "Kconfig",
    NETWORK / "Makefile",
    MDIO / "Kconfig",
    MDIO / "Makefile",
    Path("MAINTAINERS"),
)


# The series ---------------------------------------------------------------------------------------


def uncommitted(tree: str) -> tuple[list[str], list[str]]:
    """Files of the tree's folder that differ from the commit: those that the mails contain, and those
    that no mail contains."""
    folder, sources = {
        NET_NEXT: (
            FOLDER,
            [
                *(SOURCES[name] for part in PARTS for name in part.files),
                FOLDER / "mdio_litex.c",
                *TEXTS.iterdir(),
                *(FOLDER / place.name for place in (BINDING, MDIO_BINDING)),
            ],
        ),
        RISCV: (kernel.PATCHES[0].parent, kernel.PATCHES),
    }[tree]
    there, absent = [], []
    for name in project.uncommitted() or ():
        if (ROOT / name).is_relative_to(folder) and not (ROOT / name).is_relative_to(folder / "tests"):
            (there if ROOT / name in sources else absent).append(name)
    return there, absent


def write(output: Path, who: Author, work: Path, tree: str = NET_NEXT) -> list[Path]:
    """Write the mails into the existing folder `output`, through a repository in the empty `work`.

    tree: NET_NEXT for the driver; RISCV for our patches of Linux. Returns the paths, with the cover
    letter first. Raises BuildError.
    """
    if left := sorted(output.glob("*.patch")):
        raise BuildError(f"{left[0]} exists already; name an empty folder, or remove its mails")
    return {NET_NEXT: write_driver, RISCV: write_patches}[tree](output, who, work)


def write_patches(output: Path, who: Author, work: Path) -> list[Path]:
    """`write` for RISCV."""
    begin(work, who, sorted({path for patch in kernel.PATCHES for path in changed(patch)}))
    for patch in kernel.PATCHES:
        git(work, who, "apply", "--index", patch.absolute())
        commit(work, who, message(patch, who))
    git(
        work,
        who,
        "format-patch",
        "--quiet",
        "--no-signature",
        "-o",
        output.absolute(),
        f"HEAD~{len(kernel.PATCHES)}",
    )
    return sorted(output.glob("0*.patch"))


def changed(patch: Path) -> list[Path]:
    """The files of Linux that a patch changes."""
    return [Path(name) for name in re.findall(r"^--- a/(.*)$", kernel.diff(patch), re.MULTILINE)]


def message(patch: Path, who: Author) -> str:
    """The message of the patch's commit, signed off by `who` only."""
    mail = email.message_from_string(patch.read_text())
    subject = re.sub(r"^\[.*?\] ", "", " ".join(mail["Subject"].split()))
    body = re.sub(r"(?m)^Signed-off-by: .*\n", "", str(mail.get_payload()).split("\n---\n")[0] + "\n")
    return f"{subject}\n\n{body.strip()}\n\nSigned-off-by: {who}\n"


def write_driver(output: Path, who: Author, work: Path) -> list[Path]:
    """`write` for NET_NEXT."""
    begin(work, who, CHANGED)
    for text, step in STEPS:
        step(work, who)
        commit(work, who, (TEXTS / text).read_text() + f"\nSigned-off-by: {who}\n")
    cover = (TEXTS / "cover.txt").read_text()
    subject, _, body = cover.partition("\n")
    git(
        work,
        who,
        "format-patch",
        "--quiet",
        "--cover-letter",
        "--subject-prefix=PATCH net-next",
        "--no-signature",
        "-o",
        output.absolute(),
        f"HEAD~{len(STEPS)}",
    )
    mails = sorted(output.glob("0*.patch"))
    letter = mails[0].read_text()
    mails[0].write_text(
        letter.replace("*** SUBJECT HERE ***", subject).replace("*** BLURB HERE ***", body.strip())
    )
    return mails


def begin(work: Path, who: Author, paths):
    """Make a repository in the empty `work`, with these files of Linux."""
    for path in paths:
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kernel.source() / path, work / path)
    git(work, who, "init", "--quiet", "--initial-branch=base")
    commit(work, who, "Linux")


def commit(work: Path, who: Author, message: str):
    git(work, who, "add", "--all")
    git(work, who, "commit", "--quiet", "-m", message)


def git(work: Path, who: Author, *words):
    """Run git without the user's configuration, which could change the mails."""
    run(
        ["git", "-C", work, *words],
        env={
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": who.name,
            "GIT_AUTHOR_EMAIL": who.mail,
            "GIT_COMMITTER_NAME": who.name,
            "GIT_COMMITTER_EMAIL": who.mail,
        },
    )
