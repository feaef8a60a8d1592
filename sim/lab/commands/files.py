# SPDX-License-Identifier: BSD-2-Clause
"""Values of the command line that are files or plain text. Unlike arguments.py, needs no lab."""

import argparse
import os
import tempfile
from pathlib import Path

from ..show import outputs


def text(word: str) -> str:
    """Text that is written into a file."""
    try:
        word.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{word!r} is no UTF-8; write it so") from None
    return word


def input_file(word: str) -> Path:
    """A file to read. The reader checks its content.

    /dev/stdin and the like are resolved to their file: a simulator's descriptors are different.
    """
    path = Path(word).absolute()
    if outputs.descriptor(path) is not None and path.is_file():
        path = Path(os.path.realpath(path))
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{word} {_instead_of_file(path)}")
    if not os.access(path, os.R_OK):
        raise argparse.ArgumentTypeError(f"{word} can't be read; change its permissions")
    return path


def _instead_of_file(path: Path) -> str:
    """Describes a path that is no file, and the remedy."""
    if path.is_dir():
        return "is a folder; name a file"
    if path.is_fifo() or path.is_socket():
        return "is a pipe; name a file, which can be read twice"
    if path.exists():
        return "is a device; name a file"
    if path.is_symlink():
        return "is a link to nothing; name another file"
    return "does not exist; name another file"


def input_files(words: str) -> list[Path]:
    """Files to read, separated by commas."""
    return list(dict.fromkeys(input_file(word) for word in words.split(",")))


def input_folder(word: str) -> Path:
    """A folder to read files from."""
    path = Path(word).absolute()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{word} is not a folder; name one")
    return path


def output_file(word: str) -> Path:
    """A file to write; `-` is standard output. Checks now, not after minutes, that it can be written.
    Links are followed."""
    path = outputs.STDOUT if word == "-" else Path(word).absolute()
    target = outputs.final(path)
    if target is None:
        return path
    if target.is_dir():
        raise argparse.ArgumentTypeError(f"{word} is a folder; name a file")
    if target.is_symlink():
        raise argparse.ArgumentTypeError(f"{word} is a link in a loop; name another file")
    folder = target.parent
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(
            f"the folder {folder} does not exist; make it, or name another file"
        )
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):
            raise argparse.ArgumentTypeError(f"{word} can't be written to; name another file")
    elif not _writable(folder):
        raise argparse.ArgumentTypeError(f"the folder {folder} can't be written to; name another file")
    return path


def wave_file(word: str) -> Path:
    """An output file whose suffix viewers know, next to which others are written."""
    path = output_file(word)
    if path.suffix != ".fst" or path.exists() and not path.is_file():
        raise argparse.ArgumentTypeError(f"{word} is not a regular file with a name that ends in .fst")
    return path


def streamed_file(word: str) -> Path:
    """An output file that another program writes while it runs; may be a named pipe."""
    path = output_file(word)
    if outputs.final(path) is None:
        raise argparse.ArgumentTypeError(
            f"{word} is of this command only, and the simulator writes "
            "there; name a file, or a named pipe"
        )
    return path


def kept_file(word: str) -> Path:
    """An output file that is read again later."""
    path = output_file(word)
    if outputs.final(path) is None or path.exists() and not path.is_file():
        raise argparse.ArgumentTypeError(
            f"{word} keeps nothing, and trials are kept to be read again; name a regular file"
        )
    return path


def output_folder(word: str) -> Path:
    """A folder for results; it is created if its parent exists."""
    if word == "-":
        raise argparse.ArgumentTypeError("- is standard output, which takes no folder; name one")
    path = Path(word).absolute()
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{word} is a file; name a folder")
    place = path if path.exists() else path.parent
    if not place.is_dir():
        raise argparse.ArgumentTypeError(f"the folder {place} does not exist; make it, or name another")
    if not _writable(place):
        raise argparse.ArgumentTypeError(f"the folder {place} can't be written to; name another")
    return path


def _writable(folder: Path) -> bool:
    """Whether files can be created there. Root may write to folders of /proc, without effect."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
