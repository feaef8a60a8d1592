# SPDX-License-Identifier: BSD-2-Clause
"""Memory on AXI and on Wishbone, which checks the bus's rules."""
