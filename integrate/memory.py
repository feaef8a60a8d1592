# SPDX-License-Identifier: BSD-2-Clause
"""Whether the main bus leads to the memory that the CPU sees."""

from .finalized import when_finalized


def require_memory(soc, phy, name):
    """Refuse, when the SoC is finalized, a main bus that leads to other memory than the CPU does.

    LiteX joins CPUs that have memory buses, as VexRiscv-SMP has, to LiteDRAM directly. The main bus
    then comes to it through an L2 cache that the CPU can't flush, or not at all if the CPU has a port
    for DMA.
    """

    def checked(_):
        if not getattr(soc.cpu, "memory_buses", ()) or "main_ram" not in soc.bus.regions:
            return
        if "main_ram" not in soc.bus.slaves:
            raise ValueError(
                f"{name}: the main bus does not lead to main_ram, to which the CPU has a "
                "port for DMA; leave coherent=False out."
            )
        if hasattr(soc, "l2_cache"):
            raise ValueError(
                f"{name}: the main bus comes to main_ram through an L2 cache, and the CPU "
                "past it: neither would see what the other one writes. Give the CPU its "
                "coherent port (--with-coherent-dma), or leave the cache out "
                "(--l2-size 0)."
            )

    when_finalized(phy, checked)
