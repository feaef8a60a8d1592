# SPDX-License-Identifier: BSD-2-Clause
"""The other ends of the MAC's wires, and the devices there."""
