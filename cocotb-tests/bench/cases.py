# SPDX-License-Identifier: BSD-2-Clause
"""The cocotb tests of a module, and which of them are slow."""

import re
from types import ModuleType

from cocotb._decorators import Test, TestGenerator


def tests(item) -> list[Test]:
    """Those that `item` of a module makes: one, one per parameter, or none if it is another thing."""
    if isinstance(item, TestGenerator):
        return list(item.generate_tests())
    return [item] if isinstance(item, Test) else []


def is_slow(module: ModuleType, test: Test) -> bool:
    """By pytest's mark of the test or of the module, or by the module's regular expression SLOW."""
    marks = getattr(test.func, "pytestmark", []), getattr(module, "pytestmark", [])
    named = {mark.name for each in marks for mark in (each if isinstance(each, list) else [each])}
    return "slow" in named or bool(re.search(getattr(module, "SLOW", "$^"), test.name))
