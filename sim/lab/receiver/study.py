# SPDX-License-Identifier: BSD-2-Clause
"""`moderato receiver`: a transfer into the guest for each size of the user's buffer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..run.store import Where
from ..run.system import System
from ..tcp import transfers
from ..tcp.transfer import IN, Transfer
from . import receiver_tables

SOCKET = 32768  # octets of the socket's buffer; the kernel doubles it to the paper's 64 KiB
LEAST = 1_500_000  # octets of a transfer, at least,
FILLED = 3  # and at least as many as fill the user's buffer this often
LINK_MBPS = 100  # the paper's
VARIED = ("variant", "user_buffer", "octets", "kernel", "harts", "spread", "profile")


@dataclass(frozen=True)
class Request:
    """A transfer into the guest for each size of its program's buffer."""

    variant: str
    buffers: Sequence[int]  # octets
    system: System = System()
    json: Path | None = None
    where: Where = Where()
    patient: bool = False  # accept trials that take hours


def receiver(wanted: Request) -> int:
    """Run the study; prints the paper's tables, returns the exit status: 1 if a transfer is unsound.

    Stored records are not made again.
    """
    every_size = [transfer(wanted.variant, size, wanted.system) for size in wanted.buffers]
    return transfers.tcp(
        transfers.Request(
            every_size,
            wanted.system,
            wanted.json,
            wanted.where,
            wanted.patient,
            "give less of --user-buffer",
        ),
        receiver_tables.render,
    )


def transfer(variant: str, user_buffer: int, system: System) -> Transfer:
    return Transfer(
        IN,
        variant,
        LINK_MBPS,
        octets=max(LEAST, FILLED * user_buffer),
        user_buffer=user_buffer,
        socket=SOCKET,
        profile=True,
        kernel=system.kernel.name,
        harts=system.harts,
        spread=system.spread,
    )


def has(record: dict) -> bool:
    """Whether a transfer belongs to a study, rather than to another profile. Fields that older records
    lack have the usual values."""
    usual = json.loads(json.dumps(transfer("", LEAST, System()).record()))  # as read from a file
    return "profile" in record and all(
        record.get(name, value) == value for name, value in usual.items() if name not in VARIED
    )
