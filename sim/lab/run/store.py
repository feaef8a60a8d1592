# SPDX-License-Identifier: BSD-2-Clause
"""Records of trials in a file of JSON lines. Each is appended as soon as its trial has ended."""

import fcntl
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moderato.toolchain.project import cache_root

from ..show import outputs
from ..show.errors import LabError


def default(name: str = "trials") -> Path:
    """The file of records that is used by default."""
    return cache_root() / "results" / f"{name}.jsonl"


@dataclass(frozen=True)
class Where:
    """Where trials run, and the file of their records."""

    scheduler: str | None = None  # of dask, tcp://HOST:PORT; None: this machine's cores
    results: Path | None = None  # a file of records; None: one in the build cache


class Store:
    """Records by their keys. A line that a crash truncated is skipped, so its trial runs again.

    again: ignore stored records.
    """

    def __init__(self, path: Path, again: bool = False):
        self.path = path
        self.used = []  # records that were read or added
        self.grown = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            there = read(path) if path.exists() else {}
        except OSError as error:
            raise _unusable(path, error) from error
        self.records = {} if again else there

    def get(self, key: str) -> dict | None:
        """A stored record, or None."""
        record = self.records.get(key)
        if record:
            self.used.append(record)
        return record

    def add(self, record: dict):
        """Append a record with its `key`. Several programs may write to the same file."""
        line = json.dumps(record, separators=(",", ":")) + "\n"
        try:
            with open(self.path, "ab+") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if file.tell() and not _ends_whole(file):
                    line = "\n" + line
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unusable(self.path, error) from error
        self.records[record["key"]] = record
        self.used.append(record)
        self.grown = True

    def name(self):
        """Print where new records are."""
        if self.grown:
            outputs.name(self.path)


def read(path: Path) -> dict[str, dict]:
    """The records of a file (.jsonl, or .jsonl.gz) by key, in their order."""
    records = {record["key"]: record for record in lines(path) if record}
    if not records and path.stat().st_size:
        raise LabError(f"{path} holds no records of trials; name another file")
    return records


def lines(path: Path) -> Iterator[dict | None]:
    """The record of each line; None for an incomplete line."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    record = None
                whole = isinstance(record, dict) and isinstance(record.get("key"), str)
                yield record if whole else None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LabError(
            f"{path} is not a whole gzip file ({error}); fetch it again, or name another file"
        ) from error


def _ends_whole(file) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _unusable(path: Path, error: OSError) -> LabError:
    return LabError(f"{path} can't be used: {error.strerror}; name another file with --results")
