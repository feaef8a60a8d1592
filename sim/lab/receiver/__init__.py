# SPDX-License-Identifier: BSD-2-Clause
"""What a program that receives over TCP costs, by the size of its buffer: Song et al. (2010)."""
