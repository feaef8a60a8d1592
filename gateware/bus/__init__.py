# SPDX-License-Identifier: BSD-2-Clause
"""DMA ports, and bridges from the DMA and the registers to the SoC's bus."""
