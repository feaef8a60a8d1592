# SPDX-License-Identifier: BSD-2-Clause
"""The gain of other caches or predictors; minutes for each cluster."""

EXAMPLES = ("",)


def options(parser):
    pass


def run(options) -> int:
    from ..bench.cpus import cpus

    return cpus()
