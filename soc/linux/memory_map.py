# SPDX-License-Identifier: BSD-2-Clause
"""Where the images of a boot lie in RAM. Simulator, boards, firmware and device tree read this."""

from dataclasses import dataclass

MIN_MEMORY = 32 << 20
SBI_SIZE = 512 << 10
MAILBOX_SIZE = 1 << 20


@dataclass(frozen=True)
class MemoryMap:
    """Physical addresses. The SBI's and the mailbox's memory are reserved in the device tree."""
    kernel: int
    dtb: int
    sbi: int
    initrd: int
    # The last MAILBOX_SIZE bytes of RAM; see soc/linux/mailbox/mailbox.c. Before there is a kernel,
    # the BIOS of a board uses their end to boot from the network (soc/firmware/netboot).
    mailbox: int


def memory_map(soc: dict) -> MemoryMap:
    """The map for the SoC described by `soc` (the dict that soc.json holds); needs MIN_MEMORY."""
    base, size = soc["memory"]["base"], soc["memory"]["size"]
    if size < MIN_MEMORY:
        raise ValueError(f"the SoC has {size >> 20} MiB of RAM; Linux's memory map needs "
                         f"{MIN_MEMORY >> 20} MiB")
    return MemoryMap(kernel=base, dtb=base + 0xef0000, sbi=base + 0xf00000, initrd=base + 0x1000000,
                     mailbox=base + size - MAILBOX_SIZE)
