# SPDX-License-Identifier: BSD-2-Clause
"""What other caches or predictions bring; minutes for each cluster."""

EXAMPLES = ("",)


def options(parser):
    pass


def run(options) -> int:
    from ..bench.cpus import cpus

    return cpus()
