# SPDX-License-Identifier: BSD-2-Clause
"""Every test of the MAC, on LiteEth's RGMII PHY for ECP5."""

import pytest

from mac_cases import *

DUT        = "mac_rgmii"
pytestmark = pytest.mark.slow
