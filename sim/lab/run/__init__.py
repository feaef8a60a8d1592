# SPDX-License-Identifier: BSD-2-Clause
"""Runs machines: their parts, their states, simulations one by one or in parallel."""
