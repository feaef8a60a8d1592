# SPDX-License-Identifier: BSD-2-Clause
"""Between two MACs: the hardware forwards flows that Linux handed over, without the CPU."""
