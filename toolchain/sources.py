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

FOLDER = "MODERATO_SOURCES"  # set: a folder with the sources, used instead of a Debian archive
APT_HELPER = "/usr/lib/apt/apt-helper"  # downloads as apt does, and checks the sum


def local(file: str) -> Path | None:
    """A file of the user's own folder of sources; None if it holds no such file."""
    path = Path(os.environ.get(FOLDER) or "/dev/null") / file
    return path if path.is_file() else None


def tarball(name: str) -> Path:
    """The upstream tarball of the source package `name` of [tool.moderato.source]."""
    entry = settings()["source"][name]
    file, digest = entry["file"], entry["sha256"]

    def fetch(directory: Path):
        target = directory / file
        if os.environ.get(FOLDER):
            if not (own := local(file)):
                raise BuildError(
                    f"{FOLDER}={os.environ[FOLDER]} holds no {file}; put it there, "
                    "or unset the variable to fetch it through apt"
                )
            shutil.copyfile(own, target)
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
    pool = name[:4] if name.startswith("lib") else name[0]
    for uri, component in uris:
        address = f"{uri}pool/{component}/{pool}/{name}/{file}"
        try:
            return run([APT_HELPER, "download-file", address, target, f"SHA256:{digest}"])
        except BuildError as error:
            failure = error
    raise BuildError(
        f"cannot fetch {file} through apt; check the network, or put the file into a "
        f"folder and name that in MODERATO_SOURCES\n{failure}"
    )


def archives() -> list[tuple[str, str]]:
    """Base address and component of each archive of Debian or Ubuntu that apt is configured with.

    Without its lists, as in many containers, apt does not know which archives are Debian's: all of them.
    """
    wanted = "$(REPO_URI) $(COMPONENT) $(ORIGIN) $(LABEL)"
    for options, ends in ([], (" Debian Debian", " Ubuntu Ubuntu")), (["--no-release-info"], ""):
        command = ["apt-get", "indextargets", *options, "--format", wanted, "Created-By: Packages"]
        lines = subprocess.run(command, text=True, capture_output=True).stdout.splitlines()
        rows = [line.split() for line in lines if line.endswith(ends)]
        if rows:
            break
    return list(dict.fromkeys((row[0], row[1]) for row in rows))


def unpack(name: str, directory: Path):
    """Extract the source package `name` into the existing `directory`."""
    run(["tar", "-x", "-f", tarball(name), "-C", directory, "--strip-components=1"])
