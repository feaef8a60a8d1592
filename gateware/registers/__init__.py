# SPDX-License-Identifier: BSD-2-Clause
"""The table of registers, and the modules made from it."""
