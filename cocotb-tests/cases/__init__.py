# SPDX-License-Identifier: BSD-2-Clause
"""Tests that several devices share; wires/test_wires.py lists the devices."""
