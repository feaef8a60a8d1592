# SPDX-License-Identifier: BSD-2-Clause
"""Waveforms: the choice of signals and cycles, and files for viewers."""
