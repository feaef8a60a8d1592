# SPDX-License-Identifier: BSD-2-Clause
"""Memory on AXI and on Wishbone, which holds the MAC to the bus's rules."""
