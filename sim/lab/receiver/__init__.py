# SPDX-License-Identifier: BSD-2-Clause
"""The cost of a program that receives over TCP, by the size of its buffer: Song et al. (2010)."""
