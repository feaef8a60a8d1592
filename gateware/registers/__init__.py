# SPDX-License-Identifier: BSD-2-Clause
"""The table of registers, and what is made from it."""
