# SPDX-License-Identifier: BSD-2-Clause
"""`moderato receiver`: a transfer into the guest for each size of the user's buffer."""

from collections.abc import Sequence
from pathlib import Path

from ..run.machine import machine
from ..run.system import System
from ..tcp import command
from ..tcp.transfer import IN, Transfer
from . import tables

SOCKET = 32768       # octets of the socket's buffer; the kernel doubles it to the paper's 64 KiB
LEAST = 1_500_000    # octets of a transfer,
FILLED = 3           # and enough to fill the user's buffer so often
LINK_MBPS = 100      # the paper's


def receiver(variant: str, buffers: Sequence[int], system: System, json: Path | None,
             results: Path | None, scheduler: str | None) -> int:
    """Run the study; prints the paper's tables, returns the exit status.

    Each record is kept in `results` (by default in the build cache), and not made again.
    """
    wanted = [transfer(variant, size, system) for size in buffers]
    return command.show(wanted, lambda: {LINK_MBPS: machine(LINK_MBPS, system)}, results, scheduler,
                        tables.render, json)


def transfer(variant: str, user_buffer: int, system: System) -> Transfer:
    return Transfer(IN, variant, LINK_MBPS, octets=max(LEAST, FILLED * user_buffer),
                    user_buffer=user_buffer, socket=SOCKET, profile=True, kernel=system.kernel.name,
                    harts=system.harts, spread=system.spread)
