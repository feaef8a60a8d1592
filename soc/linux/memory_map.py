# SPDX-License-Identifier: BSD-2-Clause
"""Addresses of the boot images in RAM, for simulator, boards, firmware and device tree."""

from dataclasses import dataclass

MIN_MEMORY = 32 << 20
MAX_MEMORY = 1 << 30  # rv32 Linux maps no more
ALIGNMENT = 4 << 20  # of the kernel, for Sv32's large pages
PAGE = 4 << 10
KERNEL_ROOM = 0xEF0000
SBI_SIZE = 512 << 10
MAILBOX_SIZE = 1 << 20


@dataclass(frozen=True)
class MemoryMap:
    """Physical addresses. The device tree reserves the memory of SBI and mailbox."""

    kernel: int
    dtb: int
    sbi: int
    initrd: int
    # The last MAILBOX_SIZE bytes of RAM; see soc/linux/mailbox/mailbox.c. Before the kernel starts, a
    # board's BIOS uses their end for network boot (soc/firmware/netboot).
    mailbox: int


def memory_map(soc: dict) -> MemoryMap:
    """The map for the SoC described by `soc` (the content of soc.json).

    Raises ValueError if Linux cannot boot in this memory. `kernel_room` of `soc["memory"]`: bytes for a
    kernel that is larger than ours.
    """
    base, size = soc["memory"]["base"], soc["memory"]["size"]
    if not MIN_MEMORY <= size <= MAX_MEMORY:
        raise ValueError(
            f"the SoC has {size / (1 << 20):g} MiB of RAM; Linux's memory map needs "
            f"{MIN_MEMORY >> 20} MiB, and rv32 Linux maps {MAX_MEMORY >> 20} MiB at most"
        )
    if size % PAGE:
        raise ValueError(f"the SoC has {size} bytes of RAM; give it whole pages of {PAGE} bytes")
    if base % ALIGNMENT:
        raise ValueError(
            f"the SoC's RAM begins at {base:#x}; rv32 Linux, which starts there, needs a "
            f"multiple of {ALIGNMENT >> 20} MiB"
        )
    images = base + soc["memory"].get("kernel_room", KERNEL_ROOM)
    return MemoryMap(
        kernel=base,
        dtb=images,
        sbi=images + 0x10000,
        initrd=images + 0x110000,
        mailbox=base + size - MAILBOX_SIZE,
    )
