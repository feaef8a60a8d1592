# SPDX-License-Identifier: BSD-2-Clause
"""A MAC that takes frames in pieces does what its rings do with frames in one, and what others send."""

from mac_cases import transmits_bursts, transmits_every_alignment
from test_checksum import *
from test_rings import *

DUT = "mac_gather"
