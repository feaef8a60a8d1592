# SPDX-License-Identifier: BSD-2-Clause
"""The driver with checks of its own state (watched/). Its allocations fail on demand. After each change
of a setting, it reports queues that do not match their configuration, and unused queues that are not
idle.
"""

import contextlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import modified
from guests import complaints

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.soc.linux import userspace
from moderato.soc.linux.driver import copy

HERE = Path(__file__).parent
PARAMETERS = "/sys/module/moderato/parameters"
END_OF_HEADER = "#endif /* MODERATO_PRIV_H */"


def sources(work: Path) -> Path:
    """The driver's sources with these checks, in the folder `work`, which does not exist yet."""
    work.mkdir()
    copy(work)
    for name in ("watched.h", "watched.c"):
        shutil.copy(HERE / "watched" / name, work)
    modified.change(work, ("moderato_priv.h", END_OF_HEADER, f'#include "watched.h"\n{END_OF_HEADER}'))
    with (work / "core/moderato_main.c").open("a") as main:
        main.write('\n#include "watched.c"\n')
    return work


def program(source: str, folder: Path) -> Path:
    """A program for the guest, built in `folder`."""
    built = folder / Path(source).stem
    subprocess.run([userspace.toolchain().cc, "-Os", "-s", "-o", built, HERE / source], check=True)
    return built


@contextlib.contextmanager
def guest(tmp_path: Path, system: System):
    """A guest with both interfaces up, this driver in it, and the program `settings`."""
    work = sources(tmp_path / "watched")
    with modified.loaded(work, system=system) as session:
        place = machine(system=system).mailbox
        for source in ("watched/settings.c", "watched/tap.c"):
            built = program(source, tmp_path)
            session.call("mailbox", file=str(built), address=place)
            session.check(f"mailbox > /tmp/{built.name}; chmod +x /tmp/{built.name}")
        yield session


@dataclass(frozen=True)
class Outcome:
    """The outcome of a setting: attempts, and the last one's error number.

    changed: one failed and yet changed something.
    """

    setting: str
    attempts: int
    error: int
    changed: bool


def change(session, settings: Sequence[str], folder: Path, mailbox: int) -> list[Outcome]:
    """Change `settings`, lines for watched/settings.c, in order."""
    script = folder / "list"
    script.write_text("\n".join(settings) + "\n")
    session.call("mailbox", file=str(script), address=mailbox)
    said = session.check("mailbox > /tmp/list; /tmp/settings < /tmp/list")
    # Not the details of a change, nor the kernel's messages.
    rows = [line.split() for line in said.splitlines() if line[:1].isdigit()]
    assert len(rows) == len(settings), said
    return [
        Outcome(setting, int(row[1]), int(row[2]), "changed" in row)
        for setting, row in zip(settings, rows, strict=True)
    ]


def judged(session) -> list[str]:
    """Check the state once more; return the kernel's messages."""
    session.check(f"cat {PARAMETERS}/state > /dev/null")
    return complaints(session)
