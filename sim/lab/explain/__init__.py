# SPDX-License-Identifier: BSD-2-Clause
"""Explains figures: which functions take the cycles, and when."""
