# SPDX-License-Identifier: BSD-2-Clause
"""Errors for the user: one line with the fault and the remedy."""


class LabError(Exception):
    """The work cannot be done. The message is one line."""

    status = 1


class UsageError(LabError):
    """The command itself is wrong."""

    status = 2


def reason(error: BaseException) -> str:
    """The message of another library's exception, without Python's class names."""
    match error:
        case KeyError(args=[name, *_]):
            return f"{name!r} is missing"
        case UnicodeError():
            return "its text is not UTF-8"
        case RecursionError():
            return "its levels are too many"
        case OSError(strerror=str(text)):
            return text
        case BaseExceptionGroup(exceptions=[first, *_]):
            return reason(first)
    return " ".join(str(error).split()) or "it does not say why"
