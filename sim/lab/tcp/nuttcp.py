# SPDX-License-Identifier: BSD-2-Clause
"""nuttcp, an independent program, as the guest's end. It sends: its classic mode needs no control
connection, which only another nuttcp could answer."""

import re

from ..show.errors import LabError

UNIT = 1 << 20  # octets of nuttcp's MB


def command(transfer, address: str, result: str) -> str:
    """Starts nuttcp in the guest in the background, and prints its process."""
    size = min(transfer.user_buffer, transfer.octets)
    socket = f"-w{max(1, transfer.socket >> 10)} " if transfer.socket else ""
    return (
        f"nuttcp -t {socket}-l{size} -n{-(-transfer.octets // size)} {address} > {result} 2>&1 & echo $!"
    )


def served(result: str) -> list[dict]:
    """nuttcp's own report: octets, and goodput in Mb/s, including slow start."""
    words = re.search(r"([\d.]+) MB */ *([\d.]+) sec = *([\d.]+) Mbps", result)
    if not words:
        raise LabError(f"nuttcp failed in the guest: {' '.join(result.split())}")
    return [
        {
            "number": 0,
            "octets": round(float(words[1]) * UNIT),
            "corrupted": 0,
            "first_corrupted": None,
            "goodput_mbps": float(words[3]),
        }
    ]
