# SPDX-License-Identifier: BSD-2-Clause
"""The commands of `moderato`: a file each, whose docstring its help begins with.

    EXAMPLES          words after its name
    options(parser)   its options
    check(options)    refuses options that do not go together, if there are such (UsageError)
    run(options)      runs it; returns the exit status: 0, or 1 for a failure

A command imports what it runs when it runs, so that a wrong one is refused at once.
"""

# As `moderato --help` lists them.
NAMES = ("forward", "rfc2544", "strategies", "tcp", "receiver", "report", "results", "replay",
         "shell", "profile", "timeline", "compare", "bench", "bitstream", "series")
