# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in ECP5 cells: its size and speed, and whether the netlist behaves like the RTL."""
