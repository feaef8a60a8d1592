# SPDX-License-Identifier: BSD-2-Clause
"""Debian's source packages of the programs that run on the guest.

They come through the machine's own apt configuration (mirror, proxy, credentials), or from the
folder MODERATO_SOURCES, and are taken only if their sha256 is the one in pyproject.toml.
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from .cache import BuildError, artifact, run
from .project import settings

APT_HELPER = "/usr/lib/apt/apt-helper"  # downloads as apt does, checks the sum


def tarball(name: str) -> Path:
    """The upstream tarball of the source package `name` of [tool.moderato.source]."""
    entry = settings()["source"][name]
    file, digest = entry["file"], entry["sha256"]
    local = os.environ.get("MODERATO_SOURCES")

    def fetch(directory: Path):
        target = directory / file
        if local:
            if not (Path(local) / file).is_file():
                raise BuildError(
                    f"MODERATO_SOURCES={local} holds no {file}; put it there, "
                    "or unset the variable to fetch it through apt"
                )
            shutil.copyfile(Path(local) / file, target)
        else:
            download(name, file, digest, target)
        if hashlib.sha256(target.read_bytes()).hexdigest() != digest:
            raise BuildError(
                f"{file} is not the file that pyproject.toml asks for (its sha256 "
                "differs); fetch it again"
            )

    return artifact("source", [file, digest], fetch, f"{file}, from a Debian mirror") / file


def download(name: str, file: str, digest: str, target: Path):
    """Fetch `file` from the first of the machine's Debian archives that has it."""
    uris = archives()
    if not uris:
        raise BuildError(
            f"apt knows no Debian archive to fetch {file} from; add one to its "
            "sources, or put the file into a folder and name that in MODERATO_SOURCES"
        )
    for uri in uris:
        try:
            pool = name[:4] if name.startswith("lib") else name[0]
            run(
                [
                    APT_HELPER,
                    "download-file",
                    f"{uri}pool/main/{pool}/{name}/{file}",
                    target,
                    f"SHA256:{digest}",
                ]
            )
            return
        except BuildError as error:
            failure = error
    raise BuildError(
        f"cannot fetch {file} through apt; check the network, or put the file into a "
        f"folder and name that in MODERATO_SOURCES\n{failure}"
    )


def archives() -> list[str]:
    """Base addresses of the Debian 12 archives that apt is configured with."""
    answer = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(REPO_URI) $(RELEASE) $(COMPONENT)",
            "Created-By: Packages",
        ],
        text=True,
        capture_output=True,
    ).stdout
    entries = [line.split() for line in answer.splitlines()]
    return list(
        dict.fromkeys(
            entry[0] for entry in entries if entry[1:] in (["bookworm", "main"], ["stable", "main"])
        )
    )


def unpack(name: str, directory: Path):
    """Extract the source package `name` into the existing `directory`."""
    run(["tar", "-x", "-f", tarball(name), "-C", directory, "--strip-components=1"])
