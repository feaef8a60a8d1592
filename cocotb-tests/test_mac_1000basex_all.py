# SPDX-License-Identifier: BSD-2-Clause
"""Every test of the MAC on LiteEth's 1000BASE-X PCS."""

import pytest

from mac_cases import *

DUT        = "mac_1000basex"
pytestmark = pytest.mark.slow
