# SPDX-License-Identifier: BSD-2-Clause
"""Between two MACs: flows that Linux handed over leave for the other one's wire without the CPU."""
