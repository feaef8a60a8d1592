# SPDX-License-Identifier: BSD-2-Clause
"""Between the FIFOs and memory: descriptors, data, completions; queues of them."""

# Descriptors of a ring that may be in progress at once: enough to hide the memory's latency.
IN_FLIGHT = 4
