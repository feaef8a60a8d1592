# SPDX-License-Identifier: BSD-2-Clause
"""Waveforms: which signals, of which cycles, and how viewers show them."""
