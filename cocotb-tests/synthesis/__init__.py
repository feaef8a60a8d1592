# SPDX-License-Identifier: BSD-2-Clause
"""The MAC in ECP5 cells: how large and how fast, and whether they do what the RTL does."""
