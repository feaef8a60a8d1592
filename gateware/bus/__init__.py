# SPDX-License-Identifier: BSD-2-Clause
"""DMA ports, and what stands between them, or the registers, and the SoC's bus."""
