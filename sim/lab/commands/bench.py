# SPDX-License-Identifier: BSD-2-Clause
"""Speed of the simulation, also against stock litex_sim."""

EXAMPLES = ("",)


def options(parser):
    pass


def run(options) -> int:
    from ..bench.bench import bench

    return bench()
