# SPDX-License-Identifier: BSD-2-Clause
"""Frame handling that both directions share: CRC and sums, FIFO, records, tags and pauses."""
