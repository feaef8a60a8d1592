# SPDX-License-Identifier: BSD-2-Clause
"""Speeds: the simulator compared with LiteX's, and CPU configurations compared."""
