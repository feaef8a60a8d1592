# SPDX-License-Identifier: BSD-2-Clause
"""Two results, or the results of two commits, side by side."""
