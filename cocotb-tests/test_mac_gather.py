# SPDX-License-Identifier: BSD-2-Clause
"""A MAC that takes frames in pieces does all that the others do with frames in one."""

from test_checksum import *
from test_mac_pressure import *
from test_mac_sim import *
from test_rings import *

DUT = "mac_gather"
