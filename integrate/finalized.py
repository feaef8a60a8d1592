# SPDX-License-Identifier: BSD-2-Clause
"""What is known of a SoC only when LiteX finalizes it."""

from types import MethodType


def when_finalized(module, look):
    """Call `look` with what `module` consists of (a Migen fragment) when its SoC is finalized."""
    get_fragment = module.get_fragment

    def looked(_):
        fragment = get_fragment()
        look(fragment)
        return fragment

    module.get_fragment = MethodType(looked, module)
