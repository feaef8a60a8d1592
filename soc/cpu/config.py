# SPDX-License-Identifier: BSD-2-Clause
"""The parameters of the CPU cluster."""

from dataclasses import dataclass

PREDICTIONS = ("none", "static", "dynamic", "target")
LINE_BYTES = 64


@dataclass(frozen=True)
class CpuConfig:
    """Sizes are in bytes and entries. A way is at most a page (4096 bytes), because virtual addresses
    index the caches. Without TLBs (both 0), the CPU has no MMU and no supervisor mode, and can't run
    Linux. An experiment determined the defaults (docs/soc.md)."""

    harts: int = 1
    icache: int = 16384
    icache_ways: int = 4
    dcache: int = 16384
    dcache_ways: int = 4
    itlb: int = 4
    dtlb: int = 4
    prediction: str = "target"  # branch prediction, one of PREDICTIONS
    debug: bool = False  # JTAG debug module: halt, step, breakpoints; can't reset the system

    def __post_init__(self):
        if self.harts not in (1, 2):
            raise ValueError(f"harts = {self.harts}: the cluster has 1 or 2")
        for name in "icache", "dcache":
            size, ways = getattr(self, name), getattr(self, f"{name}_ways")
            if (
                ways < 1
                or size % ways
                or not _power_of_two(size // ways)
                or not LINE_BYTES < size // ways <= 4096
            ):
                raise ValueError(
                    f"{name} = {size} with {ways} ways: a way must be a power of two "
                    f"from {2 * LINE_BYTES} to 4096 bytes"
                )
        for name in "itlb", "dtlb":
            if self.mmu and not _power_of_two(getattr(self, name)):
                raise ValueError(
                    f"{name} = {getattr(self, name)}: must be a power of two, or both TLBs 0"
                )
        if self.prediction not in PREDICTIONS:
            raise ValueError(f"prediction = {self.prediction}: one of {', '.join(PREDICTIONS)}")

    @property
    def mmu(self) -> bool:
        return bool(self.itlb or self.dtlb)

    def describe(self) -> dict:
        """The `cpu` part of the SoC's description."""
        return {
            "harts": self.harts,
            "isa": "rv32ima",
            "icache": self.icache,
            "icache_ways": self.icache_ways,
            "dcache": self.dcache,
            "dcache_ways": self.dcache_ways,
            "itlb": self.itlb,
            "dtlb": self.dtlb,
            "line": LINE_BYTES,
            "prediction": self.prediction,
        }


def _power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0
