# SPDX-License-Identifier: BSD-2-Clause
"""Measurements: trials, replays, the speed of the simulation."""
