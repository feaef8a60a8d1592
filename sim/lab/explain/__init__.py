# SPDX-License-Identifier: BSD-2-Clause
"""Explains figures: which functions took the cycles, and when."""
