# SPDX-License-Identifier: BSD-2-Clause
"""Which setting costs the least CPU at the latency that one can accept: all strategies compared."""
