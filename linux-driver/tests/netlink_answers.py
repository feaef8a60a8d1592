# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's netlink answers, which a program in the guest requests (groups.c)."""

import struct
import subprocess
from pathlib import Path

from moderato.sim.lab.run.machine import machine
from moderato.sim.lab.run.system import System
from moderato.sim.lab.run.variants import OFFLOAD
from moderato.soc.linux import userspace

HERE = Path(__file__).parent


def attributes(octets: bytes) -> list[tuple[int, bytes]]:
    """Type and payload of each netlink attribute, in order."""
    found = []
    while len(octets) >= 4:
        length, kind = struct.unpack_from("<HH", octets)
        found.append((kind & 0x3FFF, octets[4:length]))
        octets = octets[length + 3 & ~3 :]
    return found


def number(octets: bytes) -> int:
    return int.from_bytes(octets, "little")


def install_groups(guest, tmp_path):
    program = tmp_path / "groups"
    subprocess.run([userspace.toolchain().cc, "-Os", "-o", program, HERE / "groups.c"], check=True)
    guest.call("mailbox", file=str(program), address=machine(system=System(nic=OFFLOAD)).mailbox)
    guest.check("mailbox > /tmp/groups; chmod +x /tmp/groups")


def answer(guest, interface: str, what: str) -> list[tuple[int, bytes]]:
    return attributes(bytes.fromhex(guest.check(f"/tmp/groups {interface} {what}").strip()))
