# SPDX-License-Identifier: BSD-2-Clause
"""Every test of the MAC, behind clock gates."""

import pytest

from test_mac_sim import *

DUT        = "mac_gated"
pytestmark = pytest.mark.slow
