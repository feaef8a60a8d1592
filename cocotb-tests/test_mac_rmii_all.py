# SPDX-License-Identifier: BSD-2-Clause
"""Every test of the MAC on LiteEth's RMII PHY."""

import pytest

from mac_cases import *

DUT        = "mac_rmii"
pytestmark = pytest.mark.slow
