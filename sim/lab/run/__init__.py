# SPDX-License-Identifier: BSD-2-Clause
"""Runs machines: their parts, their states, one simulation or many."""
