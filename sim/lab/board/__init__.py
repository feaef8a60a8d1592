# SPDX-License-Identifier: BSD-2-Clause
"""A real board, flashed, booted, checked and measured: `moderato board`."""
