# SPDX-License-Identifier: BSD-2-Clause
"""Check that the main bus reaches the CPU's memory."""

from .finalized import when_finalized


def require_memory(soc, phy, name):
    """When the SoC is finalized, raise ValueError if the main bus does not reach the CPU's memory.

    LiteX connects CPUs with memory buses, such as VexRiscv-SMP, to LiteDRAM directly. The main bus then
    reaches LiteDRAM through an L2 cache that the CPU can't flush. If the CPU has a port for DMA, the
    main bus does not reach LiteDRAM at all.
    """

    def checked(_):
        if not getattr(soc.cpu, "memory_buses", ()) or "main_ram" not in soc.bus.regions:
            return
        if "main_ram" not in soc.bus.slaves:
            raise ValueError(
                f"{name}: the main bus does not reach main_ram, but the CPU's port for DMA "
                "does; leave coherent=False out."
            )
        if hasattr(soc, "l2_cache"):
            raise ValueError(
                f"{name}: the main bus reaches main_ram through an L2 cache that the CPU "
                "bypasses, so that MAC and CPU would read stale data. Give the CPU its "
                "coherent port (--with-coherent-dma), or leave the cache out (--l2-size 0)."
            )

    when_finalized(phy, checked)
