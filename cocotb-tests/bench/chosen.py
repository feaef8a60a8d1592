# SPDX-License-Identifier: BSD-2-Clause
"""The module in which cocotb finds its tests: those of the simulation that $SIMULATION names.

$CASE_LIMIT: the simulated time in ms after which a test without its own limit fails.
"""

import os

from cocotb._decorators import Test

from bench.simulation import named


def chosen() -> dict[str, Test]:
    tests = named(os.environ["SIMULATION"]).tests
    if limit := os.environ.get("CASE_LIMIT"):
        for test in tests:
            test.timeout = test.timeout or (float(limit), "ms")
    return {test.fullname: test for test in tests}


globals().update(chosen())
