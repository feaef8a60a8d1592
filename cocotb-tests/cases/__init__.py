# SPDX-License-Identifier: BSD-2-Clause
"""Tests that several devices have; wires/test_wires.py says which."""
