# SPDX-License-Identifier: BSD-2-Clause
"""What the user is told when something is impossible: one line, what and how to mend it."""


class LabError(Exception):
    """The work can't be done; the message is one line."""
    status = 1


class UsageError(LabError):
    """The command itself is wrong."""
    status = 2
