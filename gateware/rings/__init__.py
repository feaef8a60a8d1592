# SPDX-License-Identifier: BSD-2-Clause
"""Between the FIFOs and memory: descriptors, data, completions; queues of them."""
