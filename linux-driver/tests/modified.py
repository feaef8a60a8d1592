# SPDX-License-Identifier: BSD-2-Clause
"""The driver with single changes of its source, for hardware failures and rare races.

The simulated SoC has no such failures (a DMA that does not stop, smaller FIFOs), so the changes simulate
them where the driver reads the hardware. The rest of the driver is unchanged.
"""

import contextlib
from pathlib import Path

from driver_sources import find

from moderato.sim.lab.run import state
from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.soc.linux import kernel
from moderato.soc.linux.driver import copy
from moderato.toolchain.cache import run


@contextlib.contextmanager
def guest(tmp_path: Path, *changes: tuple[str, str, str], system: System = System()):
    """A guest with both interfaces up, and a driver with `changes`: (file, text, its replacement).

    system: the simulated system.
    """
    work = tmp_path / "modified"
    work.mkdir()
    change(copy(work), *changes)
    with loaded(work, system=system) as session:
        yield session


def change(work: Path, *changes: tuple[str, str, str]):
    """Apply `changes`, as guest() describes them, to the sources in `work`."""
    for file, good, bad in changes:
        path = find(file, work)
        source = path.read_text()
        assert source.count(good) == 1, f"{file} has no single {good!r}"
        path.write_text(source.replace(good, bad))


@contextlib.contextmanager
def loaded(work: Path, *words: str, system: System = System()):
    """A guest with both interfaces up, and the driver of the sources in `work`, built by make with
    `words`. `system`: the simulated system.
    """
    built = kernel.kernel(system.harts, system.kernel)
    run(kernel.make(built.source, built.build, f"M={work}", *words, "modules"), log=work / "build.log")

    m = machine(system=system)
    with state.booted(m).open() as session:
        session.call("mailbox", file=str(work / "moderato.ko"), address=m.mailbox)
        session.check("mailbox > /tmp/moderato.ko; insmod /tmp/moderato.ko")
        session.check("/etc/moderato/up static")
        yield session
