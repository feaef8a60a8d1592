# SPDX-License-Identifier: BSD-2-Clause
"""Pause frames behind clock gates: in step with a MAC that has none."""

from pause_cases import *

DUT = "mac_gated"
