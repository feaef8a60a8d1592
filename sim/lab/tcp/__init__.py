# SPDX-License-Identifier: BSD-2-Clause
"""TCP into the guest, out of it, and through it: goodput, and the cost of a segment."""
