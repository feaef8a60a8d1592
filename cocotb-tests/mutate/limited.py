# SPDX-License-Identifier: BSD-2-Clause
"""The cocotb tests of the module that $MUTATE_MODULE names, none of which may last for ever."""

import os
from importlib import import_module

from cocotb._decorators import Test, TestGenerator

LIMIT = (10, "ms")  # simulated; three times what the longest of the fast tests takes


def limited(module) -> dict:
    """Its tests by name."""
    tests = {name: item for name, item in vars(module).items()
             if isinstance(item, (Test, TestGenerator))}
    for test in tests.values():
        test.timeout = test.timeout or LIMIT
    return tests


globals().update(limited(import_module(os.environ["MUTATE_MODULE"])))
