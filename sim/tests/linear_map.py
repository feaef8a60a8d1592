# SPDX-License-Identifier: BSD-2-Clause
"""The page sizes of rv32 Linux' linear map, read from the page directory in the guest's /dev/mem."""

import re

from moderato.sim.lab.run.session import Session
from moderato.soc.linux.kernel import Kernel
from moderato.soc.linux.memory_map import MAILBOX_SIZE, SBI_SIZE, memory_map

MEGAPAGE = 4 << 20
PAGE_OFFSET = 0xC000_0000
# Bits of an entry (Sv32): valid; readable, writable, executable (a leaf). All leaves have dirty,
# accessed and global set, too.
VALID, LEAF, FLAGS = 0x001, 0x00E, 0x0EF


def entries(guest: Session, kernel: Kernel, soc: dict) -> list[int]:
    """The words of the page directory for all of the SoC's RAM, one for each 4 MiB."""
    table = int(
        re.search(r"^(\w+) \w swapper_pg_dir$", kernel.system_map.read_text(), re.MULTILINE)[1], 16
    )
    first = (table - PAGE_OFFSET + soc["memory"]["base"]) // 4 + PAGE_OFFSET // MEGAPAGE
    count = -(-soc["memory"]["size"] // MEGAPAGE)
    text = guest.check(
        f"dd if=/dev/mem bs=4 skip={first} count={count} 2>/dev/null | hexdump -v -e '1/4 \"%x\\n\"'"
    )
    return [int(word, 16) for word in text.split()]


def megapages(soc: dict) -> list[bool]:
    """Which 4 MiB of RAM can be a single leaf: all of it is memory, and none is reserved from Linux."""
    base, size, where = soc["memory"]["base"], soc["memory"]["size"], memory_map(soc)
    kept = ((where.sbi, SBI_SIZE), (where.mailbox, MAILBOX_SIZE))
    return [
        at + MEGAPAGE <= base + size
        and not any(at < begin + length and begin < at + MEGAPAGE for begin, length in kept)
        for at in range(base, base + size, MEGAPAGE)
    ]


def check(guest: Session, kernel: Kernel, soc: dict, large: bool):
    """Each leaf has the right size (`large` ones wherever they are possible), address and permissions,
    those of PAGE_KERNEL_EXEC."""
    found = entries(guest, kernel, soc)
    expected = megapages(soc) if large else [False] * len(found)
    assert all(word & VALID for word in found), [f"{word:#x}" for word in found]
    assert [bool(word & LEAF) for word in found] == expected
    for number, word in enumerate(found):
        if word & LEAF:
            assert word >> 10 == soc["memory"]["base"] + number * MEGAPAGE >> 12
            assert word & 0x3FF == FLAGS, f"{word:#x}"
