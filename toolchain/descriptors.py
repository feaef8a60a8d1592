# SPDX-License-Identifier: BSD-2-Clause
"""Standard input, output and error of a program whose caller may have closed them."""

import os
import sys


def open_standard():
    """Open closed standard descriptors as /dev/null. Otherwise the next file or socket would get such a
    number, and a child process would read from it or print into it."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # the lowest free number
            os.dup2(opened, number)
            if opened != number:
                os.close(opened)
        if getattr(sys, name) is None:  # Python found it closed
            setattr(sys, name, open(number, mode, closefd=False))
