# SPDX-License-Identifier: BSD-2-Clause
"""From the wire to the Rx FIFO: check, filter, choose a queue."""
