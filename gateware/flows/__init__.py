# SPDX-License-Identifier: BSD-2-Clause
"""Flows between two MACs: the hardware forwards those that Linux handed over, without the CPU."""
