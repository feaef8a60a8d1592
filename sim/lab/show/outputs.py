# SPDX-License-Identifier: BSD-2-Clause
"""Result files. Regular files are replaced completely or not at all.

Symbolic links are followed. Devices and pipes are written directly. /dev/stdout, /dev/fd/N and the like
are this process's own descriptors; on the command line, `-` is /dev/stdout.
"""

import contextlib
import errno
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path

from .errors import LabError, UsageError

STDOUT = Path("/dev/stdout")
STANDARD_OUTPUT = "standard output"  # its name in messages
LINKS = 40  # the limit for loops, as in the kernel


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path; its content replaces `path` if the block succeeds.

    After an error or Ctrl-C the temporary file is removed, and a regular file is unchanged.
    """
    temporary = None
    try:
        target = final(path)
        regular = target if target and (target.is_file() or not target.exists()) else None
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=regular and regular.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        if regular:
            temporary.chmod(0o666 & ~_umask())  # files of mkstemp are private
            temporary.replace(regular)
        else:
            with temporary.open("rb") as made, _opened(path) as file:
                shutil.copyfileobj(made, file)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and descriptor(path) == 1:
            error.filename = STANDARD_OUTPUT  # its reader has closed the pipe: not an error
            raise
        raise LabError(f"{path} could not be written: {error.strerror}; {_mend(error)}") from error
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def _opened(path: Path):
    number = descriptor(path)
    if number is not None:
        return os.fdopen(os.dup(number), "wb")
    target = Path(os.path.realpath(path))
    return os.fdopen(opened_pipe(target), "wb") if target.is_fifo() else target.open("wb")


def opened_pipe(path: Path) -> int:
    """A descriptor for writing to a named pipe. Prints a message while it waits for a reader."""
    try:
        pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        print(f"moderato: waiting for a reader of {path} ...", file=sys.stderr, flush=True)
        return os.open(path, os.O_WRONLY)
    os.set_blocking(pipe, True)
    return pipe


@contextlib.contextmanager
def read_pipes(*paths: Path | None) -> Iterator[list[int]]:
    """Wait until each named pipe among the paths has a reader. The yielded descriptors, which are open
    during the block, keep the readers from an early end of file."""
    with contextlib.ExitStack() as closing:
        opened = []
        for path in paths:
            if path and path.is_fifo():
                opened.append(opened_pipe(path))
                closing.callback(os.close, opened[-1])
        yield opened


def final(path: Path) -> Path | None:
    """The path after all links; None if it is a descriptor of this process."""
    return None if descriptor(path) is not None else Path(os.path.realpath(path))


def descriptor(path: Path) -> int | None:
    """The descriptor that a path names: 1 for /dev/stdout. None for an ordinary path."""
    for _ in range(LINKS):
        found = re.fullmatch(rf"/(?:dev|proc/(?:self|{os.getpid()}))/fd/(\d+)", str(path))
        if found:
            return int(found[1])
        if not path.is_symlink():
            return None
        path = Path(os.path.normpath(path.parent / os.readlink(path)))
    return None


@contextlib.contextmanager
def replacing_folder(path: Path | None, ours: Collection[str]) -> Iterator[Path | None]:
    """As `replacing`, for a folder and the files that are written into it. Without a path, no folder.

    ours: patterns of the file names that an existing folder may contain; see require_ours().
    """
    if path is None:
        yield None
        return
    temporary = None
    try:
        path = Path(os.path.realpath(path))
        require_ours(path, ours)
        path.parent.mkdir(exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if path.exists():
            require_ours(path, ours)
            shutil.rmtree(path)
        temporary.rename(path)
    except OSError as error:
        raise LabError(f"{path} could not be written: {error.strerror}; {_mend(error)}") from error
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def not_left_empty(path: Path | None) -> Iterator[None]:
    """Remove a folder at the end if it is new and empty. Without a path, no folder."""
    new = path if path and not path.exists() else None
    try:
        yield
    finally:
        if new:
            with contextlib.suppress(OSError):  # not empty, or never created
                new.rmdir()


def require_ours(path: Path, ours: Collection[str]):
    """Reject a folder that contains other file names: those files may be the user's."""
    if not path.exists():
        return
    if not path.is_dir():
        raise UsageError(f"{path} is a file, and a folder has to be there; move it away")
    foreign = sorted(
        entry.name
        for entry in path.iterdir()
        if entry.is_dir() or not any(fnmatch(entry.name, name) for name in ours)
    )
    if foreign:
        raise UsageError(
            f"{path} has what was not written by this command ({foreign[0]}"
            f"{' …' * (len(foreign) > 1)}) and would be replaced; move that away, or "
            "name another folder"
        )


def write_text(path: Path, text: str):
    with replacing(path) as temporary:
        temporary.write_text(text)


def write_json(path: Path, value):
    """Write `value` as JSON with the keys in their order and one newline at the end."""
    write_text(path, json.dumps(value, indent=2) + "\n")


def numbered(path: Path, number: int) -> Path:
    """Paths for several files of the same kind: all but the first end with their number.

    /dev/null takes all of them. Raises UsageError for other paths that are not regular files.
    """
    target = final(path)
    if number == 0 or target == Path(os.devnull):
        return path
    if target is None or (target.exists() and not target.is_file()):
        raise UsageError(f"{path} is one, and each box has a file of its own: name a regular file")
    return path.with_name(f"{path.name}.{number}")


def name(*paths: Path | None):
    """Print on standard error which files were written."""
    written = [str(path) for path in paths if path and descriptor(path) is None]
    if written:
        print(f"moderato: wrote {', '.join(written)}", file=sys.stderr)


def _mend(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space or name a file on another disk"
    if error.errno == errno.EPIPE:
        return "its reader left before the end; read all of it, or name a file"
    return "name a file in a folder that can be written to"


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
