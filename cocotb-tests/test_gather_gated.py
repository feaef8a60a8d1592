# SPDX-License-Identifier: BSD-2-Clause
"""Frames in pieces and segments behind clock gates: in step with a MAC that has none."""

from test_gather import *
from test_segment import *

DUT = "mac_gather_gated"
