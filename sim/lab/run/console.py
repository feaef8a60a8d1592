# SPDX-License-Identifier: BSD-2-Clause
"""Programs and pages for users of the guest's console, which trials do not have.

They are put into the guest through its mailbox, after everything that a trial needs. So the file system
that the guest boots from does not change, and neither do the trials' figures.
"""

import io
import tarfile
from pathlib import Path

from moderato.soc.linux import userspace
from moderato.toolchain.cache import artifact

from .variants import KNOWN, LITEETH

FILES = Path(userspace.__file__).parent / "console"  # with the paths that they have in the guest
VARIANT = """\
#!/bin/sh
# Chooses an interrupt strategy for both ports.
choose() {{
    said=$("$@" 2>&1) && return
    case $said in *" parameters changed"*) return 0 ;; esac  # it was so before
    echo "$said" >&2
    exit 1
}}
case ${{1:-}} in
{cases}
'' | -h | --help)
    cat <<'END'
usage: variant NAME

{list}
END
    exit ;;
*)
    echo "variant: there is no '$1'; there are: {names}" >&2
    exit 2 ;;
esac
echo "both ports: $1"
"""


def package(nic: str) -> Path:
    """A tar archive of them, to unpack in the guest's root."""
    busybox = userspace.busybox(console=True)
    chooser = None if nic == LITEETH else variant_script()

    def build(folder: Path):
        with tarfile.open(folder / "console.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
            for path in sorted(path for path in FILES.rglob("*") if path.is_file()):
                _add(archive, path.relative_to(FILES).as_posix(), path.read_bytes())
            if chooser:
                _add(archive, "bin/variant", chooser.encode())
            _add(archive, "bin/busybox", busybox.read_bytes())

    return artifact("console", [FILES, busybox, Path(__file__), chooser or nic], build) / "console.tar"


def _add(archive: tarfile.TarFile, name: str, content: bytes):
    """Add a file, with the same attributes on every machine."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o755
    archive.addfile(entry, io.BytesIO(content))


def variant_script() -> str:
    """`variant NAME` for the guest's shell: chooses a variant with the same commands as trials."""
    cases = "\n".join(
        f"{variant.name})\n"
        + "\n".join(f"    choose {command}" for command in variant.commands())
        + " ;;"
        for variant in KNOWN.values()
    )
    listed = "\n".join(
        f"  {variant.name:13} receives: {variant.rx}; sends: {variant.tx}" for variant in KNOWN.values()
    )
    return VARIANT.format(cases=cases, list=listed, names=", ".join(KNOWN))
