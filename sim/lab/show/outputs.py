# SPDX-License-Identifier: BSD-2-Clause
"""Result files that appear whole or not at all."""

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import LabError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, which takes its place when the block ends well.

    After an error or Ctrl-C the temporary is gone and `path` is as it was.
    """
    temporary = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        temporary.chmod(0o666 & ~_umask())  # mkstemp's files are private
        temporary.replace(path)
    except OSError as error:
        raise LabError(f"{path} could not be written: {error.strerror}; {_mend(error)}") from error
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_folder(path: Path | None) -> Iterator[Path | None]:
    """As `replacing`, for a folder and all that is written into it. No path, no folder."""
    if path is None:
        yield None
        return
    temporary = None
    try:
        path.parent.mkdir(exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if path.exists():
            shutil.rmtree(path)
        temporary.rename(path)
    except OSError as error:
        raise LabError(f"{path} could not be written: {error.strerror}; {_mend(error)}") from error
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


def write_json(path: Path, value):
    """`value` as JSON, keys in their own order, one final newline."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2) + "\n")


def _mend(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space or name a file on another disk"
    return "name a file in a folder that can be written to"


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
