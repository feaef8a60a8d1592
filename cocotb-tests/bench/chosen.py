# SPDX-License-Identifier: BSD-2-Clause
"""What cocotb takes its tests from: those of the simulation that $SIMULATION names.

$CASE_LIMIT: the ms of simulated time after which one of them fails, if it has no such limit itself.
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
