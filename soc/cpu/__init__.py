# SPDX-License-Identifier: BSD-2-Clause
"""The CPU: a cluster of VexRiscv harts with coherent DMA, and its LiteX wrapper."""

from .config import CpuConfig
from .core import ModeratoCPU

__all__ = ["CpuConfig", "ModeratoCPU"]
