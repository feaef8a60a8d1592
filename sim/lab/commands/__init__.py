# SPDX-License-Identifier: BSD-2-Clause
"""The commands of `moderato`, one file each. Its docstring is the beginning of the command's help.

    EXAMPLES          words after its name
    options(parser)   its options
        check(options)    rejects options that exclude each other (UsageError); optional
    run(options)      runs it; returns the exit status: 0, or 1 for a failure

A command imports its implementation only when it runs, so that a wrong one fails at once. Before that,
it imports only the standard library: in a new clone, nothing else is installed.
"""

from moderato.toolchain.project import IS_CLONE

# As `moderato --help` lists them.
LAB = (
    "check",
    "forward",
    "rfc2544",
    "strategies",
    "tcp",
    "receiver",
    "ontime",
    "report",
    "results",
    "replay",
    "shell",
    "live",
    "profile",
    "timeline",
    "wave",
    "compare",
    "bench",
    "cpus",
    "about",
)
DESIGN = ("verilog", "node", "example", "bitstream", "board", "area", "mutate", "export", "series")

# Commands that need no clone. In the wheel, their imports are at the top (test_wheel.py).
INSTALLED = ("verilog", "node", "about")

ALL = (*LAB, *DESIGN)
NAMES = ALL if IS_CLONE else INSTALLED
