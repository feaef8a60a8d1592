# SPDX-License-Identifier: BSD-2-Clause
"""Everything in docs/data, docs/tables.md and docs/figures anew (140 minutes)."""

EXAMPLES = ("",)


def options(parser):
    pass


def run(options) -> int:
    from .published import results
    return results()
