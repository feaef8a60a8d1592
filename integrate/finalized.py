# SPDX-License-Identifier: BSD-2-Clause
"""Checks that need a finalized SoC."""

from types import MethodType


def when_finalized(module, look):
    """Call `look` with the Migen fragment of `module` when its SoC is finalized."""
    get_fragment = module.get_fragment

    def looked(_):
        fragment = get_fragment()
        look(fragment)
        return fragment

    module.get_fragment = MethodType(looked, module)
