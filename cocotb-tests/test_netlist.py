# SPDX-License-Identifier: BSD-2-Clause
"""Every test of the MAC on its netlist of ECP5 cells."""

import pytest

from mac_cases import *

DUT        = "mac_gmii"
CELLS      = True
pytestmark = pytest.mark.slow
