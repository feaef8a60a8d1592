# SPDX-License-Identifier: BSD-2-Clause
"""What both directions do with a frame: its CRC and sums, its FIFO, its record, tags and pauses."""
